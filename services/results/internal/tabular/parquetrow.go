package tabular

import "errors"

// damage is why a column cannot be read, as the end of a sentence.
type damage string

func (d damage) Error() string { return string(d) }

const (
	errOtherRowGroup = damage("it has other rows than the file says")
	errCodec         = damage("a page cannot be decompressed")
)

// parquetRow is the row that is read next, in the columns of all leaves.
type parquetRow struct {
	columns []*parquetColumn
	err     error // the first problem; from then on columns have no values
	leaf    int   // where it is
}

func (r *parquetRow) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// failAt keeps an error of a leaf.
func (r *parquetRow) failAt(leaf int, err error) {
	if r.err != nil || err == nil {
		return
	}
	_, isDamage := errors.AsType[damage](err)
	_, isOwn := errors.AsType[ownError](err)
	_, isProblem := errors.AsType[*UnusableError](err)
	if !isDamage && !isOwn && !isProblem && !errors.Is(err, errRowTooLarge) {
		err = errCodec // of a library; a fault of the storage is kept by the source
	}
	r.err, r.leaf = err, leaf
}

// has tells whether the row has a further value of a leaf.
func (r *parquetRow) has(leaf int) bool {
	c := r.columns[leaf]
	if r.err != nil || c.inRow && c.field.repetition == 0 {
		return false
	}
	ok, err := c.peek()
	switch {
	case err != nil:
		r.failAt(leaf, err)
		return false
	case ok && !c.inRow && c.repetition > 0:
		r.failAt(leaf, damage("a row begins inside of a list"))
		return false
	}
	return ok && (!c.inRow || c.repetition > 0)
}

// take is the value of a leaf that has told of: nil if it is null.
func (r *parquetRow) take(leaf int) []byte {
	value, err := r.columns[leaf].take()
	r.failAt(leaf, err)
	return value
}

// end ends the row. Each column must have had all of its values.
func (r *parquetRow) end() {
	for leaf, c := range r.columns {
		if !c.inRow || r.has(leaf) {
			r.failAt(leaf, errOtherRowGroup)
		}
		c.inRow = false
	}
}

// finish ends the row group.
func (r *parquetRow) finish() {
	for leaf := range r.columns {
		if r.has(leaf) {
			r.failAt(leaf, errOtherRowGroup)
		}
	}
}
