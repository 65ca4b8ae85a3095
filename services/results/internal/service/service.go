// Package service is contract.Results over a store: it authenticates, looks up, applies the Lens and writes the
// response bodies. What to refuse is the gateway's to say where the contract has an order of checks.
package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/format"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Deps are what an Service works with; all are required.
type Deps struct {
	Store store.Store
	Now   func() time.Time
	NewID func() (prism.UUID, error)
	// NewKey is the randomness of API keys.
	NewKey func() (APIKey, error)
}

// APIKey is a new key: its text is shown once, its digest is kept.
type APIKey struct {
	Text   string
	Prefix string
	Digest contract.KeyDigest
}

// Service implements contract.Results.
type Service struct {
	Deps
	versions *versions
	usage    *usage
}

var _ contract.Results = (*Service)(nil)

// New makes an Service. Run it too, or nobody learns when keys were last used.
func New(d Deps) *Service {
	return &Service{Deps: d, versions: newVersions(), usage: newUsage()}
}

// Run writes down when keys were used until ctx ends.
func (a *Service) Run(ctx context.Context) error { return a.usage.run(ctx, a.Store.TouchKeys) }

// CreateFacts implements contract.Results.
func (a *Service) CreateFacts(ctx context.Context, q contract.CreateQuery) (contract.CreateFacts, error) {
	found, err := a.Store.CreateFacts(ctx, store.CreateQuery{
		Key: q.Key, Prism: q.Prism, Version: q.Version, IdempotencyKey: q.IdempotencyKey,
	})
	if err != nil {
		return contract.CreateFacts{}, public(err)
	}
	account := a.seen(found.Key)
	facts := contract.CreateFacts{Account: account}
	if found.Prism == nil {
		return facts, nil
	}
	facts.Prism, facts.Archived = found.Prism.ID, found.Prism.Archived
	if found.Stored != nil {
		return a.storedFacts(ctx, facts, found, q.Format)
	}
	if found.Version != 0 {
		version, err := a.version(ctx, account, found.Prism.ID, found.Version)
		if err != nil {
			return contract.CreateFacts{}, public(err)
		}
		facts.Version = &version
	}
	return facts, nil
}

// storedFacts are the facts of a repeat: with the answer when there is one, with the input when it is to be retried.
func (a *Service) storedFacts(ctx context.Context, facts contract.CreateFacts, found store.CreateFacts, f contract.Format) (contract.CreateFacts, error) {
	stored, err := a.stored(ctx, facts.Account, *found.Stored, *found.StoredPrism)
	if err != nil {
		return contract.CreateFacts{}, public(err)
	}
	facts.Stored = &stored
	if stored.Prism == facts.Prism && stored.Status == prism.OK {
		doc, err := a.document(ctx, facts.Account, *found.Stored, *found.StoredPrism, f)
		if err != nil {
			return contract.CreateFacts{}, public(err)
		}
		facts.Response = &doc
	}
	return facts, nil
}

// RetryFacts implements contract.Results.
func (a *Service) RetryFacts(ctx context.Context, key contract.KeyDigest, id prism.ResultID) (contract.RetryFacts, error) {
	found, err := a.Store.ResultFacts(ctx, key, id)
	if err != nil {
		return contract.RetryFacts{}, public(err)
	}
	facts := contract.RetryFacts{Account: a.seen(found.Key)}
	if found.Result == nil {
		return facts, nil
	}
	stored, err := a.stored(ctx, facts.Account, *found.Result, *found.Prism)
	if err != nil {
		return contract.RetryFacts{}, public(err)
	}
	facts.Stored = &stored
	return facts, nil
}

// stored is a result as the checks see it. Only a failed one can be retried, so only that needs its input.
func (a *Service) stored(ctx context.Context, account prism.AccountID, r prism.Result, row store.PrismRow) (contract.Stored, error) {
	s := contract.Stored{
		ID: r.ID, Prism: r.Prism, Archived: row.Archived, Status: r.Status,
		RetriedBy: r.RetriedBy, IdempotencyKey: r.IdempotencyKey,
	}
	if r.Status == prism.OK {
		return s, nil
	}
	version, err := a.version(ctx, account, r.Prism, r.Version)
	s.Input = contract.Input{Version: version, Ref: r.Ref, Context: r.Context, Fields: r.Fields}
	return s, err
}

// Save implements contract.Results.
func (a *Service) Save(ctx context.Context, s contract.Save) (contract.Response, error) {
	r := prism.Result{
		ID: s.ID, Prism: s.Prism, Version: s.Version, Ref: s.Ref, Context: s.Context, Fields: s.Fields,
		Status: prism.OK, Error: s.Outcome.Error, TookMS: s.Outcome.TookMS, CreatedAt: prism.Now(a.Now),
		Answers: s.Outcome.Answers, IdempotencyKey: s.IdempotencyKey,
	}
	if s.Outcome.Failed() {
		r.Status, r.Answers = prism.Failed, nil
	}
	var saved store.Saved
	var err error
	crash.At(crash.BeforeCommit)
	if s.RetryOf == nil {
		saved, err = a.Store.SaveResult(ctx, s.Account, r)
	} else {
		saved, err = a.Store.SaveRetry(ctx, s.Account, r, *s.RetryOf)
	}
	if err != nil {
		return contract.Response{}, public(err)
	}
	crash.At(crash.AfterCommit)
	doc, err := a.document(ctx, s.Account, saved.Result, saved.Prism, s.Format)
	return doc, public(err)
}

// Read implements contract.Results.
func (a *Service) Read(ctx context.Context, key contract.KeyDigest, id prism.ResultID, f contract.Format) (contract.Response, error) {
	found, err := a.Store.ResultFacts(ctx, key, id)
	switch {
	case err != nil:
		return contract.Response{}, public(err)
	case a.seen(found.Key).IsZero():
		return contract.Response{}, apierr.InvalidAPIKey()
	case found.Result == nil:
		return contract.Response{}, apierr.ResultNotFound()
	}
	doc, err := a.document(ctx, found.Key.Account, *found.Result, *found.Prism, f)
	return doc, public(err)
}

// document formats one result with its prism's current Lens.
func (a *Service) document(ctx context.Context, account prism.AccountID, r prism.Result, row store.PrismRow, f contract.Format) (contract.Response, error) {
	table, err := a.table(ctx, account, row, f)
	if err != nil {
		return contract.Response{}, err
	}
	answered, err := a.version(ctx, account, r.Prism, r.Version)
	if err != nil {
		return contract.Response{}, err
	}
	return format.One(f, table, format.Row{Result: r, Answered: answered.Definition})
}

// table is what the rows of a prism share in a format. Only tabular ones have the latest version's fields.
func (a *Service) table(ctx context.Context, account prism.AccountID, row store.PrismRow, f contract.Format) (format.Table, error) {
	t := format.Table{Slug: row.Slug, Lens: row.Lens}
	if f == contract.JSON || f == contract.Raw {
		return t, nil
	}
	latest, err := a.version(ctx, account, row.ID, row.Latest)
	t.Latest = latest.Definition
	return t, err
}

// version is a version's definition, from memory when it was needed before.
func (a *Service) version(ctx context.Context, account prism.AccountID, id prism.PrismID, number int32) (prism.Version, error) {
	key := versionID{id, number}
	if v, ok := a.versions.get(key); ok {
		return v, nil
	}
	v, err := a.Store.Version(ctx, account, id, number)
	if err != nil {
		return prism.Version{}, err
	}
	v.Hash, _ = contract.HashDefinition(v.Definition)
	a.versions.add(key, v)
	return v, nil
}

// authenticate finds who calls.
func (a *Service) authenticate(ctx context.Context, key contract.KeyDigest) (prism.AccountID, error) {
	found, err := a.Store.Authenticate(ctx, key)
	if err != nil {
		return prism.AccountID{}, public(err)
	}
	if account := a.seen(found); !account.IsZero() {
		return account, nil
	}
	return prism.AccountID{}, apierr.InvalidAPIKey()
}

// seen notes that a key was used, and returns its account.
func (a *Service) seen(k store.KeyFacts) prism.AccountID {
	if !k.Account.IsZero() {
		a.usage.touch(k.Key, a.Now())
	}
	return k.Account
}

// public gives a store's error the form in which the services speak of it.
func public(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrUnavailable):
		return fmt.Errorf("%w: %w", contract.ErrUnavailable, err)
	case errors.Is(err, store.ErrSlugTaken):
		return apierr.SlugTaken()
	case errors.Is(err, store.ErrArchived):
		return apierr.ArchivedUnchangeable()
	}
	return err
}
