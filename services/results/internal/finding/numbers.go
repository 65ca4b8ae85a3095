package finding

import (
	"encoding/binary"
	"math"

	"github.com/prism-results/prism/pkg/prism"
)

// numberBytes is the size of a number in an index.
const numberBytes = 4

// subjects are those of which results of a version have numbers beside took, in the order in which an index has them.
func subjects(d prism.Definition) (all []Subject) {
	for _, q := range d.Questions {
		all = append(all, Subject{Question: q.Key})
		for _, key := range q.AnswerKeys() {
			all = append(all, Subject{Question: q.Key, Option: key})
		}
		for _, m := range ofAnswers {
			for _, show := range q.Type.Shows() {
				if show == prism.Show(m) {
					all = append(all, Subject{Question: q.Key, Measure: m})
				}
			}
		}
	}
	return all
}

// NumberAt is where an index has the number of a subject of a version, from 1; 0: nowhere.
func NumberAt(d prism.Definition, of Subject) int {
	if of == (Subject{Measure: Took}) {
		return 1
	}
	for i, s := range subjects(d) {
		if s == of {
			return 1 + (i+1)*numberBytes
		}
	}
	return 0
}

// Numbers are those of a result, as an index has them.
func (f *Found) Numbers() []byte {
	b := AppendNumber(nil, float32(f.Result.TookMS), true)
	if len(f.Answers) == 0 {
		return b
	}
	for _, of := range subjects(f.Definition) {
		n, ok := f.Number(of)
		b = AppendNumber(b, float32(n), ok)
	}
	return b
}

// AppendNumber appends four bytes which sort as their number does. Those of no number are 0.
func AppendNumber(to []byte, n float32, ok bool) []byte {
	if !ok {
		return append(to, 0, 0, 0, 0)
	}
	if n == 0 {
		n = 0 // not −0
	}
	bits := math.Float32bits(n)
	if bits>>31 == 1 {
		bits = ^bits
	} else {
		bits |= 1 << 31
	}
	return binary.BigEndian.AppendUint32(to, bits)
}

// ParseNumber reads what AppendNumber has written.
func ParseNumber(b []byte) (n float32, ok bool) {
	if len(b) != numberBytes {
		return 0, false
	}
	bits := binary.BigEndian.Uint32(b)
	if bits == 0 {
		return 0, false
	}
	if bits>>31 == 1 {
		return math.Float32frombits(bits &^ (1 << 31)), true
	}
	return math.Float32frombits(^bits), true
}

// Interval is within which 32-bit numbers a condition holds, or more than those.
func (c *Condition) Interval() (from, to float32, ok bool) {
	inf := float32(math.Inf(1))
	switch {
	case c.Operator == From && c.Measure != Created:
		return math.Nextafter32(float32(c.Bound), -inf), inf, true
	case c.Operator == To && c.Measure != Created:
		return -inf, math.Nextafter32(float32(c.Bound), inf), true
	}
	return 0, 0, false
}
