package tabular

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	parquetformat "github.com/parquet-go/parquet-go/format"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
)

// parquetValue is the logical type of the values of a leaf.
type parquetValue struct {
	kind  valueKind
	scale int32
	unit  time.Duration
	utc   bool // timestamps are in UTC; else they have no zone
}

type valueKind int

const (
	asStored valueKind = iota
	decimalValue
	dateValue
	timeValue
	timestampValue
	uuidValue
	halfValue
	unsignedValue
)

func newParquetValue(e *parquetformat.SchemaElement) parquetValue {
	switch t := e.LogicalType.Value.(type) {
	case *parquetformat.DecimalType:
		return parquetValue{kind: decimalValue, scale: t.Scale}
	case *parquetformat.DateType:
		return parquetValue{kind: dateValue}
	case *parquetformat.TimeType:
		return parquetValue{kind: timeValue, unit: unitOf(t.Unit)}
	case *parquetformat.TimestampType:
		return parquetValue{kind: timestampValue, unit: unitOf(t.Unit), utc: t.IsAdjustedToUTC}
	case *parquetformat.UUIDType:
		return parquetValue{kind: uuidValue}
	case *parquetformat.Float16Type:
		return parquetValue{kind: halfValue}
	case *parquetformat.IntType:
		if !t.IsSigned {
			return parquetValue{kind: unsignedValue}
		}
	case nil:
		if e.ConvertedType.Valid {
			return convertedValue(e)
		}
	}
	return parquetValue{}
}

// convertedValue is the logical type in older files.
func convertedValue(e *parquetformat.SchemaElement) parquetValue {
	switch e.ConvertedType.V {
	case deprecated.Decimal:
		return parquetValue{kind: decimalValue, scale: e.Scale.V}
	case deprecated.Date:
		return parquetValue{kind: dateValue}
	case deprecated.TimeMillis:
		return parquetValue{kind: timeValue, unit: time.Millisecond}
	case deprecated.TimeMicros:
		return parquetValue{kind: timeValue, unit: time.Microsecond}
	case deprecated.TimestampMillis:
		return parquetValue{kind: timestampValue, unit: time.Millisecond, utc: true}
	case deprecated.TimestampMicros:
		return parquetValue{kind: timestampValue, unit: time.Microsecond, utc: true}
	case deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64:
		return parquetValue{kind: unsignedValue}
	default: // text, signed integers, JSON and nested values are as they are stored
		return parquetValue{}
	}
}

func unitOf(u parquetformat.TimeUnit) time.Duration {
	if u.Value == nil {
		return time.Millisecond
	}
	return u.Value.Duration()
}

// json appends a value as JSON: numbers and booleans as such, everything else as the string of its text.
func (p parquetValue) json(b []byte, v parquet.Value) []byte {
	text := p.text(nil, v)
	switch v.Kind() {
	case parquet.Boolean, parquet.Int32, parquet.Int64, parquet.Float, parquet.Double:
		if p.kind == asStored || p.kind == unsignedValue {
			if strictjson.Value(text).IsValid() { // NaN is not
				return append(b, text...)
			}
		}
	default: // the others are no numbers of JSON
	}
	return strictjson.AppendString(b, string(text))
}

// text appends a value as the text of a cell (spec: file-parquet).
func (p parquetValue) text(b []byte, v parquet.Value) []byte {
	switch v.Kind() {
	case parquet.Boolean:
		return strconv.AppendBool(b, v.Boolean())
	case parquet.Int32:
		if p.kind == unsignedValue {
			return strconv.AppendUint(b, uint64(v.Uint32()), 10)
		}
		return p.integer(b, int64(v.Int32()))
	case parquet.Int64:
		if p.kind == unsignedValue {
			return strconv.AppendUint(b, v.Uint64(), 10)
		}
		return p.integer(b, v.Int64())
	case parquet.Int96:
		i := v.Int96()
		nanoseconds := int64(uint64(i[0]) | uint64(i[1])<<32) //nolint:gosec // its bits
		const julianEpoch = 2_440_588
		return appendTimestamp(b, time.Unix((int64(i[2])-julianEpoch)*24*60*60, nanoseconds), false)
	case parquet.Float:
		return appendFloat(b, float64(v.Float()), 32)
	case parquet.Double:
		return appendFloat(b, v.Double(), 64)
	default:
		return p.bytes(b, v.ByteArray())
	}
}

func (p parquetValue) integer(b []byte, n int64) []byte {
	switch p.kind {
	case decimalValue:
		return appendDecimal(b, big.NewInt(n), p.scale)
	case dateValue:
		return time.Unix(0, 0).UTC().AddDate(0, 0, int(n)).AppendFormat(b, time.DateOnly)
	case timeValue:
		return time.Unix(0, 0).UTC().Add(time.Duration(n)*p.unit).AppendFormat(b, "15:04:05.999999999")
	case timestampValue:
		each := int64(time.Second / p.unit)
		return appendTimestamp(b, time.Unix(n/each, n%each*int64(p.unit)), p.utc)
	default: // a number
		return strconv.AppendInt(b, n, 10)
	}
}

func (p parquetValue) bytes(b, value []byte) []byte {
	switch {
	case p.kind == decimalValue:
		n := new(big.Int).SetBytes(value)
		if len(value) > 0 && value[0] >= 0x80 { // two's complement
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(value))))
		}
		return appendDecimal(b, n, p.scale)
	case p.kind == uuidValue && len(value) == 16:
		return append(b, prism.UUID(value).String()...)
	case p.kind == halfValue && len(value) == 2:
		return appendFloat(b, halfFloat(binary.LittleEndian.Uint16(value)), 32)
	case utf8.Valid(value):
		return append(b, value...)
	}
	return base64.StdEncoding.AppendEncode(b, value)
}

func appendTimestamp(b []byte, t time.Time, utc bool) []byte {
	b = t.UTC().AppendFormat(b, "2006-01-02T15:04:05.999999999")
	if utc {
		b = append(b, 'Z')
	}
	return b
}

// appendFloat appends a number as in JSON, which lacks NaN, +Inf and -Inf.
func appendFloat(b []byte, f float64, bits int) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return strconv.AppendFloat(b, f, 'g', -1, bits)
	}
	if bits == 32 { // the shortest digits of the narrow number
		f, _ = strconv.ParseFloat(strconv.FormatFloat(f, 'g', -1, 32), 64)
	}
	return prism.AppendNumber(b, f)
}

func appendDecimal(b []byte, n *big.Int, scale int32) []byte {
	digits := new(big.Int).Abs(n).String()
	if n.Sign() < 0 {
		b = append(b, '-')
	}
	const mostDigits = 1 << 10
	if scale <= 0 || scale > mostDigits {
		return append(b, digits...)
	}
	if missing := int(scale) + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	point := len(digits) - int(scale)
	return append(append(append(b, digits[:point]...), '.'), digits[point:]...)
}

// halfFloat is an IEEE 754 number of 16 bits.
func halfFloat(bits uint16) float64 {
	sign, exponent, fraction := 1.0, int(bits>>10&0x1f), float64(bits&0x3ff)/1024
	if bits>>15 == 1 {
		sign = -1
	}
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -14)
	case 0x1f:
		if fraction != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1+fraction, exponent-15)
}
