package tabular

import (
	"errors"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	parquetformat "github.com/parquet-go/parquet-go/format"

	"github.com/prism-results/prism/pkg/strictjson"
)

// parquetField is a field of a Parquet schema. The levels of a value tell where it belongs: a field is there if the definition
// level of the next value below is at least the field's, and a list goes on if the repetition level of that value is the list's.
type parquetField struct {
	name       string
	children   []*parquetField
	leaf       int // number of the first leaf below
	leaves     int
	definition int // level from which on the field is there
	repetition int
	optional   bool
	repeated   bool
	list, dict bool  // annotated as LIST, MAP
	width      int64 // bytes that a value of a leaf has at least in memory
	longest    int64 // values of a leaf in the row that has the most
	value      parquetValue
}

// maxDepth bounds the nesting of fields.
const maxDepth = 32

// parquetFields returns the fields of a schema, whose elements come depth first, and all of its leaves.
func parquetFields(schema []parquetformat.SchemaElement) (fields, leaves []*parquetField, err error) {
	next := 0
	var build func(depth, definition, repetition int) (*parquetField, error)
	build = func(depth, definition, repetition int) (*parquetField, error) {
		if next >= len(schema) || depth > maxDepth {
			return nil, errors.New("not a schema")
		}
		e := &schema[next]
		next++
		f := &parquetField{name: e.Name, leaf: len(leaves), value: newParquetValue(e)}
		if depth > 0 && e.RepetitionType.Valid {
			f.optional = e.RepetitionType.V == parquetformat.Optional
			f.repeated = e.RepetitionType.V == parquetformat.Repeated
		}
		if f.optional || f.repeated {
			definition++
		}
		if f.repeated {
			repetition++
		}
		f.definition, f.repetition = definition, repetition
		switch e.LogicalType.Value.(type) {
		case *parquetformat.ListType:
			f.list = true
		case *parquetformat.MapType:
			f.dict = true
		case nil:
			f.list = e.ConvertedType.Valid && e.ConvertedType.V == deprecated.List
			f.dict = e.ConvertedType.Valid && e.ConvertedType.V == deprecated.Map
		}
		if e.Type.Valid {
			f.width = parquetWidth(e)
			leaves = append(leaves, f)
		} else {
			for range e.NumChildren.V {
				child, err := build(depth+1, definition, repetition)
				if err != nil {
					return nil, err
				}
				f.children = append(f.children, child)
			}
			if len(leaves) == f.leaf {
				return nil, errors.New("a group has no fields")
			}
		}
		f.leaves = len(leaves) - f.leaf
		return f, nil
	}
	root, err := build(0, 0, 0)
	if err != nil {
		return nil, nil, err
	}
	return root.children, leaves, nil
}

// parquetWidth is how many bytes a value of a leaf has in memory at least; a text has its offset.
func parquetWidth(e *parquetformat.SchemaElement) int64 {
	switch e.Type.V {
	case parquetformat.Boolean:
		return 1
	case parquetformat.Int64, parquetformat.Double:
		return 8
	case parquetformat.Int96:
		return 12
	case parquetformat.FixedLenByteArray:
		return max(1, int64(e.TypeLength.V))
	default:
		return 4
	}
}

// append appends the next value of a field from the columns, as the text of a cell or as JSON. Null is an empty text, or null in
// JSON.
func (f *parquetField) append(b []byte, columns [][]parquet.Value, asJSON bool) []byte {
	if !f.repeated {
		return f.one(b, columns, asJSON)
	}
	return f.all(b, columns, "[]", f.one)
}

// all appends all values of a repeated field between brackets, each as one appends it.
func (f *parquetField) all(
	b []byte, columns [][]parquet.Value, brackets string, one func(b []byte, columns [][]parquet.Value, asJSON bool) []byte,
) []byte {
	b = append(b, brackets[0])
	if f.absent(columns) {
		f.skip(columns)
		return append(b, brackets[1])
	}
	for first := true; first || len(columns[f.leaf]) > 0 && columns[f.leaf][0].RepetitionLevel() == f.repetition; first = false {
		if !first {
			b = append(b, ',')
		}
		b = one(b, columns, true)
	}
	return append(b, brackets[1])
}

// absent tells whether the next value says that the field is not there.
func (f *parquetField) absent(columns [][]parquet.Value) bool {
	return len(columns[f.leaf]) == 0 || columns[f.leaf][0].DefinitionLevel() < f.definition
}

// skip consumes one value of each leaf below the field.
func (f *parquetField) skip(columns [][]parquet.Value) {
	for i := f.leaf; i < f.leaf+f.leaves; i++ {
		if len(columns[i]) > 0 {
			columns[i] = columns[i][1:]
		}
	}
}

// one appends one value of the field, as if it were not repeated.
func (f *parquetField) one(b []byte, columns [][]parquet.Value, asJSON bool) []byte {
	if f.absent(columns) {
		f.skip(columns)
		if asJSON {
			b = append(b, "null"...)
		}
		return b
	}
	switch {
	case f.children == nil:
		v := columns[f.leaf][0]
		f.skip(columns)
		if !asJSON {
			return f.value.text(b, v)
		}
		return f.value.json(b, v)
	case f.list && len(f.children) == 1 && f.children[0].repeated:
		return f.children[0].elements(b, columns)
	case f.dict && len(f.children) == 1 && f.children[0].repeated && len(f.children[0].children) == 2:
		return f.children[0].pairs(b, columns)
	}
	b = append(b, '{')
	for i, c := range f.children {
		if i > 0 {
			b = append(b, ',')
		}
		b = c.append(append(strictjson.AppendString(b, c.name), ':'), columns, true)
	}
	return append(b, '}')
}

// elements appends the repeated field of a list. Its only child is the element, except in older files, where the field itself is
// the element.
func (f *parquetField) elements(b []byte, columns [][]parquet.Value) []byte {
	if len(f.children) != 1 || f.name == "array" || strings.HasSuffix(f.name, "_tuple") {
		return f.append(b, columns, true)
	}
	return f.all(b, columns, "[]", f.children[0].append)
}

// pairs appends the repeated field of a map, as an object whose keys are texts.
func (f *parquetField) pairs(b []byte, columns [][]parquet.Value) []byte {
	return f.all(b, columns, "{}", func(b []byte, columns [][]parquet.Value, asJSON bool) []byte {
		key := f.children[0].append(nil, columns, false)
		b = append(strictjson.AppendString(b, string(key)), ':')
		return f.children[1].append(b, columns, asJSON)
	})
}
