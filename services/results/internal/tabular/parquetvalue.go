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

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
)

// parquetValue is the logical type of the values of a leaf.
type parquetValue struct {
	physical physicalType
	kind     valueKind
	scale    int64
	unit     time.Duration
	utc      bool // timestamps are in UTC; else they have no zone
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

// cellKind is the kind of the values as cells. A timestamp in UTC is a text: a workbook has no zones.
func (p parquetValue) cellKind() Kind {
	switch p.kind {
	case decimalValue, halfValue, unsignedValue:
		return Number
	case dateValue:
		return Date
	case timeValue:
		return Clock
	case timestampValue:
		if p.utc {
			return Text
		}
		return Date
	case uuidValue, asStored:
	}
	switch p.physical {
	case physicalBoolean:
		return Boolean
	case physicalInt32, physicalInt64, physicalFloat, physicalDouble:
		return Number
	case physicalInt96:
		return Date
	case physicalBytes, physicalFixed:
	}
	return Text
}

// json appends a value as JSON: numbers and booleans as such, everything else as the string of its text.
func (p parquetValue) json(b, value []byte) []byte {
	text := p.text(nil, value)
	number := p.kind == decimalValue || p.kind == halfValue || (p.kind == asStored || p.kind == unsignedValue) && p.physical < physicalBytes
	if number && strictjson.Value(text).IsValid() { // NaN is not
		return append(b, text...)
	}
	return strictjson.AppendString(b, string(text))
}

// text appends a value as the text of a cell (spec: file-parquet).
func (p parquetValue) text(b, value []byte) []byte {
	switch p.physical {
	case physicalBoolean:
		return strconv.AppendBool(b, value[0] != 0)
	case physicalInt32:
		n := binary.LittleEndian.Uint32(value)
		if p.kind == unsignedValue {
			return strconv.AppendUint(b, uint64(n), 10)
		}
		return p.integer(b, int64(int32(n))) //nolint:gosec // its bits
	case physicalInt64:
		n := binary.LittleEndian.Uint64(value)
		if p.kind == unsignedValue {
			return strconv.AppendUint(b, n, 10)
		}
		return p.integer(b, int64(n)) //nolint:gosec // its bits
	case physicalInt96:
		nanoseconds, day := binary.LittleEndian.Uint64(value), binary.LittleEndian.Uint32(value[8:])
		const julianEpoch = 2_440_588
		return appendTimestamp(b, time.Unix((int64(day)-julianEpoch)*24*60*60, int64(nanoseconds)), false) //nolint:gosec // its bits
	case physicalFloat:
		return appendFloat(b, float64(math.Float32frombits(binary.LittleEndian.Uint32(value))), 32)
	case physicalDouble:
		return appendFloat(b, math.Float64frombits(binary.LittleEndian.Uint64(value)), 64)
	default:
		return p.bytes(b, value)
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
		return appendFloat(b, halfFloat(binary.LittleEndian.Uint16(value)), 16)
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
		return strconv.AppendFloat(b, f, 'g', -1, 64)
	}
	switch bits { // the shortest digits of the narrow number
	case 32:
		f, _ = strconv.ParseFloat(strconv.FormatFloat(f, 'g', -1, 32), 64)
	case 16:
		_, exponent := math.Frexp(f)
		unit := math.Ldexp(1, max(exponent-1, -14)-10)
		for digits := range 5 { // 5 are always enough
			short, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'e', digits, 64), 64)
			if math.RoundToEven(short/unit)*unit == f {
				return prism.AppendNumber(b, short)
			}
		}
	}
	return prism.AppendNumber(b, f)
}

func appendDecimal(b []byte, n *big.Int, scale int64) []byte {
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
