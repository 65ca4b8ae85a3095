package tabular

import (
	"time"
)

// What the metadata of a Parquet file say. The numbers are those of parquet.thrift, and so are the ids of fields.
//
// Source: https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift

// physicalType is how values are stored.
type physicalType int64

const (
	physicalBoolean physicalType = iota
	physicalInt32
	physicalInt64
	physicalInt96
	physicalFloat
	physicalDouble
	physicalBytes
	physicalFixed
)

// width is the bytes of a value, 0 for texts and booleans; length is that of physicalFixed.
func (p physicalType) width(length int64) int64 {
	switch p {
	case physicalInt32, physicalFloat:
		return 4
	case physicalInt64, physicalDouble:
		return 8
	case physicalInt96:
		return 12
	case physicalFixed:
		return length
	default:
		return 0
	}
}

// The repetition types of a field, other than required.
const (
	repetitionOptional = 1
	repetitionRepeated = 2
)

// schemaElement is a field of a schema.
type schemaElement struct {
	name       string
	leaf       bool
	physical   physicalType
	length     int64 // of physicalFixed
	repetition int64
	children   int64
	list, dict bool // annotated as LIST, MAP
	value      parquetValue
}

// readSchemaElement reads a SchemaElement.
func readSchemaElement(t *thriftReader, kind thriftKind) schemaElement {
	var e schemaElement
	converted, scale, logical := int64(-1), int64(0), false
	t.fields(kind, func(id int64, kind thriftKind) bool {
		switch id {
		case 1:
			e.leaf, e.physical = true, physicalType(t.number(kind))
		case 2:
			e.length = t.number(kind)
		case 3:
			e.repetition = t.number(kind)
		case 4:
			e.name = t.text(kind, maxNames)
		case 5:
			e.children = t.number(kind)
		case 6:
			converted = t.number(kind)
		case 7:
			scale = t.number(kind)
		case 10:
			logical = e.readLogicalType(t, kind)
		default:
			return false
		}
		return true
	})
	if !logical {
		e.convert(converted, scale)
	}
	e.value.physical = e.physical
	return e
}

// readLogicalType reads a LogicalType, and tells whether it is one that is known.
func (e *schemaElement) readLogicalType(t *thriftReader, kind thriftKind) (known bool) {
	t.fields(kind, func(id int64, kind thriftKind) bool {
		known = true
		switch id {
		case 2:
			e.dict = true
		case 3:
			e.list = true
		case 5:
			e.value.kind = decimalValue
			t.fields(kind, func(id int64, kind thriftKind) bool {
				if id == 1 {
					e.value.scale = t.number(kind)
				}
				return id == 1
			})
			return true
		case 6:
			e.value.kind = dateValue
		case 7, 8:
			e.value.kind, e.value.unit = timeValue, time.Millisecond
			if id == 8 {
				e.value.kind = timestampValue
			}
			e.value.utc, e.value.unit = readTime(t, kind)
			return true
		case 10:
			t.fields(kind, func(id int64, kind thriftKind) bool {
				if id == 2 && !t.boolean(kind) {
					e.value.kind = unsignedValue
				}
				return id == 2
			})
			return true
		case 14:
			e.value.kind = uuidValue
		case 15:
			e.value.kind = halfValue
		case 1, 4, 11, 12, 13: // texts and nulls
		default:
			known = false
		}
		return false
	})
	return known
}

// readTime reads a TimeType or a TimestampType.
func readTime(t *thriftReader, kind thriftKind) (utc bool, unit time.Duration) {
	unit = time.Millisecond
	t.fields(kind, func(id int64, kind thriftKind) bool {
		switch id {
		case 1:
			utc = t.boolean(kind)
		case 2:
			t.fields(kind, func(id int64, _ thriftKind) bool {
				switch id {
				case 2:
					unit = time.Microsecond
				case 3:
					unit = time.Nanosecond
				}
				return false
			})
		default:
			return false
		}
		return true
	})
	return utc, unit
}

// convert sets what a ConvertedType says, as older files have it.
func (e *schemaElement) convert(kind, scale int64) {
	switch kind {
	case 1, 2: // MAP, MAP_KEY_VALUE
		e.dict = kind == 1
	case 3:
		e.list = true
	case 5:
		e.value.kind, e.value.scale = decimalValue, scale
	case 6:
		e.value.kind = dateValue
	case 7:
		e.value.kind, e.value.unit = timeValue, time.Millisecond
	case 8:
		e.value.kind, e.value.unit = timeValue, time.Microsecond
	case 9:
		e.value.kind, e.value.unit, e.value.utc = timestampValue, time.Millisecond, true
	case 10:
		e.value.kind, e.value.unit, e.value.utc = timestampValue, time.Microsecond, true
	case 11, 12, 13, 14:
		e.value.kind = unsignedValue
	}
}

// rowGroup is a part of the rows.
type rowGroup struct {
	rows   int64
	chunks []columnChunk // of the leaves of the schema
}

// columnChunk is where the values of a leaf in a row group are.
type columnChunk struct {
	codec     int64
	values    int64
	at        int64 // of its first page
	encrypted bool
	elsewhere bool // in another file
}

const errColumns = damage("a row group has other columns than the schema")

// readRowGroup reads a RowGroup with the chunks of so many leaves.
func readRowGroup(t *thriftReader, kind thriftKind, leaves int) rowGroup {
	var g rowGroup
	t.fields(kind, func(id int64, kind thriftKind) bool {
		switch id {
		case 1:
			t.elements(kind, func(kind thriftKind) {
				if len(g.chunks) == leaves {
					t.fail(errColumns)
					return
				}
				g.chunks = append(g.chunks, readColumnChunk(t, kind))
			})
		case 3:
			g.rows = t.number(kind)
		default:
			return false
		}
		return true
	})
	if len(g.chunks) < leaves {
		t.fail(errColumns)
	}
	return g
}

// readColumnChunk reads a ColumnChunk.
func readColumnChunk(t *thriftReader, kind thriftKind) columnChunk {
	var c columnChunk
	data, dictionary, described := int64(0), int64(0), false
	t.fields(kind, func(id int64, kind thriftKind) bool {
		switch id {
		case 1:
			c.elsewhere = t.text(kind, maxNames) != ""
		case 3:
			described = true
			t.fields(kind, func(id int64, kind thriftKind) bool {
				switch id {
				case 4:
					c.codec = t.number(kind)
				case 5:
					c.values = t.number(kind)
				case 9:
					data = t.number(kind)
				case 11:
					dictionary = t.number(kind)
				default:
					return false
				}
				return true
			})
		case 8:
			c.encrypted = true
			return false
		default:
			return false
		}
		return true
	})
	c.encrypted = c.encrypted || !described
	if c.at = data; dictionary > 0 && dictionary < data {
		c.at = dictionary
	}
	return c
}
