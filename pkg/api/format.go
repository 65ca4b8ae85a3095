package api

import (
	"reflect"
	"slices"

	"github.com/prism-results/prism/pkg/apierr"
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
	// XLSX is a workbook of Excel, and Parquet a table of Parquet. Only exports have them.
	XLSX    Format = "xlsx"
	Parquet Format = "parquet"
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

// TextStyle changes how `csv` and `tsv` are written, for the programs that people open them with; the other formats have none of it
// (spec: rows-for-people).
type TextStyle struct {
	// Whether `csv` and `tsv` begin with a byte-order mark, by which Excel knows that a file is UTF-8.
	BOM bool `query:"bom"`
	// What is between the cells of `csv` and `tsv`, where a spreadsheet expects something else than a comma or a tab. With it, cells of
	// both are quoted.
	Delimiter Delimiter `query:"delimiter" empty:"true"`
	// Whether a `'` is put before each text of `csv` and `tsv` that a spreadsheet could take for a formula: one that begins with `=`, `+`,
	// `-`, `@`, a tab or CR. Numbers stay numbers.
	Safe bool `query:"safe"`
}

// Delimiter is what is between the cells of a row.
type Delimiter string

// Values are all delimiters.
func (Delimiter) Values() []string { return []string{",", ";", "|", "\t"} }

// Media is a type of response beside JSON, and its schema, which is kept by hand.
type Media struct{ Type, Schema string }

// The media of streams.
var (
	CSVMedia   = Media{"text/csv", "CsvText"}
	TSVMedia   = Media{"text/tab-separated-values", "TsvText"}
	JSONLMedia = Media{"application/jsonl", "JsonlText"}
	// WorkbookMedia is a workbook of Excel, which is compressed already.
	WorkbookMedia = Media{"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "Octets"}
	// ParquetMedia is a table of Parquet, which is compressed already.
	ParquetMedia = Media{"application/vnd.apache.parquet", "Octets"}
	// EventsMedia is server-sent events.
	EventsMedia = Media{"text/event-stream", "EventStream"}
)

// rowMedia are those of the tabular formats.
func rowMedia() []Media { return []Media{CSVMedia, TSVMedia, JSONLMedia} }

// exportMedia are those of exports and of downloads of runs.
func exportMedia() []Media { return append(rowMedia(), WorkbookMedia, ParquetMedia) }

// RawAnswers asks for the stored answers of each row of `parquet`.
type RawAnswers struct {
	// Whether `parquet` has a column `raw` at its end: a map from the key of a question to its stored answer, with every probability. Other formats have none.
	Raw bool `query:"raw"`
}

// problems are those of a table of Parquet, which cannot be continued, and of a column that no other format has (spec: parquet-whole, parquet-raw).
func (r RawAnswers) problems(parquet, after bool) (all []apierr.Problem) {
	if parquet && after {
		all = append(all, apierr.Problem{Path: "after", Text: "must not be sent with format=parquet"})
	}
	if r.Raw && !parquet {
		all = append(all, apierr.Problem{Path: "raw", Text: "must only be sent with format=parquet"})
	}
	return all
}

// Either is a response that is an A or a B: the format that was asked for says which.
type Either[A, B any] struct{}

// Types are those of A and B.
func (Either[A, B]) Types() []reflect.Type {
	return []reflect.Type{reflect.TypeFor[A](), reflect.TypeFor[B]()}
}
