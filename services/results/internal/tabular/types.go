package tabular

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/prism-results/prism/services/results/internal/format"
)

// Kind is the type of a cell, and of a column whose cells that are not empty all have it (spec: run-rows-xlsx).
type Kind string

// The kinds.
const (
	Text    Kind = ""
	Number  Kind = "number"
	Padded  Kind = "padded" // a number that is shown with leading zeros
	Boolean Kind = "boolean"
	Date    Kind = "date" // a day, or a day and a time of day
	Clock   Kind = "time" // a time of day, or a duration
)

// Look is how a workbook shows the numbers of a cell: the id of a built-in format or the code of another one. The zero Look is none.
type Look struct {
	ID   int    `json:"id,omitzero"`
	Code string `json:"code,omitzero"`
}

// maxCode is how long the code of a number format may be in Excel.
const maxCode = 255

// newLook is the Look of a format with an id and, unless the format is built in, a code.
func newLook(id int, code string) Look {
	switch {
	case code == "" && id < customFormats:
		return Look{ID: id}
	case len(code) > maxCode || strings.EqualFold(code, "General"):
		return Look{}
	}
	return Look{Code: code}
}

// customFormats is the first id of a number format that is not built in.
const customFormats = 164

// typed is a cell of a format whose cells have types. JSON has the rows of a sheet that are not in order.
type typed struct {
	Text string
	Kind Kind `json:",omitzero"`
	Look Look `json:",omitzero"`
	// Exact is the number that a workbook stores, if Text does not tell all of it, as with more than 15 digits.
	Exact string `json:",omitzero"`
}

// exactMark separates the text of a cell from its exact number in the copy. No text has this byte, which is not UTF-8.
const exactMark = "\xff"

// typedOf is a cell whose number a workbook stores as another format than xlsx has the text.
func typedOf(kind Kind, text string) typed {
	if kind != Text && !holds(kind, text) {
		kind = Text
	}
	return typed{Text: text, Kind: kind}
}

// meet gives the column the kind of its cells, of which c is the next one that is not empty, and the first if it says so.
func (c *Column) meet(cell typed, first bool) {
	switch {
	case first:
		c.Kind, c.Look = cell.Kind, cell.Look
	case cell.Kind != c.Kind || c.Kind == Padded && cell.Look != c.Look:
		c.Kind, c.Look = Text, Look{}
	case cell.Look != c.Look:
		c.Look = Look{}
	}
}

// holds tells whether a workbook can store a text of a kind and give back the same. Excel shows 15 digits of a number and
// milliseconds of a time, and has no days before 1900.
func holds(kind Kind, text string) bool {
	number, ok := stored(kind, text)
	if !ok {
		return false
	}
	if kind != Number {
		_, fraction, _ := strings.Cut(text, ".")
		return len(fraction) <= len("000")
	}
	digits := significant(text)
	return len(digits) <= 15 || strings.ContainsAny(text, ".eE") && digits == significant(strconv.FormatFloat(number, 'e', -1, 64))
}

// significant is the digits of a number without the zeros around them.
func significant(number string) string {
	if e := strings.IndexAny(number, "eE"); e >= 0 {
		number = number[:e]
	}
	digits := strings.TrimLeft(strings.Replace(strings.TrimLeft(number, "-+"), ".", "", 1), "0")
	return strings.TrimRight(digits, "0")
}

const secondsOfDay = 24 * 60 * 60

// stored is the number by which a workbook stores a text of a kind other than Text. A workbook counts days from 1900.
func stored(kind Kind, text string) (number float64, ok bool) {
	switch kind {
	case Number, Padded:
		if !format.IsNumber(text) {
			return 0, false
		}
		number, err := strconv.ParseFloat(text, 64)
		return number, err == nil && (number != 0 || significant(text) == "")
	case Boolean:
		if strings.EqualFold(text, "true") {
			return 1, true
		}
		return 0, strings.EqualFold(text, "false")
	case Date:
		at, err := dateOf(text)
		seconds := float64(at.Unix()-time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC).Unix()) + float64(at.Nanosecond())/1e9
		if number = seconds / secondsOfDay; number < firstMarch1900 {
			number-- // Excel's 1900 has a 29 February, day 60
		}
		return number, err == nil && number >= 0 && number < maxSerial
	case Clock:
		hours, rest, _ := strings.Cut(text, ":")
		h, err := strconv.ParseUint(hours, 10, 32)
		minutes, errRest := time.Parse("04:05", rest)
		seconds := float64(h)*3600 + minutes.Sub(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)).Seconds()
		return seconds / secondsOfDay, err == nil && errRest == nil
	case Text:
	}
	return math.NaN(), false
}

// dateOf is the time of a text of the kind Date, which has no time zone.
func dateOf(text string) (time.Time, error) {
	layout := time.DateOnly
	if len(text) > len(layout) {
		layout = "2006-01-02T15:04:05"
	}
	return time.Parse(layout, text)
}

// Moment is the number by which a workbook stores a time from 1900-03-01 on, in UTC.
func Moment(at time.Time) float64 {
	number, _ := stored(Date, at.UTC().Format("2006-01-02T15:04:05.000"))
	return number
}

// firstMarch1900 is a day as Excel counts from 1900.
const firstMarch1900 = 61

// takeExact separates the text of a cell of the copy from its exact number.
func (r *Row) takeExact(column int) {
	text, exact, found := strings.Cut(r.Cells[column], exactMark)
	if !found {
		return
	}
	if r.exact == nil {
		r.exact = map[int]string{}
	}
	r.Cells[column], r.exact[column] = text, exact
}
