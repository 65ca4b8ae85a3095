package tabular

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/wlynxg/chardet"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/transform"

	"github.com/prism-results/prism/pkg/prism"
)

// decoders are the encodings other than UTF-8 and UTF-16.
var decoders = map[prism.Encoding]encoding.Encoding{
	prism.Windows1250: charmap.Windows1250, prism.Windows1251: charmap.Windows1251, prism.Windows1252: charmap.Windows1252,
	prism.Windows1253: charmap.Windows1253, prism.Windows1254: charmap.Windows1254, prism.Windows1255: charmap.Windows1255,
	prism.Windows1256: charmap.Windows1256, prism.Windows1257: charmap.Windows1257, prism.Windows1258: charmap.Windows1258,
	prism.Windows874: charmap.Windows874, prism.ISO88592: charmap.ISO8859_2, prism.ISO88595: charmap.ISO8859_5,
	prism.ISO88597: charmap.ISO8859_7, prism.ISO885915: charmap.ISO8859_15, prism.KOI8R: charmap.KOI8R,
	prism.Macintosh: charmap.Macintosh, prism.IBM850: charmap.CodePage850, prism.IBM866: charmap.CodePage866,
	prism.ShiftJIS: japanese.ShiftJIS, prism.EUCJP: japanese.EUCJP, prism.GB18030: simplifiedchinese.GB18030,
	prism.Big5: traditionalchinese.Big5, prism.EUCKR: korean.EUCKR,
}

// detected are names of the detector for encodings that have another name here.
var detected = map[string]prism.Encoding{
	"iso-8859-1": prism.Windows1252, "iso-8859-9": prism.Windows1254, "gb2312": prism.GB18030, "gbk": prism.GB18030, "cp949": prism.EUCKR,
	"johab": prism.EUCKR, "macroman": prism.Macintosh, "tis-620": prism.Windows874, "iso-8859-11": prism.Windows874, "cp932": prism.ShiftJIS,
}

// What the guess of an encoding looks at: bytes around those that are not ASCII, in the first MiB from the first of them on, and how
// sure the detector must be for the guess to count, or to be called sure.
const (
	sampleBytes         = 1 << 20
	sampleKept          = 64 << 10
	sampleLeast         = 1 << 10
	guessLeast, guessOK = 0.5, 0.9
)

// multibyte are encodings of several bytes a character. Few texts of others look like theirs, so that a doubtful guess is worth a try.
var multibyte = []prism.Encoding{prism.ShiftJIS, prism.EUCJP, prism.GB18030, prism.Big5, prism.EUCKR}

// guessEncoding guesses the encoding of a text that is not UTF-8 (spec: file-encoding).
func guessEncoding(text []byte) (e prism.Encoding, sure bool) {
	sample := slices.Clone(text)
	for len(sample) > 0 && len(sample) < sampleLeast { // the detector needs some of each character
		sample = append(sample, sample...)
	}
	guess := chardet.Detect(sample)
	best := named(guess)
	if best == prism.UTF8 {
		return prism.UTF8, guess.Confidence >= guessOK
	}
	var candidates []prism.Encoding
	if guess.Confidence >= guessLeast && decoders[best] != nil {
		candidates = append(candidates, best)
	}
	for _, other := range chardet.DetectAll(sample) {
		if e := named(other); slices.Contains(multibyte, e) && crowded(decode(e, text)) {
			candidates = append(candidates, e)
		}
	}
	candidates = append(candidates, prism.Windows1252, prism.Windows1250, prism.IBM850) // the detector does not know the last two
	i := slices.IndexFunc(candidates, func(c prism.Encoding) bool { return !decodedBadly(c, text) })
	if i < 0 {
		return prism.Windows1252, false
	}
	if e = candidates[i]; decode(e, text) == decode(prism.Windows1252, text) {
		e = prism.Windows1252
	}
	return e, candidates[i] == best && guess.Confidence >= guessOK
}

// named is the encoding that the detector names.
func named(guess chardet.Result) prism.Encoding {
	name := strings.ToLower(guess.Encoding)
	return cmp.Or(detected[name], prism.Encoding(name))
}

func decode(e prism.Encoding, text []byte) string {
	decoded, _ := decoders[e].NewDecoder().Bytes(text) // what is no text is U+FFFD
	return string(decoded)
}

// crowded reports whether most characters that are not ASCII follow another one, as in languages of many characters.
func crowded(text string) bool {
	others, following := 0, 0
	last := rune(0)
	for _, r := range text {
		if r >= utf8.RuneSelf {
			others++
			if last >= utf8.RuneSelf {
				following++
			}
		}
		last = r
	}
	return 2*following > others
}

// decodedBadly reports whether an encoding lacks more than a few of the bytes of a text that are not ASCII.
func decodedBadly(e prism.Encoding, text []byte) bool {
	lacking, others := 0, 0
	for _, r := range decode(e, text) {
		if r >= utf8.RuneSelf {
			others++
		}
		if r == utf8.RuneError {
			lacking++
		}
	}
	return lacking*20 > others
}

// sampleText is the lines around bytes that are not ASCII.
func sampleText(r io.Reader) ([]byte, error) {
	w, err := newWindow(r)
	if err != nil {
		return nil, err
	}
	var sample []byte
	for seen := 0; seen < sampleBytes && len(sample) < sampleKept; {
		if len(w.unread) == 0 && w.ended {
			break
		}
		n := bytes.IndexByte(w.unread, '\n') + 1
		if n == 0 {
			if !w.full() {
				if err := w.fill(); err != nil {
					return nil, err
				}
				continue
			}
			n = len(w.unread)
		}
		line := w.unread[:n]
		if slices.ContainsFunc(line, func(b byte) bool { return b >= utf8.RuneSelf }) {
			sample = append(sample, line[:min(n, sampleKept)]...)
		}
		if len(sample) > 0 {
			seen += n
		}
		w.skip(n)
	}
	return sample, nil
}

// wideEncoding is UTF-16 if a file begins as it does, with a mark or with the zeros of ASCII in every other byte: "" if it does not.
func wideEncoding(start []byte) (prism.Encoding, error) {
	switch {
	case bytes.HasPrefix(start, []byte{0xff, 0xfe, 0, 0}), bytes.HasPrefix(start, []byte{0, 0, 0xfe, 0xff}):
		return "", &UnusableError{"The file is in UTF-32. Save it as UTF-8."}
	case bytes.HasPrefix(start, []byte{0xff, 0xfe}):
		return prism.UTF16LE, nil
	case bytes.HasPrefix(start, []byte{0xfe, 0xff}):
		return prism.UTF16BE, nil
	}
	var zeros, ends [2]int // in each half of two bytes: zeros, and those of them beside the end of a line
	lines := 0
	for i := 0; i+1 < len(start); i += 2 {
		for half := range 2 {
			b := start[i+1-half]
			end := b == '\n' || b == '\r'
			if end {
				lines++
			}
			if start[i+half] == 0 {
				zeros[half]++
				if end {
					ends[half]++
				}
			}
		}
	}
	// In UTF-16 nearly every end of a line has a zero: some bytes of other characters look like an end. In UTF-8 a NUL can be at one.
	wide := func(half int) bool {
		return len(start) > 3 && zeros[half] > 0 && zeros[1-half] == 0 && (3*ends[half] > 2*lines || zeros[half] == len(start)/2)
	}
	switch {
	case wide(1):
		return prism.UTF16LE, nil
	case wide(0):
		return prism.UTF16BE, nil
	}
	return "", nil
}

// decoded is a text as UTF-8. What the encoding lacks are bytes that UTF-8 lacks, so that its row is bad.
func decoded(e prism.Encoding, from io.Reader) io.Reader {
	switch e {
	case prism.UTF8, "":
		return from
	case prism.UTF16LE:
		return transform.NewReader(from, &wideDecoder{order: binary.LittleEndian})
	case prism.UTF16BE:
		return transform.NewReader(from, &wideDecoder{order: binary.BigEndian})
	default:
		return transform.NewReader(from, badBytes{decoders[e].NewDecoder()})
	}
}

// noText stands for what an encoding lacks. It has the length of U+FFFD.
const noText = "\xff\xff\xff"

// badBytes replaces U+FFFD, which decoders write for what is no text.
type badBytes struct{ transform.Transformer }

// Transform implements transform.Transformer.
func (b badBytes) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	nDst, nSrc, err = b.Transformer.Transform(dst, src, atEOF)
	for written := dst[:nDst]; ; {
		i := bytes.Index(written, []byte("\ufffd"))
		if i < 0 {
			return nDst, nSrc, err
		}
		written = written[i+copy(written[i:], noText):]
	}
}

// wideDecoder decodes UTF-16, in which U+FFFD is a character like others.
type wideDecoder struct {
	transform.NopResetter
	order binary.ByteOrder
}

// Transform implements transform.Transformer.
func (w *wideDecoder) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	for nSrc < len(src) {
		rest := src[nSrc:]
		if len(dst)-nDst < utf8.UTFMax {
			return nDst, nSrc, transform.ErrShortDst
		}
		if len(rest) < 2 {
			if !atEOF {
				return nDst, nSrc, transform.ErrShortSrc
			}
			return nDst + copy(dst[nDst:], noText), len(src), nil
		}
		r, n := rune(w.order.Uint16(rest)), 2
		if utf16.IsSurrogate(r) {
			if len(rest) < 4 && !atEOF {
				return nDst, nSrc, transform.ErrShortSrc
			}
			pair := rune(utf8.RuneError)
			if len(rest) >= 4 {
				pair = utf16.DecodeRune(r, rune(w.order.Uint16(rest[2:])))
			}
			if pair == utf8.RuneError {
				nDst, nSrc = nDst+copy(dst[nDst:], noText), nSrc+2
				continue
			}
			r, n = pair, 4
		}
		nDst, nSrc = nDst+utf8.EncodeRune(dst[nDst:], r), nSrc+n
	}
	return nDst, nSrc, nil
}

// errOtherEncoding: the text is not in the encoding in which it is read.
var errOtherEncoding = errors.New("tabular: the text has another encoding")
