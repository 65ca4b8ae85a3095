package tabular

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"io"
	"path"
	"strconv"
	"strings"
)

// What a workbook may take of memory and time, whatever its compressed parts say (spec: file-xlsx).
const (
	directoryBytes = 16 << 20 // of the zip file
	partBytes      = 16 << 20 // uncompressed, of each part but the sheet and its strings
	sheetBytes     = 8 << 30  // uncompressed, of the sheet and of its strings
	tokenBytes     = 2 << 20  // of XML
)

const (
	noWorkbook      = "Not an Excel workbook (.xlsx)."
	damagedWorkbook = "The workbook is damaged, or larger than it may be."
	oldWorkbook     = "The workbook is protected with a password or has the old format .xls."
)

// workbook is what is needed to read the cells of the first sheet. excelize is not used because it reads the whole file into
// memory, and does not tell the type of a cell while it streams rows.
type workbook struct {
	size    int64                // of the file
	parts   map[string]*zip.File // by name in lower case
	sheet   *zip.File
	strings sharedStrings
	formats []numberFormat // by style
	from    epoch
}

// readWorkbook reads the first sheet of an xlsx file.
func readWorkbook(src *io.SectionReader, to io.Writer, c *chunker) (Layout, error) {
	c.place = "Row"
	s := &source{ctx: c.ctx, file: src, left: directoryBytes}
	start := make([]byte, 4)
	if _, err := s.ReadAt(start, 0); s.fault != nil {
		return Layout{}, s.fault
	} else if err == nil && bytes.Equal(start, []byte{0xd0, 0xcf, 0x11, 0xe0}) {
		return Layout{}, &UnusableError{oldWorkbook}
	}
	archive, err := zip.NewReader(s, src.Size())
	if err != nil {
		return Layout{}, s.problem(err, noWorkbook)
	}
	s.left = -1
	w := &workbook{size: src.Size(), parts: map[string]*zip.File{}}
	w.strings.growth = growth{what: "The shared texts of the workbook", file: src.Size()}
	defer w.strings.close()
	for _, f := range archive.File {
		w.parts[strings.ToLower(strings.TrimPrefix(f.Name, "/"))] = f
	}
	if err := w.open(); err != nil {
		return Layout{}, s.problem(err, noWorkbook)
	}
	copies := &copier{chunker: c, to: to}
	if err := w.rows(copies); err != nil {
		return Layout{}, s.problem(err, damagedWorkbook)
	}
	return copies.layout, nil
}

var errNoPart = errors.New("a part of the workbook is missing")

// open finds the first sheet that is not hidden, or else the first hidden one, and reads what its cells refer to.
func (w *workbook) open() error {
	book := ""
	err := w.relations("_rels/.rels", "", func(r relation) {
		if strings.HasSuffix(r.kind, "/officeDocument") {
			book = r.target
		}
	})
	if err != nil {
		return err
	}
	related, first := map[string]relation{}, map[string]relation{} // by id; by the end of the kind
	folder, name := path.Split(book)
	err = w.relations(folder+"_rels/"+name+".rels", folder, func(r relation) {
		related[r.id] = r
		if kind := path.Base(r.kind); first[kind].kind == "" {
			first[kind] = r
		}
	})
	if err != nil {
		return err
	}
	var hidden *zip.File
	err = w.elements(book, partBytes, func(e xml.StartElement, _ *xmlReader) error {
		switch e.Name.Local {
		case "workbookPr":
			if v := attribute(e, "date1904"); v == "1" || v == "true" {
				w.from = epoch1904
			}
		case "sheet":
			r := related[attribute(e, "id")]
			if part := w.parts[strings.ToLower(r.target)]; part == nil || !strings.HasSuffix(r.kind, "/worksheet") {
				return nil
			} else if attribute(e, "state") != "" && attribute(e, "state") != "visible" {
				hidden = firstOf(hidden, part)
			} else {
				w.sheet = firstOf(w.sheet, part)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if w.sheet = firstOf(w.sheet, hidden); w.sheet == nil {
		return errNoPart
	}
	// A workbook has one part of each kind: reading the parts of a thousand relations would take their time and their room.
	if r, ok := first["styles"]; ok {
		if err := w.readStyles(r.target); err != nil {
			return err
		}
	}
	if r, ok := first["sharedStrings"]; ok {
		return w.readStrings(r.target)
	}
	return nil
}

func firstOf(a, b *zip.File) *zip.File {
	if a != nil {
		return a
	}
	return b
}

// relation is a reference from one part to another.
type relation struct{ id, kind, target string }

// relations calls fn for each relation in a part. Targets are relative to the folder.
func (w *workbook) relations(part, folder string, fn func(relation)) error {
	return w.elements(part, partBytes, func(e xml.StartElement, _ *xmlReader) error {
		if e.Name.Local != "Relationship" {
			return nil
		}
		target := attribute(e, "Target")
		if strings.HasPrefix(target, "/") {
			target = target[1:]
		} else {
			target = path.Join(folder, target)
		}
		fn(relation{id: attribute(e, "Id"), kind: attribute(e, "Type"), target: target})
		return nil
	})
}

// readStyles finds how the numbers of each style are shown.
func (w *workbook) readStyles(part string) error {
	custom := map[int]numberFormat{}
	inCells := false
	return w.elements(part, partBytes, func(e xml.StartElement, _ *xmlReader) error {
		switch e.Name.Local {
		case "numFmt":
			if id, err := strconv.Atoi(attribute(e, "numFmtId")); err == nil {
				code := attribute(e, "formatCode")
				f := parseFormat(code)
				f.look = newLook(id, code)
				custom[id] = f
			}
		case "cellXfs":
			inCells = true
		case "cellStyles", "dxfs":
			inCells = false
		case "xf":
			if inCells {
				id, _ := strconv.Atoi(attribute(e, "numFmtId"))
				f, ok := custom[id]
				if !ok {
					f = builtIn(id)
					f.look = newLook(id, "")
				}
				w.formats = append(w.formats, f)
			}
		}
		return nil
	})
}

// sharedStrings are the texts to which cells refer by number.
type sharedStrings struct {
	growth
	texts, ends spill // ends has endBytes for each text: where it ends
}

func (s *sharedStrings) close() {
	s.texts.close()
	s.ends.close()
}

func (s *sharedStrings) add(text []byte) error {
	if err := s.growth.add(int64(len(text)) + endBytes); err != nil {
		return err
	}
	if _, err := s.texts.Write(text); err != nil {
		return err
	}
	_, err := s.ends.Write(binary.BigEndian.AppendUint64(nil, uint64(s.texts.size))) //nolint:gosec // a size is not negative
	return err
}

// endBytes is the size of the end of a text.
const endBytes = 8

// at returns the text with a number. The first one has the number 0.
func (s *sharedStrings) at(number int64) (string, error) {
	if number < 0 || number >= s.ends.size/8 {
		return "", errNoPart
	}
	var places [16]byte // where the text begins and ends
	from := places[:]
	if number == 0 {
		from = places[8:]
	}
	if _, err := s.ends.ReadAt(from, max(number-1, 0)*8); err != nil {
		return "", ownError{err}
	}
	begin, end := int64(binary.BigEndian.Uint64(places[:8])), int64(binary.BigEndian.Uint64(places[8:])) //nolint:gosec // below 2^63
	text := make([]byte, end-begin)
	if _, err := s.texts.ReadAt(text, begin); err != nil {
		return "", ownError{err}
	}
	return string(text), nil
}

// readStrings reads the shared strings.
func (w *workbook) readStrings(part string) error {
	return w.elements(part, sheetBytes, func(e xml.StartElement, x *xmlReader) error {
		if e.Name.Local != "si" {
			return nil
		}
		text, err := x.text(e.Name.Local)
		if err != nil {
			return err
		}
		if err := w.strings.add(text); err != nil {
			return ownError{err}
		}
		return nil
	})
}

// elements calls fn for the start of each element of a part; fn may read on from there.
func (w *workbook) elements(part string, most int64, fn func(xml.StartElement, *xmlReader) error) error {
	file := w.parts[strings.ToLower(part)]
	if file == nil {
		return errNoPart
	}
	content, err := file.Open()
	if err != nil {
		return err
	}
	defer content.Close() //nolint:errcheck // it was only read
	x := &xmlReader{from: bufio.NewReaderSize(content, 64<<10), left: most}
	x.decoder = xml.NewDecoder(x)
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
