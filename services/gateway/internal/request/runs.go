package request

import (
	"math"
	"reflect"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
)

// columnsOfFields reads {field: column}.
func columnsOfFields(r *reader, fields item, to reflect.Value) {
	if !r.is(fields, kindObject) {
		return
	}
	columns := api.ColumnsOfFields{}
	for _, f := range r.fields(fields.fields) {
		columns = append(columns, api.FieldColumn{Field: f.Key, Column: f.Value})
	}
	set(to, columns)
}

// columnsOfLabels reads {question: column}.
func columnsOfLabels(r *reader, labels item, to reflect.Value) {
	if !r.is(labels, kindObject) {
		return
	}
	var columns api.ColumnsOfLabels
	r.eachQuestion(labels, func(question string, column item) {
		l := api.FieldColumn{Field: question}
		l.Column, _ = r.str(column, 0, maxField)
		columns = append(columns, l)
	})
	set(to, columns)
}

// uuidMember reads a string that is a UUID.
func (r *reader) uuidMember(it item) prism.UUID {
	s, ok := r.str(it, 0, math.MaxInt)
	id, err := prism.ParseUUID(s)
	if ok && err != nil {
		r.add(it.path, textUUID)
	}
	return id
}
