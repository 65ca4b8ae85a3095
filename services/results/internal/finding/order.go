package finding

import (
	"bytes"
	"cmp"
	"strings"
)

// Order is that of a list: by a number, and results without it at the end; among equals by their ids, newest first. The zero Order and
// that by -@created are by id, newest first, and that by @created oldest first: an id begins with its time.
type Order struct {
	Subject
	Descending bool
}

// ParseOrder reads a sort. It returns what is wrong with one that is none.
func (s Schema) ParseOrder(text string) (o Order, problem string) {
	if text == "" {
		return o, ""
	}
	rest, descending := strings.CutPrefix(text, "-")
	of, problem := s.subject(rest)
	if problem == "" && !s.ranged(of) {
		problem = unknownName
	}
	return Order{of, descending}, problem
}

// ByID tells whether the order is that of ids.
func (o Order) ByID() bool { return o.Question == "" && (o.Measure == "" || o.Measure == Created) }

// Number is the number of a result by which it is sorted, which an index has in 32 bits.
func (o Order) Number(f *Found) (float32, bool) {
	n, ok := f.Number(o.Subject)
	return float32(n), ok
}

// Compare is negative if a is listed before b.
func (o Order) Compare(a, b *Found) int {
	newest := bytes.Compare(b.Result.ID.UUID[:], a.Result.ID.UUID[:])
	if o.ByID() {
		if o.Measure == Created && !o.Descending {
			return -newest
		}
		return newest
	}
	x, hasX := o.Number(a)
	y, hasY := o.Number(b)
	switch {
	case hasX != hasY && hasX:
		return -1
	case hasX != hasY:
		return 1
	case !hasX:
		return newest
	case o.Descending:
		x, y = y, x
	}
	return cmp.Or(cmp.Compare(x, y), newest)
}
