// Package format writes stored results in the five formats.
//
//	format  shape of one result                          answers
//	json    one compact object, no newline               the Lens columns by name; keys, and yes, no or unsure
//	raw     one compact object, no newline               the stored bytes, whatever the Lens
//	csv     header and row, each ending in CRLF          the Lens columns; labels, and Yes, No or Unsure
//	tsv     header and row, each ending in LF            as csv
//	jsonl   one compact object ending in LF              the Lens columns; as json
//
// The rows of csv, tsv and jsonl have the columns result_id, ref, version, status, error, created_at, then the fields of
// the latest version, then the Lens columns (spec: tabular-columns). One result and an export of millions are written by
// the same Encoder.
package format

import (
	"fmt"
	"sync"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/lens"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
)

// Table is what the results of one prism share. Formats raw and json use only Slug, jsonl Latest, csv and tsv Lens and Latest.
type Table struct {
	Slug string
	// Lens is the prism's current one; its column names are unique in a row (lens.Validate).
	Lens prism.Lens
	// Latest is the definition of the latest version: its fields are the columns.
	Latest prism.Definition
}

// Row is one result of the table's prism.
type Row struct {
	Result prism.Result
	// Plan is the table's Lens prepared for Result.Version. An encoder does not use it for raw.
	Plan *Plan
}

// Plan is a Lens prepared for the results of one version. It can be used concurrently.
type Plan struct {
	names   [][]byte // of the columns, as JSON strings with their colon
	columns *lens.Plan
	memory  sync.Pool // of *Encoder, whose memory the next single result reuses
}

// NewPlan prepares a Lens for the results of the version with the definition answered, which gives labels and the values
// of levels, and pinned calibrations.
func NewPlan(l prism.Lens, answered prism.Definition, pinned lens.Pinned) *Plan {
	p := &Plan{names: make([][]byte, len(l.Columns)), columns: lens.Compile(l, answered, pinned)}
	for i, c := range l.Columns {
		p.names[i] = append(strictjson.AppendString(nil, c.Name), ':')
	}
	return p
}

// Cells appends the cells of answers, which are all null without answers.
func (p *Plan) Cells(cells []prism.Cell, stored prism.Answers) []prism.Cell {
	return p.columns.Apply(cells, stored)
}

// Calibrated tells whether a column of the Lens is calibrated.
func (p *Plan) Calibrated() bool { return p.columns.Calibrated() }

// Encoder writes results of one table. It reuses memory from row to row, so it can't be used concurrently.
type Encoder struct {
	format contract.Format
	text   Separated // of csv and tsv
	table  Table
	parser answerjson.Parser
	cells  []prism.Cell
}

// NewEncoder creates an encoder. It fails only for an unknown format, which no API call can ask for.
func NewEncoder(f contract.Format, style api.TextStyle, t Table) (e Encoder, err error) {
	err = e.begin(f, style, t)
	return e, err
}

// begin resets the encoder to a table, and keeps its memory.
func (e *Encoder) begin(f contract.Format, style api.TextStyle, t Table) error {
	if ContentType(f) == "" {
		return fmt.Errorf("format: unknown format %q", f)
	}
	e.format, e.text, e.table = f, NewSeparated(f, style), t
	return nil
}

// Row appends one result. If its stored answers can't be parsed, Row returns an error and b unchanged: half a row is never
// sent. Format raw copies the stored answers, and parses them only because damaged ones would make its JSON invalid.
func (e *Encoder) Row(b []byte, r Row) ([]byte, error) {
	var stored prism.Answers
	if r.Result.Status != prism.Failed {
		var err error
		if stored, err = e.parser.Parse(r.Result.Answers); err != nil {
			return b, fmt.Errorf("format: result %s: %w", r.Result.ID, err)
		}
	}
	if e.format == contract.Raw {
		return e.object(b, &r, nil), nil
	}
	e.cells = r.Plan.columns.Apply(e.cells[:0], stored) // without answers all cells are null
	if e.format == contract.CSV || e.format == contract.TSV {
		return e.separated(b, &r.Result, e.cells), nil
	}
	return e.object(b, &r, e.cells), nil
}

// sizeOfOne is more than a usual result takes besides its answers, so that its body is allocated once.
const sizeOfOne = 320

// Single is a single result as a response body. The row needs a plan whatever the format: its memory is reused.
func Single(f contract.Format, t Table, r Row) (contract.Response, error) {
	e, kept := r.Plan.memory.Get().(*Encoder)
	if !kept {
		e = &Encoder{}
	}
	defer r.Plan.memory.Put(e)
	if err := e.begin(f, api.TextStyle{}, t); err != nil {
		return contract.Response{}, err
	}
	body, err := e.Row(e.Header(make([]byte, 0, sizeOfOne+len(r.Result.Answers))), r)
	if err != nil {
		return contract.Response{}, err
	}
	return contract.Response{ContentType: ContentType(f), Body: body, Failed: r.Result.Status == prism.Failed}, nil
}

// ContentType is the media type of a format, or "" for an unknown format (spec: media-types).
func ContentType(f contract.Format) string {
	switch f {
	case contract.JSON, contract.Raw:
		return "application/json; charset=utf-8"
	case contract.CSV:
		return "text/csv; charset=utf-8"
	case contract.TSV:
		return "text/tab-separated-values; charset=utf-8"
	case contract.JSONL:
		return "application/jsonl; charset=utf-8"
	case api.XLSX, api.Parquet, api.Decisions, api.SystemOne: // no Encoder writes them
	}
	return ""
}

// errorText is nil unless the result failed.
func errorText(r *prism.Result) *string {
	if r.Status != prism.Failed {
		return nil
	}
	return &r.Error
}

// Field finds the value of a field of the latest version, whose index is i. Results store values in their version's order,
// so the value is nearly always at index i.
func Field(r *prism.Result, key string, i int) (string, bool) {
	if i < len(r.Fields) && r.Fields[i].Key == key {
		return r.Fields[i].Value, true
	}
	for _, f := range r.Fields {
		if f.Key == key {
			return f.Value, true
		}
	}
	return "", false
}
