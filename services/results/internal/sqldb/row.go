package sqldb

import (
	"errors"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Errors of stored values. They drop the errors of the JSON library, which may quote the content.
var (
	ErrUnreadable = errors.New("store: a stored value is not readable")
	ErrUnwritable = errors.New("store: a value can't be written as JSON")
)

// Columns are the values of a database's current row, by position from 0.
type Columns interface {
	Null(column int) bool
	UUID(column int) (prism.UUID, error)
	Text(column int) string
	// Bytes is a copy of a text or JSON.
	Bytes(column int) []byte
	// Int also reads booleans: 0 is false.
	Int(column int) (int64, error)
	Float(column int) (float64, error)
	Time(column int) (time.Time, error)
}

// Row reads the columns of a row one after the other. Null is the zero value of each type.
type Row struct {
	columns Columns
	column  int // the next one
	bytes   int // of the texts and the JSON that were read
	err     error
}

// NewRow reads from the first column.
func NewRow(c Columns) *Row { return &Row{columns: c} }

// Err is the first error of a column.
func (r *Row) Err() error { return r.err }

// Fail makes err that of the row, unless it has one.
func (r *Row) Fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// next is the position of the next column, and false if the column is null.
func (r *Row) next() (column int, ok bool) {
	r.column++
	return r.column - 1, !r.columns.Null(r.column - 1)
}

// value reads the next column, which may be null.
func value[T any](r *Row, read func(column int) (T, error)) (v T) {
	column, ok := r.next()
	if !ok {
		return v
	}
	v, err := read(column)
	if err != nil {
		r.Fail(err)
	}
	return v
}

// UUID reads an id.
func (r *Row) UUID() prism.UUID { return value(r, r.columns.UUID) }

// Text reads a text.
func (r *Row) Text() string {
	column, ok := r.next()
	if !ok {
		return ""
	}
	text := r.columns.Text(column)
	r.bytes += len(text)
	return text
}

// OptionalText reads a text, or nil for null.
func (r *Row) OptionalText() *string {
	column, ok := r.next()
	if !ok {
		return nil
	}
	text := r.columns.Text(column)
	r.bytes += len(text)
	return &text
}

// Bytes reads a text or JSON.
func (r *Row) Bytes() []byte {
	column, ok := r.next()
	if !ok {
		return nil
	}
	b := r.columns.Bytes(column)
	r.bytes += len(b)
	return b
}

// Share holds a text that was read, and is the one of a row before, once.
func (r *Row) Share(text, before *string) {
	if *text == *before {
		*text = *before
		r.bytes -= len(*text)
	}
	*before = *text
}

// Int reads an integer.
func (r *Row) Int() int64 { return value(r, r.columns.Int) }

// OptionalInt reads an integer, or nil for null.
func (r *Row) OptionalInt() *int64 {
	if r.columns.Null(r.column) {
		r.column++
		return nil
	}
	n := r.Int()
	return &n
}

// Int32 reads an integer that was written from an int32.
func (r *Row) Int32() int32 { return int32(r.Int()) } //nolint:gosec // see above

// Float reads a floating-point number.
func (r *Row) Float() float64 { return value(r, r.columns.Float) }

// Bool reads a boolean.
func (r *Row) Bool() bool { return r.Int() != 0 }

// Time reads a time, in UTC.
func (r *Row) Time() time.Time { return value(r, r.columns.Time) }

// OptionalTime reads a time, or nil for null.
func (r *Row) OptionalTime() *time.Time {
	if r.columns.Null(r.column) {
		r.column++
		return nil
	}
	at := r.Time()
	return &at
}

// Decode reads JSON that encode wrote.
func Decode[V any](r *Row) V {
	return value(r, func(column int) (v V, err error) {
		b := r.columns.Bytes(column)
		r.bytes += len(b)
		if strictjson.Unmarshal(b, &v) != nil {
			err = ErrUnreadable
		}
		return v, err
	})
}

// Encode writes what a column keeps in JSON; members keep their order.
func Encode(v any) ([]byte, error) {
	b, err := strictjson.Marshal(v)
	if err != nil {
		return nil, ErrUnwritable
	}
	return b, nil
}

// The columns of a result r, which Row.Result reads: Fixed, then Input if it is wanted. The table checks that a result has no
// error exactly if its status is ok.
const (
	Fixed   = `r.id, r.version, r.ref, r.error, r.took_ms, r.created_at, r.answers`
	Retries = `, r.idempotency_key, r.retried_by`
	Input   = Retries + `, r.context, r.fields`
)

// PrismState is the columns of a prism p, which Row.PrismState reads.
const PrismState = `p.id, p.slug, p.pins, p.archived_at IS NOT NULL, p.latest_version, p.lens, p.versions_hash`

// Result reads a result of a prism. The id of a result that an outer join did not find is zero.
func (r *Row) Result(of prism.PrismID, in store.Input) prism.Result {
	result := prism.Result{
		ID: prism.ResultID{UUID: r.UUID()}, Prism: of, Version: r.Int32(), Ref: r.OptionalText(), Status: prism.OK,
		Fields: []prism.FieldValue{},
	}
	if failure := r.OptionalText(); failure != nil {
		result.Status, result.Error = prism.Failed, *failure
	}
	result.TookMS, result.CreatedAt, result.Answers = r.Int(), r.Time(), r.Bytes()
	if in == store.WithoutInput {
		return result
	}
	result.IdempotencyKey = r.Text()
	if by := r.UUID(); !by.IsZero() {
		result.RetriedBy = &prism.ResultID{UUID: by}
	}
	result.Context = r.Text()
	if fields := Decode[[]prism.FieldValue](r); fields != nil {
		result.Fields = fields
	}
	return result
}

// PrismState reads a prism. The id of a prism that an outer join did not find is zero.
func (r *Row) PrismState() store.PrismState {
	return store.PrismState{
		ID: prism.PrismID{UUID: r.UUID()}, Slug: r.Text(), Pins: r.PinsID(), Archived: r.Bool(), Latest: r.Int32(), Lens: r.Text(),
		VersionsHash: r.Int(),
	}
}

// PinsID reads the column pins of a prism, which has an id as text, or null without pinned calibrations.
func (r *Row) PinsID() prism.PinsID {
	text := r.Text()
	if text == "" {
		return prism.PinsID{}
	}
	id, err := prism.ParseUUID(text)
	if err != nil {
		r.Fail(ErrUnreadable)
	}
	return prism.PinsID{UUID: id}
}

// Saved reads PrismState and then a result.
func (r *Row) Saved(in store.Input) store.Saved {
	p := r.PrismState()
	return store.Saved{Prism: p, Result: r.Result(p.ID, in)}
}

// JoinedRow is a pointer to what an outer join found, or nil.
func JoinedRow[T any](v T, id prism.UUID) *T {
	if id.IsZero() {
		return nil
	}
	copied := v // taking the address of v itself would put v on the heap also when id is zero
	return &copied
}

// Nullable is nil for the empty string, which makes the column null.
func Nullable(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
