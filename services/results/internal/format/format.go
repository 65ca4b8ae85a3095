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

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
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
	// Plan is the table's Lens prepared for Result.Version. raw does not use it.
	Plan *Plan
}

// Encoder writes results of one table. It reuses memory from row to row, so it can't be used concurrently.
type Encoder interface {
	// Header appends the header row of csv and tsv; the other formats have none.
	Header(b []byte) []byte
	// Row appends one result. If its stored answers can't be parsed, Row returns an error and b unchanged: half a row is
	// never sent.
	Row(b []byte, r Row) ([]byte, error)
}

// NewEncoder creates an encoder. It fails only for an unknown format, which no caller of the service can send.
func NewEncoder(f contract.Format, t Table) (Encoder, error) {
	switch f {
	case contract.JSON:
		return &object{slug: quoted(t.Slug)}, nil
	case contract.Raw:
		return &raw{slug: quoted(t.Slug)}, nil
	case contract.CSV:
		return &separated{table: t, separator: ',', lineEnd: "\r\n", cell: appendCSV}, nil
	case contract.TSV:
		return &separated{table: t, separator: '\t', lineEnd: "\n", cell: appendTSV}, nil
	case contract.JSONL:
		return newLines(t), nil
	}
	return nil, fmt.Errorf("format: unknown format %q", f)
}

// sizeOfOne is more than a usual result takes besides its answers, so that its body is allocated once.
const sizeOfOne = 320

// One is a single result as a response body.
func One(f contract.Format, t Table, r Row) (contract.Response, error) {
	e, err := NewEncoder(f, t)
	if err != nil {
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
	}
	return ""
}
