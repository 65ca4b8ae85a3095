package api

import (
	"reflect"
	"slices"
)

// Format is how a result is written.
type Format string

// The formats.
const (
	JSON  Format = "json"  // the columns of the Lens
	Raw   Format = "raw"   // the answers with every probability
	CSV   Format = "csv"   // a header row and a row for each result, with labels
	TSV   Format = "tsv"   // the same between tabs
	JSONL Format = "jsonl" // a JSON object on each line, with keys in place of labels
)

// Formats are all formats in the order in which error messages list them.
func Formats() []Format { return []Format{JSON, Raw, CSV, TSV, JSONL} }

// Values are all formats.
func (Format) Values() (all []string) {
	for _, f := range Formats() {
		all = append(all, string(f))
	}
	return all
}

// Tabular reports whether a result in this format is a row, with a column for each field, as in an export.
func (f Format) Tabular() bool { return slices.Contains(Formats()[2:], f) }

// Media is a type of response beside JSON, and its schema, which is kept by hand.
type Media struct{ Type, Schema string }

// The media of streams.
var (
	CSVMedia   = Media{"text/csv", "CsvText"}
	TSVMedia   = Media{"text/tab-separated-values", "TsvText"}
	JSONLMedia = Media{"application/jsonl", "JsonlText"}
	// WorkbookMedia is a workbook of Excel, which is compressed already.
	WorkbookMedia = Media{"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "Octets"}
	// EventsMedia is server-sent events.
	EventsMedia = Media{"text/event-stream", "EventStream"}
)

// rowMedia are those of the tabular formats.
func rowMedia() []Media { return []Media{CSVMedia, TSVMedia, JSONLMedia} }

// Either is a response that is an A or a B: the format that was asked for says which.
type Either[A, B any] struct{}

// Types are those of A and B.
func (Either[A, B]) Types() []reflect.Type {
	return []reflect.Type{reflect.TypeFor[A](), reflect.TypeFor[B]()}
}
