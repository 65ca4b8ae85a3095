package tabular

import (
	"fmt"
	"strings"

	"github.com/prism-results/prism/pkg/strictjson"
)

// parquetField is a field of a Parquet schema. The levels of a value tell where it belongs: a field is there if the definition
// level of the next value below is at least the field's, and a list goes on if the repetition level of that value is the list's.
type parquetField struct {
	name       string
	children   []*parquetField
	leaf       int // number of the first leaf below, and of the leaf itself
	leaves     int
	definition int // level from which on the field is there
	repetition int
	repeated   bool
	list, dict bool  // annotated as LIST, MAP
	length     int64 // of the values of a leaf that all have the same
	value      parquetValue
}

// The bounds of a schema (spec: file-parquet).
const (
	maxDepth    = 32
	maxElements = 10_000
	maxNames    = 1 << 20 // bytes of all names
)

const errSchema = damage("the schema is no tree of fields")

// readSchema reads the elements of a schema, which come depth first. It returns the fields and all leaves.
func readSchema(t *thriftReader, kind thriftKind) (fields, leaves []*parquetField, err error) {
	var elements []schemaElement
	names := 0
	t.elements(kind, func(kind thriftKind) {
		e := readSchemaElement(t, kind)
		if names += len(e.name); names > maxNames || len(elements) == maxElements {
			t.fail(&UnusableError{"The schema of the Parquet file has more than 10000 fields, or names of more than 1 MiB."})
		}
		elements = append(elements, e)
	})
	if t.err != nil {
		return nil, nil, t.err
	}
	s := schemaBuilder{rest: elements}
	root, err := s.field(0, 0, 0)
	if err != nil {
		return nil, nil, err
	}
	if len(s.rest) > 0 {
		return nil, nil, errSchema
	}
	return root.children, s.leaves, nil
}

// schemaBuilder makes a tree of the elements of a schema.
type schemaBuilder struct {
	rest   []schemaElement
	leaves []*parquetField
}

// field builds the next field, which is below so many others and levels.
func (s *schemaBuilder) field(depth, definition, repetition int) (*parquetField, error) {
	if len(s.rest) == 0 || depth == 0 && s.rest[0].leaf {
		return nil, errSchema
	}
	if depth > maxDepth {
		return nil, &UnusableError{"The schema of the Parquet file has more than 32 levels."}
	}
	e := s.rest[0]
	s.rest = s.rest[1:]
	f := &parquetField{name: e.name, leaf: len(s.leaves), list: e.list, dict: e.dict, value: e.value}
	if depth > 0 {
		f.repeated = e.repetition == repetitionRepeated
		if f.repeated || e.repetition == repetitionOptional {
			definition++
		}
		if f.repeated {
			repetition++
		}
	}
	f.definition, f.repetition = definition, repetition
	if e.leaf {
		if e.physical < physicalBoolean || e.physical > physicalFixed || e.length < 0 {
			return nil, &UnusableError{fmt.Sprintf("A field of the Parquet file has the type %d, which Parquet does not have.", e.physical)}
		}
		f.length = e.length
		s.leaves = append(s.leaves, f)
	}
	for range e.children {
		if e.leaf {
			return nil, errSchema
		}
		child, err := s.field(depth+1, definition, repetition)
		if err != nil {
			return nil, err
		}
		f.children = append(f.children, child)
	}
	if f.leaves = len(s.leaves) - f.leaf; f.leaves == 0 {
		return nil, errSchema
	}
	return f, nil
}

// append appends the next value of a field from the row, as the text of a cell or as JSON. Null is an empty text, or null in
// JSON.
func (f *parquetField) append(b []byte, row *parquetRow, asJSON bool) []byte {
	if !f.repeated {
		return f.appendValue(b, row, asJSON)
	}
	return f.all(b, row, "[]", f.appendValue)
}

// kind is the kind of the field's cells.
func (f *parquetField) kind() Kind {
	if f.repeated || f.children != nil {
		return Text
	}
	return f.value.cellKind()
}

// all appends all values of a repeated field between brackets, each as appendValue appends it.
func (f *parquetField) all(
	b []byte, row *parquetRow, brackets string, appendValue func(b []byte, row *parquetRow, asJSON bool) []byte,
) []byte {
	b = append(b, brackets[0])
	if f.absent(row) {
		f.skip(row)
		return append(b, brackets[1])
	}
	for first := true; first || row.has(f.leaf) && row.columns[f.leaf].repetition == f.repetition; first = false {
		if !first {
			b = append(b, ',')
		}
		if b = appendValue(b, row, true); len(b) > MaxRowBytes {
			row.fail(errRowTooLarge)
		}
	}
	return append(b, brackets[1])
}

// absent tells whether the next value says that the field is not there.
func (f *parquetField) absent(row *parquetRow) bool {
	return !row.has(f.leaf) || row.columns[f.leaf].definition < f.definition
}

// skip consumes one value of each leaf below the field.
func (f *parquetField) skip(row *parquetRow) {
	for leaf := f.leaf; leaf < f.leaf+f.leaves; leaf++ {
		if row.has(leaf) {
			row.take(leaf)
		}
	}
}

// appendValue appends one value of the field, as if it were not repeated.
func (f *parquetField) appendValue(b []byte, row *parquetRow, asJSON bool) []byte {
	if f.absent(row) {
		f.skip(row)
		if asJSON {
			b = append(b, "null"...)
		}
		return b
	}
	switch {
	case f.children == nil:
		value := row.take(f.leaf)
		switch {
		case row.err != nil:
			return b
		case asJSON:
			return f.value.json(b, value)
		default:
			return f.value.text(b, value)
		}
	case (f.list || f.dict && len(f.children[0].children) == 1) && len(f.children) == 1 && f.children[0].repeated:
		return f.children[0].elements(b, row)
	case f.dict && len(f.children) == 1 && f.children[0].repeated && len(f.children[0].children) == 2:
		return f.children[0].pairs(b, row)
	}
	b = append(b, '{')
	for i, c := range f.children {
		if i > 0 {
			b = append(b, ',')
		}
		b = c.append(append(strictjson.AppendString(b, c.name), ':'), row, true)
	}
	return append(b, '}')
}

// elements appends the repeated field of a list. Its only child is the element, except in older files, where the field itself is
// the element.
func (f *parquetField) elements(b []byte, row *parquetRow) []byte {
	if len(f.children) != 1 || f.name == "array" || strings.HasSuffix(f.name, "_tuple") {
		return f.append(b, row, true)
	}
	return f.all(b, row, "[]", f.children[0].append)
}

// pairs appends the repeated field of a map, as an object whose keys are texts.
func (f *parquetField) pairs(b []byte, row *parquetRow) []byte {
	return f.all(b, row, "{}", func(b []byte, row *parquetRow, asJSON bool) []byte {
		key := f.children[0].append(nil, row, false)
		b = append(strictjson.AppendString(b, string(key)), ':')
		return f.children[1].append(b, row, asJSON)
	})
}
