package tabular

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/prism-results/prism/pkg/prism"
)

// elements calls fn for the start of each element of a part; fn may read on from there.
func (w *workbook) elements(part string, limit int64, fn func(xml.StartElement, *xmlReader) error) error {
	file := w.parts[partName(part)]
	if file == nil {
		return errNoPart
	}
	content, err := file.Open()
	if err != nil {
		return err
	}
	defer content.Close() //nolint:errcheck // it was only read
	x := &xmlReader{from: partText(content), left: limit}
	x.decoder = xml.NewDecoder(x)
	x.decoder.CharsetReader = func(name string, text io.Reader) (io.Reader, error) {
		if !strings.HasPrefix(strings.ToLower(name), "utf-16") {
			return nil, errEncoding
		}
		return text, nil // which is UTF-8 already
	}
	for {
		token, err := x.token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if start, ok := token.(xml.StartElement); ok {
			if err := fn(start, x); err != nil {
				return err
			}
		}
	}
}

var errEncoding = errors.New("a part is neither UTF-8 nor UTF-16")

// partText is the content of a part in UTF-8, which may be in UTF-16: then it begins with a mark, or with < in two bytes.
func partText(content io.Reader) *bufio.Reader {
	r := bufio.NewReaderSize(content, 64<<10)
	start, _ := r.Peek(2) // the next read has the error
	switch string(start) {
	case "\xff\xfe", "<\x00":
		return bufio.NewReaderSize(decoded(prism.UTF16LE, r), 64<<10)
	case "\xfe\xff", "\x00<":
		return bufio.NewReaderSize(decoded(prism.UTF16BE, r), 64<<10)
	}
	return r
}

// xmlReader reads XML in bounded memory: RawToken keeps no open elements, and no token is larger than tokenBytes.
type xmlReader struct {
	decoder *xml.Decoder
	from    *bufio.Reader
	left    int64 // bytes that the part may still have
	budget  int   // bytes that the token may still have
	buffer  []byte
}

// ReadByte implements io.ByteReader.
func (x *xmlReader) ReadByte() (byte, error) {
	if x.budget--; x.budget < 0 {
		return 0, errBudget
	}
	if x.left--; x.left < 0 {
		return 0, errBudget
	}
	return x.from.ReadByte()
}

// Read implements io.Reader; the decoder does not call it.
func (x *xmlReader) Read(p []byte) (int, error) { return x.from.Read(p) }

func (x *xmlReader) token() (xml.Token, error) {
	x.budget = tokenBytes
	return x.decoder.RawToken()
}

// text reads up to the end of the element with the name, and returns the text of its t elements except for phonetic hints. The
// text is valid until the next call.
func (x *xmlReader) text(name string) ([]byte, error) {
	b, inText, hints := x.buffer[:0], false, 0
	for {
		token, err := x.token()
		if err != nil {
			return nil, ended(err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "t":
				inText = hints == 0
			case "rPh":
				hints++
			}
		case xml.EndElement:
			switch t.Name.Local {
			case "t":
				inText = false
			case "rPh":
				hints--
			case name:
				x.buffer = b
				return unescape(b), nil
			}
		case xml.CharData:
			if inText {
				if b = append(b, t...); len(b) > MaxRowBytes {
					return nil, errBudget
				}
			}
		}
	}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// unescape replaces escapes such as _x000D_ by their characters. Halves of surrogate pairs stay as they are.
func unescape(b []byte) []byte {
	if !bytes.Contains(b, []byte("_x")) {
		return b
	}
	text := string(b)
	b = b[:0]
	for {
		i := strings.Index(text, "_x")
		if i < 0 {
			return append(b, text...)
		}
		b, text = append(b, text[:i]...), text[i:]
		length := escapeLength(text)
		code, err := strconv.ParseUint(text[2:max(length-1, 2)], 16, 16)
		if length == 0 || err != nil || code >= 0xd800 && code < 0xe000 {
			b, text = append(b, text[:2]...), text[2:]
			continue
		}
		b, text = append(b, string(rune(code))...), text[length:]
	}
}
