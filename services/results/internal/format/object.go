package format

import (
	"strconv"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
)

// object appends a row of the formats that are JSON. Formats json and raw are {id, ref, prism, version, status, error,
// took_ms, created_at, answers} (spec: format-json, format-raw). Format jsonl is the row of csv as an object on a line of
// its own, in which every column is a member; a column without a value is null (spec: jsonl-rows).
func (e *Encoder) object(b []byte, row *Row, cells []prism.Cell) []byte {
	r, line := &row.Result, e.format == contract.JSONL
	if line {
		b = append(b, `{"result_id":"`...)
	} else {
		b = append(b, `{"id":"`...)
	}
	b, _ = r.ID.AppendText(b) // never fails
	b = appendNullable(append(b, `","ref":`...), r.Ref)
	if !line {
		b = strictjson.AppendString(append(b, `,"prism":`...), e.table.Slug)
	}
	b = strconv.AppendInt(append(b, `,"version":`...), int64(r.Version), 10)
	b = strictjson.AppendString(append(b, `,"status":`...), string(r.Status))
	b = appendNullable(append(b, `,"error":`...), errorText(r))
	if !line {
		b = strconv.AppendInt(append(b, `,"took_ms":`...), r.TookMS, 10)
	}
	b = prism.AppendTime(append(b, `,"created_at":"`...), r.CreatedAt)
	b = append(b, '"')
	if line {
		return append(appendColumns(e.appendFields(b, r), row.Plan, cells), "}\n"...)
	}
	b = append(b, `,"answers":`...)
	switch {
	case r.Status == prism.Failed:
		b = append(b, "null"...)
	case e.format == contract.Raw:
		b = append(b, r.Answers...)
	default:
		b = appendAnswers(b, row.Plan, cells)
	}
	return append(b, '}')
}

// appendAnswers appends the cells as an object.
func appendAnswers(b []byte, p *Plan, cells []prism.Cell) []byte {
	first := len(b)
	b = append(appendColumns(b, p, cells), '}')
	b[first] = '{' // in place of the comma: a Lens has one column or more
	return b
}

// appendFields appends the fields of the latest version as members, with a comma before each.
func (e *Encoder) appendFields(b []byte, r *prism.Result) []byte {
	for i, f := range e.table.Latest.Fields {
		b = append(strictjson.AppendString(append(b, ','), f.Key), ':')
		if value, ok := Field(r, f.Key, i); ok {
			b = strictjson.AppendString(b, value)
		} else {
			b = append(b, "null"...)
		}
	}
	return b
}

// appendColumns appends the cells for programs, with keys instead of labels, as members with a comma before each.
func appendColumns(b []byte, p *Plan, cells []prism.Cell) []byte {
	for i, c := range cells {
		b = AppendValue(append(append(b, ','), p.names[i]...), c)
	}
	return b
}

// AppendValue appends a cell as JSON, with the key of a label.
func AppendValue(b []byte, c prism.Cell) []byte {
	switch c.Kind {
	case prism.NumberCell:
		return prism.AppendNumber(b, c.Number)
	case prism.TextCell:
		return strictjson.AppendString(b, c.Key)
	default: // prism.NullCell
		return append(b, "null"...)
	}
}

func appendNullable(b []byte, s *string) []byte {
	if s == nil {
		return append(b, "null"...)
	}
	return strictjson.AppendString(b, *s)
}
