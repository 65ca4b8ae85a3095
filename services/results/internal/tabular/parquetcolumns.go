package tabular

import (
	"reflect"
	"slices"

	"github.com/parquet-go/parquet-go"

	"github.com/prism-results/prism/pkg/prism"
)

// ParquetType is what the cells of a column are, some of which may be null.
type ParquetType int

// The types. Cells of all but ParquetText have a number.
const (
	ParquetText    ParquetType = iota // the key of a cell
	ParquetDouble                     // a number
	ParquetBoolean                    // 1 for true
	ParquetUTC                        // a time, in milliseconds since 1970
	ParquetLocal                      // the same of no time zone
	ParquetKey                        // a text of which there are few
)

// ParquetColumn is a column of a table of Parquet. Names differ.
type ParquetColumn struct {
	Name string
	Type ParquetType
}

// long reports whether a cell may be long, so that no footer has the least and the greatest of them.
func (c ParquetColumn) long() bool { return c.Type == ParquetText }

func (c ParquetColumn) node() parquet.Node {
	switch c.Type {
	case ParquetDouble:
		return parquet.Leaf(parquet.DoubleType)
	case ParquetBoolean:
		return parquet.Leaf(parquet.BooleanType)
	case ParquetUTC:
		return parquet.Timestamp(parquet.Millisecond)
	case ParquetLocal:
		return parquet.TimestampAdjusted(parquet.Millisecond, false)
	case ParquetKey:
		return parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
	case ParquetText:
	}
	return parquet.Encoded(parquet.String(), &parquet.Plain)
}

// value is a cell at its level: 1, or 0 for null.
func (c ParquetColumn) value(cell prism.Cell) parquet.Value {
	switch text := c.Type == ParquetText || c.Type == ParquetKey; {
	case text && cell.Kind == prism.TextCell:
		return level(textValue(cell.Key), 0, 1)
	case text || cell.Kind != prism.NumberCell:
		return level(parquet.NullValue(), 0, 0)
	case c.Type == ParquetDouble:
		return level(parquet.DoubleValue(cell.Number), 0, 1)
	case c.Type == ParquetBoolean:
		return level(parquet.BooleanValue(cell.Number != 0), 0, 1)
	}
	return level(parquet.Int64Value(int64(cell.Number)), 0, 1)
}

func textValue(text string) parquet.Value { return parquet.ValueOf(text) }

// level is a value at a repetition and a definition level. The column is that of the writer.
func level(v parquet.Value, repetition, definition int) parquet.Value {
	return v.Level(repetition, definition, 0)
}

// ordered is a group whose fields keep their order; the library sorts them.
type ordered struct {
	parquet.Group
	names []string
}

func newOrdered() *ordered { return &ordered{Group: parquet.Group{}} }

func (o *ordered) add(name string, node parquet.Node) *ordered {
	o.names = append(o.names, name)
	o.Group[name] = node
	return o
}

// Fields implements parquet.Node.
func (o *ordered) Fields() []parquet.Field {
	fields := o.Group.Fields()
	place := make(map[string]int, len(o.names))
	for i, name := range o.names {
		place[name] = i
	}
	slices.SortFunc(fields, func(a, b parquet.Field) int { return place[a.Name()] - place[b.Name()] })
	return fields
}

// GoType implements parquet.Node. Rows are no structs, and names of columns need not be ones that Go has.
func (*ordered) GoType() reflect.Type { return reflect.TypeFor[struct{}]() }

// parquetSchema is the schema of a table, whose last column has raw answers if that has a name. All columns may be null, also those that
// never are: the library sets memory for a page aside for each that is not.
func parquetSchema(columns []ParquetColumn, raw string) *parquet.Schema {
	root := newOrdered()
	for _, c := range columns {
		root.add(c.Name, parquet.Optional(c.node()))
	}
	if raw != "" {
		key := parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
		number := parquet.Leaf(parquet.DoubleType)
		root.add(raw, parquet.Optional(parquet.Map(key, newOrdered().
			add("type", key).
			add("value", parquet.Optional(key)).
			add("values", parquet.Optional(parquet.List(key))).
			add("level", parquet.Optional(key)).
			add("probability", parquet.Optional(number)).
			add("confidence", parquet.Optional(number)).
			add("probabilities", parquet.Optional(parquet.Map(key, number))))))
	}
	return parquet.NewSchema("prism", root)
}

// columnNamed is the index of a column.
func (p *Parquet) columnNamed(name string) int {
	return slices.IndexFunc(p.columns, func(c ParquetColumn) bool { return c.Name == name })
}

// The leaves of raw answers in their order, behind the columns.
const (
	rawKey = iota
	rawType
	rawValue
	rawValues
	rawLevel
	rawProbability
	rawConfidence
	rawOption
	rawOptionProbability
	rawLeaves
)

// Definition levels: the answers are there, one answer is, a member of it is, and an item of a member is.
const (
	defAnswers = iota + 1
	defAnswer
	defMember
	defItem
)

// writeRaw writes the raw answers of a row to the leaves from first on. Nil answers are null (spec: parquet-raw).
func (p *Parquet) writeRaw(first int, raw *prism.Answers) error {
	for leaf := range rawLeaves {
		values := p.values[:0]
		switch {
		case raw == nil:
			values = append(values, level(parquet.NullValue(), 0, 0))
		case len(*raw) == 0:
			values = append(values, level(parquet.NullValue(), 0, defAnswers))
		default:
			for i := range *raw {
				values = appendRaw(values, leaf, &(*raw)[i], min(i, 1))
			}
		}
		if err := p.write(first+leaf, values); err != nil {
			return err
		}
	}
	return nil
}

// appendRaw appends the values of a leaf for one answer. repetition is 0 for the first answer of a row, and 1 for others.
func appendRaw(values []parquet.Value, leaf int, a *prism.Answer, repetition int) []parquet.Value {
	shape := a.Type.Shape()
	member := func(there bool, v parquet.Value) []parquet.Value {
		if !there {
			return append(values, level(parquet.NullValue(), repetition, defAnswer))
		}
		return append(values, level(v, repetition, defMember))
	}
	items := func(there bool, n int, item func(int) parquet.Value) []parquet.Value {
		if !there || n == 0 {
			return member(there, parquet.NullValue())
		}
		for i := range n {
			values = append(values, level(item(i), repetition, defItem))
			repetition = 2
		}
		return values
	}
	switch leaf {
	case rawKey:
		return append(values, level(textValue(a.Question), repetition, defAnswer))
	case rawType:
		return append(values, level(textValue(string(a.Type)), repetition, defAnswer))
	case rawValue:
		return member(shape.Chosen == "value", textValue(a.Chosen))
	case rawLevel:
		return member(shape.Chosen == "level", textValue(a.Chosen))
	case rawProbability:
		return member(shape.Probability, parquet.DoubleValue(a.Probability))
	case rawConfidence:
		return member(shape.Confidence, parquet.DoubleValue(a.Confidence))
	case rawValues:
		var keys []string
		if shape.Several {
			keys = a.Replies()
		}
		return items(shape.Several, len(keys), func(i int) parquet.Value { return textValue(keys[i]) })
	case rawOption:
		return items(shape.Chosen != "", len(a.Probabilities), func(i int) parquet.Value { return textValue(a.Probabilities[i].Key) })
	}
	return items(shape.Chosen != "", len(a.Probabilities), func(i int) parquet.Value {
		return parquet.DoubleValue(a.Probabilities[i].Probability)
	})
}

// The bytes of a value beside its text: in memory, where its text is and its levels, and in a page, its length or its place in the dictionary.
const valueHeld, valuePlain = 16, 9

// cellsBytes is about how many bytes cells take in memory, and in pages without compression.
func cellsBytes(cells []prism.Cell) (held, plain int) {
	texts := 0
	for i := range cells {
		texts += len(cells[i].Key)
	}
	return len(cells)*valueHeld + texts, len(cells)*valuePlain + texts
}

// rawBytes are those of answers, whose keys are in dictionaries.
func rawBytes(answers prism.Answers) (held, plain int) {
	values := 0
	for i := range answers {
		values += rawLeaves + 3*len(answers[i].Probabilities)
	}
	return values * valueHeld, values * valuePlain
}

// Parquet is the type of a column of a file whose cells that are not empty are of the kind. A number with leading zeros and a time of day
// stay texts.
func (k Kind) Parquet() ParquetType {
	switch k {
	case Number:
		return ParquetDouble
	case Boolean:
		return ParquetBoolean
	case Date:
		return ParquetLocal
	case Text, Padded, Clock:
	}
	return ParquetText
}

// Cell is a cell of the row in a table of Parquet, whose column has a kind. It is null if the row has no such cell, and if a cell of a row
// that could not be read is not of the kind (spec: parquet-rows).
func (r Row) Cell(column int, kind Kind) prism.Cell {
	text := r.Cells[column]
	if kind.Parquet() == ParquetText {
		if r.Absent(column) {
			return prism.Cell{}
		}
		return prism.Cell{Kind: prism.TextCell, Key: text}
	}
	if exact := r.exact[column]; exact != "" && kind == Number {
		text = exact
	}
	number, ok := stored(kind, text)
	if !ok {
		return prism.Cell{}
	}
	if kind == Date {
		at, _ := dateOf(text) // it is one
		number = float64(at.UnixMilli())
	}
	return prism.Cell{Kind: prism.NumberCell, Number: number}
}
