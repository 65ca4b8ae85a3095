package format

import (
	"strconv"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
)

// lines is format jsonl: the row of csv as an object on a line of its own. Every column is a member of every line; a
// column without a value is null (spec: jsonl-rows).
type lines struct {
	fields  []prism.Field // of the latest version
	keys    [][]byte      // of the fields, as JSON strings with their colon
	answers answers
}

func newLines(t Table) *lines {
	l := &lines{fields: t.Latest.Fields}
	for _, f := range t.Latest.Fields {
		l.keys = append(l.keys, append(quoted(f.Key), ':'))
	}
	return l
}

func (*lines) Header(b []byte) []byte { return b }

func (l *lines) Row(b []byte, row Row) ([]byte, error) {
	cells, err := l.answers.of(row)
	if err != nil {
		return b, err
	}
	r := &row.Result
	b = appendID(append(b, `{"result_id":`...), r)
	b = appendNullable(append(b, `,"ref":`...), r.Ref)
	b = strconv.AppendInt(append(b, `,"version":`...), int64(r.Version), 10)
	b = strictjson.AppendString(append(b, `,"status":`...), string(r.Status))
	b = appendNullable(append(b, `,"error":`...), errorText(r))
	b = appendTime(append(b, `,"created_at":`...), r)
	for i, f := range l.fields {
		b = append(append(b, ','), l.keys[i]...)
		if value, ok := field(r, f.Key, i); ok {
			b = strictjson.AppendString(b, value)
		} else {
			b = append(b, "null"...)
		}
	}
	for i, c := range cells {
		b = append(append(b, ','), row.Plan.names[i]...)
		b = appendCell(b, c)
	}
	return append(b, "}\n"...), nil
}
