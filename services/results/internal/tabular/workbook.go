package tabular

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"path"
	"slices"
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

// The readers of OpenDocument spreadsheets in Go (knieriem/odf and its fork, ksev/ods, ods2csv) hold all cells in memory, and none
// is maintained.
const (
	noWorkbook      = "Not an Excel workbook (.xlsx)."
	damagedWorkbook = "The workbook is damaged, or larger than it may be."
	openDocument    = "An OpenDocument spreadsheet (.ods). Save it as .xlsx or as .csv."
	oldWorkbook     = "The workbook is protected with a password or has the old format .xls. Save it as .xlsx without a password."
	binaryWorkbook  = "A binary workbook (.xlsb). Save it as .xlsx or as .csv."
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
	w.strings.growth = growth{part: "The shared texts of the workbook", file: src.Size()}
	defer w.strings.close()
	for _, f := range archive.File {
		w.parts[partName(f.Name)] = f
	}
	switch err := w.open(); {
	case err == nil:
	case w.parts["content.xml"] != nil && w.parts["mimetype"] != nil:
		return Layout{}, &UnusableError{openDocument}
	case w.parts["xl/workbook.bin"] != nil:
		return Layout{}, &UnusableError{binaryWorkbook}
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
