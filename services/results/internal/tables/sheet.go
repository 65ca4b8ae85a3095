package tables

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/format"
	"github.com/prism-results/prism/services/results/internal/tabular"
)

// sheet writes an export as a workbook: the fields, the columns of the Lens, and what is known of the result (spec: export-xlsx).
type sheet struct {
	table  format.Table
	writer tabular.Writer
	parser answerjson.Parser
	texts  []string
	cells  []prism.Cell
	buffer []byte // what the writer writes goes behind it
}

// widest is more characters than a column shows.
const widest = 1000

func newSheet(t format.Table) (*sheet, error) {
	fields := make([]tabular.Column, len(t.Latest.Fields))
	for i, f := range t.Latest.Fields {
		fields[i] = tabular.Column{Name: cmp.Or(f.Label, inWords(f.Key)), Longest: widest}
	}
	columns := withHeadings(nil, slices.Concat(fields, sheetColumns(t.Lens), []tabular.Column{
		{Name: "Result ID", Longest: 36},
		{Name: "Reference", Longest: 20},
		{Name: "Version"},
		{Name: "Status"},
		{Name: "Error", Longest: 40},
		{Name: "Created at (UTC)", Longest: 19, Look: tabular.LookMoment},
	}))
	s := &sheet{table: t}
	var err error
	s.writer, err = tabular.NewWriter(prism.RowsXLSX, api.TextStyle{}, s, columns, nil)
	return s, err
}

// sheetColumns are the columns of a Lens in a workbook.
func sheetColumns(l prism.Lens) []tabular.Column {
	columns := lensColumns(l)
	for i := range columns {
		columns[i].Name = inWords(columns[i].Name)
	}
	return columns
}

// Write implements io.Writer for the writer of the table.
func (s *sheet) Write(p []byte) (int, error) {
	s.buffer = append(s.buffer, p...)
	return len(p), nil
}

// Header appends what the workbook begins with.
func (s *sheet) Header(b []byte) []byte { return append(b, s.buffer...) }

// Row appends what a row adds to the workbook: nothing until the compression has enough.
func (s *sheet) Row(b []byte, r format.Row) (_ []byte, err error) {
	var answers prism.Answers
	if r.Result.Status != prism.Failed {
		if answers, err = s.parser.Parse(r.Result.Answers); err != nil {
			return b, fmt.Errorf("result %s: %w", r.Result.ID, err)
		}
	}
	s.texts = s.texts[:0]
	for i, f := range s.table.Latest.Fields {
		value, _ := format.Field(&r.Result, f.Key, i)
		s.texts = append(s.texts, value)
	}
	ref := ""
	if r.Result.Ref != nil {
		ref = *r.Result.Ref
	}
	s.cells = append(r.Plan.Cells(s.cells[:0], answers), textCell(r.Result.ID.String()), textCell(ref),
		prism.Cell{Kind: prism.NumberCell, Number: float64(r.Result.Version)}, textCell(string(r.Result.Status)), textCell(r.Result.Error),
		prism.Cell{Kind: prism.NumberCell, Number: tabular.Moment(r.Result.CreatedAt)})
	s.buffer = b
	err = s.writer.Row(tabular.Row{Cells: s.texts}, s.cells)
	return s.buffer, err
}

// End appends the end of the workbook.
func (s *sheet) End(b []byte) ([]byte, error) {
	s.buffer = b
	err := s.writer.Close()
	return s.buffer, err
}

// inWords is a name of a program as people read it: topic_probability is "Topic probability". What a person has written, with a space or
// an upper case letter, stays (spec: xlsx-headings).
func inWords(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return r == ' ' || unicode.IsUpper(r) }) {
		return name
	}
	words := strings.Join(strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' }), " ")
	if words == "" {
		return name
	}
	return strings.ToUpper(words[:1]) + words[1:]
}

// withHeadings gives columns whose heading a column before them has, whatever the case, a number: "Status (2)".
func withHeadings(before, columns []tabular.Column) []tabular.Column {
	taken := map[string]bool{}
	for _, c := range before {
		taken[strings.ToLower(c.Name)] = true
	}
	for i := range columns {
		heading := columns[i].Name
		for n := 2; taken[strings.ToLower(heading)]; n++ {
			heading = columns[i].Name + " (" + strconv.Itoa(n) + ")"
		}
		columns[i].Name = heading
		taken[strings.ToLower(heading)] = true
	}
	return columns
}
