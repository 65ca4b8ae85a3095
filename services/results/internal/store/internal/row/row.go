// Package row is how both stores read results and prisms by hand: the columns and what is made of them.
package row

import (
	"errors"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/store/internal/document"
)

// ResultColumns are the columns of results r in the order in which Result takes them.
const ResultColumns = `r.id, r.prism_id, r.version, r.ref, r.context, r.fields, r.status, r.error, r.took_ms, r.created_at,
	r.answers, r.idempotency_key, r.retried_by`

// ListedColumns are ResultColumns without what was sent to the model.
const ListedColumns = `r.id, r.prism_id, r.version, r.ref, '', '[]', r.status, r.error, r.took_ms, r.created_at,
	r.answers, r.idempotency_key, r.retried_by`

// PrismColumns are the columns of prisms p in the order in which Prism takes them.
const PrismColumns = `p.id, p.slug, p.archived_at IS NOT NULL, p.latest_version, p.lens`

// Dialect makes a target that the driver knows of a pointer to a pointer to a prism.UUID, a time.Time, or a basic type. It
// returns other targets as they are.
type Dialect func(target any) any

func (d Dialect) all(targets ...any) []any {
	for i, t := range targets {
		targets[i] = d(t)
	}
	return targets
}

// Result takes ResultColumns. An outer join may leave all of them null.
type Result struct {
	id, prism *prism.UUID
	version   *int32
	ref       *string
	context   *string
	fields    []byte
	status    *string
	failure   *string
	tookMS    *int64
	createdAt *time.Time
	answers   []byte
	key       *string
	retriedBy *prism.UUID
}

// Targets are what ResultColumns are scanned into.
func (r *Result) Targets(d Dialect) []any {
	return d.all(
		&r.id, &r.prism, &r.version, &r.ref, &r.context, &r.fields, &r.status, &r.failure, &r.tookMS, &r.createdAt, &r.answers,
		&r.key, &r.retriedBy,
	)
}

// Bytes is how much input and answers were scanned.
func (r *Result) Bytes() int {
	n := len(r.fields) + len(r.answers)
	if r.context != nil {
		n += len(*r.context)
	}
	return n
}

// Found tells whether the join found one.
func (r *Result) Found() bool { return r.id != nil }

// Result is the result, or nil when the join found none.
func (r *Result) Result() (*prism.Result, error) {
	if !r.Found() {
		return nil, nil
	}
	fields, err := document.ParseFields(r.fields)
	if err != nil {
		return nil, err
	}
	result := &prism.Result{
		ID:        prism.ResultID{UUID: *r.id},
		Prism:     prism.PrismID{UUID: *r.prism},
		Version:   *r.version,
		Ref:       r.ref,
		Context:   *r.context,
		Fields:    fields,
		Status:    prism.Status(*r.status),
		TookMS:    *r.tookMS,
		CreatedAt: r.createdAt.UTC(),
		Answers:   r.answers,
	}
	if r.failure != nil {
		result.Error = *r.failure
	}
	if r.key != nil {
		result.IdempotencyKey = *r.key
	}
	if r.retriedBy != nil {
		result.RetriedBy = &prism.ResultID{UUID: *r.retriedBy}
	}
	return result, nil
}

// Prism takes PrismColumns. An outer join may leave all of them null, and archived false.
type Prism struct {
	id       *prism.UUID
	slug     *string
	archived *bool
	latest   *int32
	lens     []byte
}

// Targets are what PrismColumns are scanned into.
func (p *Prism) Targets(d Dialect) []any {
	return d.all(&p.id, &p.slug, &p.archived, &p.latest, &p.lens)
}

// Row is the prism, or nil when the join found none.
func (p *Prism) Row() (*store.PrismRow, error) {
	if p.id == nil {
		return nil, nil
	}
	lens, err := document.ParseLens(p.lens)
	if err != nil {
		return nil, err
	}
	return &store.PrismRow{
		ID: prism.PrismID{UUID: *p.id}, Slug: *p.slug, Archived: *p.archived, Latest: *p.latest, Lens: lens,
	}, nil
}

// Saved takes PrismColumns and then ResultColumns.
type Saved struct {
	Prism  Prism
	Result Result
}

// Targets are what the columns are scanned into.
func (s *Saved) Targets(d Dialect) []any { return append(s.Prism.Targets(d), s.Result.Targets(d)...) }

// Both are the prism and the result; each may be nil.
func (s *Saved) Both() (*store.PrismRow, *prism.Result, error) {
	p, errPrism := s.Prism.Row()
	r, errResult := s.Result.Result()
	if err := errors.Join(errPrism, errResult); err != nil {
		return nil, nil, err
	}
	return p, r, nil
}

// Saved is a result that is there; it is ErrNotFound when it is not.
func (s *Saved) Saved() (store.Saved, error) {
	p, r, err := s.Both()
	if err != nil {
		return store.Saved{}, err
	}
	if p == nil || r == nil {
		return store.Saved{}, store.ErrNotFound
	}
	return store.Saved{Result: *r, Prism: *p}, nil
}

// Facts takes what CreateFacts selects: account and key, version, the prism that was asked for, then the result that holds
// the idempotency key and its prism.
type Facts struct {
	account, key *prism.UUID
	version      *int32
	asked        Prism
	stored       Saved
}

// Targets are what the columns are scanned into.
func (f *Facts) Targets(d Dialect) []any {
	head := append(d.all(&f.account, &f.key, &f.version), f.asked.Targets(d)...)
	return append(head, f.stored.Targets(d)...)
}

// Facts are the facts of a key that was found.
func (f *Facts) Facts() (store.CreateFacts, error) {
	facts := store.CreateFacts{Key: KeyFacts(*f.account, *f.key)}
	if f.version != nil {
		facts.Version = *f.version
	}
	var errAsked, errStored error
	facts.Prism, errAsked = f.asked.Row()
	facts.StoredPrism, facts.Stored, errStored = f.stored.Both()
	if err := errors.Join(errAsked, errStored); err != nil {
		return store.CreateFacts{}, err
	}
	return facts, nil
}

// ResultFacts takes what ResultFacts selects: account and key, then the result's prism and the result.
type ResultFacts struct {
	account, key *prism.UUID
	saved        Saved
}

// Targets are what the columns are scanned into.
func (f *ResultFacts) Targets(d Dialect) []any {
	return append(d.all(&f.account, &f.key), f.saved.Targets(d)...)
}

// Facts are the facts of a key that was found.
func (f *ResultFacts) Facts() (store.ResultFacts, error) {
	p, r, err := f.saved.Both()
	if err != nil {
		return store.ResultFacts{}, err
	}
	return store.ResultFacts{Key: KeyFacts(*f.account, *f.key), Result: r, Prism: p}, nil
}

// KeyFacts are the two ids of a key that was found.
func KeyFacts(account, key prism.UUID) store.KeyFacts {
	return store.KeyFacts{Account: prism.AccountID{UUID: account}, Key: prism.KeyID{UUID: key}}
}

// Nullable is a text column that is null instead of empty.
func Nullable(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Failure is the error column: null exactly when the result is ok, which the table checks.
func Failure(r prism.Result) *string {
	if r.Status == prism.OK {
		return Nullable(r.Error)
	}
	return &r.Error
}
