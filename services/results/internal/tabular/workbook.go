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
	"slices"
	"strconv"
	"strings"

	"github.com/prism-results/prism/pkg/prism"
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
	openDocument    = "An OpenDocument spreadsheet (.ods). Save it as .xlsx or as .csv."
	oldWorkbook     = "The workbook is protected with a password or has the old format .xls."
)

// partName is the name of a part: some programs write backslashes (spec: file-xlsx).
func partName(name string) string {
	return strings.ToLower(strings.TrimPrefix(strings.ReplaceAll(name, `\`, "/"), "/"))
}

// workbook is what is needed to read the cells of the first sheet. excelize is not used because it reads the whole file into
// memory, and does not tell the type of a cell while it streams rows.
type workbook struct {
	size    int64                // of the file
	parts   map[string]*zip.File // by name in lower case
	wanted  string               // the name or the number of a sheet; "": the first that is not hidden
	name    string               // of the sheet
	sheet   *zip.File
	hidden  int64 // hidden sheets
	others  int64 // other sheets that are not hidden
	strings sharedStrings
	formats []numberFormat // by style
	from    epoch
}

// readBinary reads xlsx or parquet, which may be compressed.
func readBinary(format prism.FileFormat, o Options, src *io.SectionReader, to io.Writer, c *chunker) (layout Layout, err error) {
	s := &source{ctx: c.ctx, file: src, left: -1}
	packed, err := openContainer(s, format == prism.FileXLSX)
	if err != nil {
		return layout, err
	}
	if packed.kind != "" {
		inside, kept, err := packed.section()
		if err != nil {
			return layout, err
		}
		defer kept.close()
		src = inside
	}
	if format == prism.FileParquet {
		layout, err = readParquet(src, to, c)
	} else {
		layout, err = readWorkbook(o, src, to, c)
	}
	if packed.kind != "" {
		layout.note("The file was expanded from %s.", packed.kind)
	}
	return layout, err
}

// readWorkbook reads a sheet of an xlsx file.
func readWorkbook(o Options, src *io.SectionReader, to io.Writer, c *chunker) (Layout, error) {
	s := &source{ctx: c.ctx, file: src, left: -1}
	start := make([]byte, 4)
	if _, err := s.ReadAt(start, 0); s.fault != nil {
		return Layout{}, s.fault
	} else if err == nil && bytes.Equal(start, []byte{0xd0, 0xcf, 0x11, 0xe0}) {
		return Layout{}, &UnusableError{oldWorkbook}
	}
	archive, err := openZip(s)
	if err != nil {
		return Layout{}, s.problem(err, noWorkbook)
	}
	w := &workbook{size: src.Size(), parts: map[string]*zip.File{}, wanted: o.Sheet}
	w.strings.growth = growth{what: "The shared texts of the workbook", file: src.Size()}
	defer w.strings.close()
	for _, f := range archive.File {
		w.parts[partName(f.Name)] = f
	}
	switch err := w.open(); {
	case err == nil:
	case w.parts["content.xml"] != nil && w.parts["mimetype"] != nil:
		return Layout{}, &UnusableError{openDocument}
	default:
		return Layout{}, s.problem(err, noWorkbook)
	}
	copies := &copier{chunker: c, to: to}
	copies.layout.Sheet = w.name
	if err := w.rows(copies, o.HeaderRow); err != nil {
		return copies.layout, s.problem(err, damagedWorkbook)
	}
	if w.hidden > 0 {
		copies.layout.note("%s %s passed over.", counted(w.hidden, "hidden sheet"), was(w.hidden))
	}
	if w.others > 0 {
		copies.layout.note("Of %d sheets that are not hidden, this is one: read the file again with another sheet.", w.others+1)
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
	var sheets []sheet
	err = w.elements(book, partBytes, func(e xml.StartElement, _ *xmlReader) error {
		switch e.Name.Local {
		case "workbookPr":
			if v := attribute(e, "date1904"); v == "1" || v == "true" {
				w.from = epoch1904
			}
		case "sheet":
			r := related[attribute(e, "id")]
			if part := w.parts[partName(r.target)]; part != nil && strings.HasSuffix(r.kind, "/worksheet") {
				state := attribute(e, "state")
				sheets = append(sheets, sheet{attribute(e, "name"), part, state != "" && state != "visible"})
			}
		}
		return nil
	})
	if err == nil {
		err = w.choose(sheets)
	}
	if err != nil {
		return err
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

// sheet is a sheet of a workbook.
type sheet struct {
	name   string
	part   *zip.File
	hidden bool
}

// choose chooses the sheet with the wanted name, or else with this number, or else the first that is not hidden, or else the first.
func (w *workbook) choose(sheets []sheet) error {
	if len(sheets) == 0 {
		return errNoPart
	}
	chosen := max(0, slices.IndexFunc(sheets, func(s sheet) bool { return !s.hidden }))
	if w.wanted != "" {
		chosen = slices.IndexFunc(sheets, func(s sheet) bool { return s.name == w.wanted })
		if number, err := strconv.Atoi(w.wanted); chosen < 0 && err == nil && number > 0 && number <= len(sheets) {
			chosen = number - 1
		}
		if chosen < 0 {
			return &UnusableError{"The workbook has no such sheet."}
		}
	}
	for i, s := range sheets {
		if s.hidden {
			w.hidden++
		} else if i != chosen {
			w.others++
		}
	}
	if sheets[chosen].hidden {
		w.hidden--
	}
	w.sheet, w.name = sheets[chosen].part, sheets[chosen].name
	return nil
}

// relation is a reference from one part to another.
type relation struct{ id, kind, target string }

// relations calls fn for each relation in a part. Targets are relative to the folder.
func (w *workbook) relations(part, folder string, fn func(relation)) error {
	return w.elements(part, partBytes, func(e xml.StartElement, _ *xmlReader) error {
		if e.Name.Local != "Relationship" {
			return nil
		}
		target := strings.ReplaceAll(attribute(e, "Target"), `\`, "/")
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
	file := w.parts[partName(part)]
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
