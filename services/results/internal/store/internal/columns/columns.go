// Package columns names the columns that both stores select by hand, and turns them into results and prisms.
package columns

import (
	"errors"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/store/internal/storedjson"
)

// The columns of a result r, which a Result scans: Fixed, then either Input or NoInput.
const (
	Fixed = `r.id, r.prism_id, r.version, r.ref, r.status, r.error, r.took_ms, r.created_at, r.answers, r.idempotency_key,
	r.retried_by`
	Input   = `, r.context, r.fields`
	NoInput = `, NULL, NULL`
)

// PrismState is the columns of a prism p, which a Prism scans.
const PrismState = `p.id, p.slug, p.archived_at IS NOT NULL, p.latest_version, p.lens`

// Dialect converts a pointer into a scan target that the driver understands. It converts **prism.UUID and **time.Time,
// and returns any other target unchanged.
type Dialect func(target any) any

func (d Dialect) targets(targets ...any) []any {
	for i, t := range targets {
		targets[i] = d(t)
	}
	return targets
}

// Result scans the columns of a result. An outer join that finds none leaves every field nil.
type Result struct {
	id, prism *prism.UUID
	version   *int32
	ref       *string
	status    *string
	error     *string
	tookMS    *int64
	createdAt *time.Time
	answers   []byte
	key       *string
	retriedBy *prism.UUID
	context   *string
	fields    []byte
}

// Targets are the scan targets of the columns.
func (r *Result) Targets(d Dialect) []any {
	return d.targets(
		&r.id, &r.prism, &r.version, &r.ref, &r.status, &r.error, &r.tookMS, &r.createdAt, &r.answers, &r.key, &r.retriedBy,
		&r.context, &r.fields,
	)
}

// Bytes is the size of the scanned input and answers.
func (r *Result) Bytes() int { return len(r.fields) + len(r.answers) + len(value(r.context)) }

// Result is the scanned result, or nil if the join found none.
func (r *Result) Result() (*prism.Result, error) {
	if r.id == nil {
		return nil, nil
	}
	result := &prism.Result{
		ID: prism.ResultID{UUID: *r.id}, Prism: prism.PrismID{UUID: *r.prism}, Version: *r.version, Ref: r.ref,
		Context: value(r.context), Fields: []prism.FieldValue{}, Status: prism.Status(*r.status), Error: value(r.error),
		TookMS: *r.tookMS, CreatedAt: r.createdAt.UTC(), Answers: r.answers, IdempotencyKey: value(r.key),
	}
	if r.retriedBy != nil {
		result.RetriedBy = &prism.ResultID{UUID: *r.retriedBy}
	}
	if r.fields == nil {
		return result, nil
	}
	var err error
	result.Fields, err = storedjson.Unmarshal[[]prism.FieldValue](r.fields)
	return result, err
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// Prism scans the columns PrismState. An outer join that finds none leaves id nil.
type Prism struct {
	id       *prism.UUID
	slug     *string
	archived *bool
	latest   *int32
	lens     []byte
}

// Targets are the scan targets of the columns.
func (p *Prism) Targets(d Dialect) []any {
	return d.targets(&p.id, &p.slug, &p.archived, &p.latest, &p.lens)
}

// State is the scanned prism, or nil if the join found none.
func (p *Prism) State() (*store.PrismState, error) {
	if p.id == nil {
		return nil, nil
	}
	return &store.PrismState{
		ID: prism.PrismID{UUID: *p.id}, Slug: *p.slug, Archived: *p.archived, Latest: *p.latest, Lens: string(p.lens),
	}, nil
}

// Saved scans PrismState and then the columns of a result.
type Saved struct {
	Prism  Prism
	Result Result
}

// Targets are the scan targets of the columns.
func (s *Saved) Targets(d Dialect) []any { return append(s.Prism.Targets(d), s.Result.Targets(d)...) }

func (s *Saved) pointers() (*store.PrismState, *prism.Result, error) {
	p, errPrism := s.Prism.State()
	r, errResult := s.Result.Result()
	return p, r, errors.Join(errPrism, errResult)
}

// Saved is the scanned result with its prism: store.ErrNotFound if the join found none.
func (s *Saved) Saved() (store.Saved, error) {
	p, r, err := s.pointers()
	if err != nil {
		return store.Saved{}, err
	}
	if p == nil || r == nil {
		return store.Saved{}, store.ErrNotFound
	}
	return store.Saved{Result: *r, Prism: *p}, nil
}

// caller scans the account and the id of an API key.
type caller struct{ account, key *prism.UUID }

func (c *caller) caller() store.Caller { return Caller(*c.account, *c.key) }

// Caller is an API key that was found.
func Caller(account, key prism.UUID) store.Caller {
	return store.Caller{Account: prism.AccountID{UUID: account}, Key: prism.KeyID{UUID: key}}
}

// CreateFacts scans what the look-up of a create selects: the account and id of the API key, the number of the version,
// the requested prism, then the result that holds the idempotency key, after its prism.
type CreateFacts struct {
	caller  caller
	version *int32
	prism   Prism
	stored  Saved
}

// Targets are the scan targets of the columns.
func (f *CreateFacts) Targets(d Dialect) []any {
	targets := append(d.targets(&f.caller.account, &f.caller.key, &f.version), f.prism.Targets(d)...)
	return append(targets, f.stored.Targets(d)...)
}

// Facts is what was scanned.
func (f *CreateFacts) Facts() (store.CreateFacts, error) {
	facts := store.CreateFacts{Caller: f.caller.caller()}
	if f.version != nil {
		facts.Version = *f.version
	}
	var errPrism, errStored error
	facts.Prism, errPrism = f.prism.State()
	facts.StoredPrism, facts.Stored, errStored = f.stored.pointers()
	if err := errors.Join(errPrism, errStored); err != nil {
		return store.CreateFacts{}, err
	}
	return facts, nil
}

// ResultFacts scans what the look-up of a result selects: the account and id of the API key, then the result, after its
// prism.
type ResultFacts struct {
	caller caller
	saved  Saved
}

// Targets are the scan targets of the columns.
func (f *ResultFacts) Targets(d Dialect) []any {
	return append(d.targets(&f.caller.account, &f.caller.key), f.saved.Targets(d)...)
}

// Facts is what was scanned.
func (f *ResultFacts) Facts() (store.ResultFacts, error) {
	p, r, err := f.saved.pointers()
	if err != nil {
		return store.ResultFacts{}, err
	}
	return store.ResultFacts{Caller: f.caller.caller(), Result: r, Prism: p}, nil
}

// Nullable is nil for the empty string, so that the column is null.
func Nullable(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Error is the value of the column error, which is null exactly if the result is ok. The table checks that.
func Error(r prism.Result) *string {
	if r.Status == prism.OK {
		return Nullable(r.Error)
	}
	return &r.Error
}
