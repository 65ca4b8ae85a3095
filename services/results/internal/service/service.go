// Package service implements contract.Results and contract.Console over a store: it authenticates callers, looks up what the
// gateway's checks need, applies the Lens and writes response bodies. The gateway decides which requests to reject wherever the
// specification has an order of checks.
package service

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/access"
	"github.com/prism-results/prism/services/results/internal/blobs"
	"github.com/prism-results/prism/services/results/internal/changes"
	"github.com/prism-results/prism/services/results/internal/deletion"
	"github.com/prism-results/prism/services/results/internal/files"
	"github.com/prism-results/prism/services/results/internal/format"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/labels"
	"github.com/prism-results/prism/services/results/internal/members"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/quality"
	"github.com/prism-results/prism/services/results/internal/runs"
	"github.com/prism-results/prism/services/results/internal/search"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/telling"
	"github.com/prism-results/prism/services/results/internal/webhooks"
)

// Deps are all required but LeaseEnded and Memory.
type Deps struct {
	Store sqlstore.Store
	Now   func() time.Time
	NewID func() (prism.UUID, error)
	// NewKey creates a random API key.
	NewKey func() (keys.Secret, error)
	// NewToken creates the random text of a sign-in link.
	NewToken func() (string, error)
	// Blobs keeps the content of files.
	Blobs blobs.Blobs
	// LeaseEnded, if not nil, is called when a worker ends a lease with SaveRows: its run may be done. An expired lease does not
	// call it.
	LeaseEnded func()
	// Memory is the memory limit in bytes; none if 0.
	Memory int64
}

// The slices that have methods of contract.Results and contract.Console.
type (
	fileHandlers     = files.Handlers
	keyHandlers      = keys.Handlers
	memberHandlers   = members.Handlers
	prismHandlers    = prisms.Handlers
	qualityHandlers  = quality.Handlers
	webhookSender    = webhooks.Sender
	runHandlers      = runs.Handlers
	deletionHandlers = deletion.Handlers
)

// Service implements contract.Results and contract.Console.
type Service struct {
	Deps
	*access.Access
	*fileHandlers
	*keyHandlers
	*memberHandlers
	*prismHandlers
	*qualityHandlers
	*webhookSender
	*runHandlers
	*deletionHandlers
	saves    saves
	searches *search.Handlers
	handlers access.Handlers
}

var (
	_ contract.Results    = (*Service)(nil)
	_ contract.Console    = (*Service)(nil)
	_ contract.Deliveries = (*Service)(nil)
)

// New creates a Service. Without Run, the times of last use of API keys are not stored.
func New(d Deps) *Service {
	a := access.New(d.Store, d.Now, d.NewID, d.Memory)
	s := &Service{
		Deps: d, Access: a, searches: search.NewHandlers(d.Store, d.Store),
		fileHandlers:   files.NewHandlers(d.Store, a, d.Blobs, d.Now, d.NewID),
		keyHandlers:    keys.NewHandlers(d.Store, a, d.NewID, d.NewKey),
		memberHandlers: members.NewHandlers(d.Store, a, d.Now, d.NewID, d.NewKey, d.NewToken),
		prismHandlers:  prisms.NewHandlers(d.Store, a, d.Now, d.NewID),
	}
	s.qualityHandlers = quality.NewHandlers(d.Store, a, d.NewID, s.prismHandlers)
	s.webhookSender = webhooks.NewSender(webhooks.SenderDeps{
		Store: d.Store, Writer: &telling.Writer{Store: s.Store, Lenses: s}, Now: d.Now, NewID: d.NewID, By: s.By,
	})
	s.runHandlers = runs.NewHandlers(runs.Deps{
		Store: d.Store, Access: a, Now: d.Now, NewID: d.NewID, Files: s.fileHandlers, Versions: s.prismHandlers, Quality: s.qualityHandlers,
		Searches: s.searches, Refuses: s.refuses, NoteSave: s.saves.note, LeaseEnded: d.LeaseEnded,
	})
	s.deletionHandlers = deletion.NewHandlers(d.Store, a, s.searches)
	l := labels.NewHandlers(d.Store, d.Now, s.prismHandlers, s.qualityHandlers, s.searches)
	s.TakeExamplesWith(l.TakeExamples)
	s.handlers = s.handlersOfOperations(l)
	return s
}

// Run stores when API keys were last used, folds the tail, removes old changes and events, deletes sessions that have expired, and probes
// a store that cannot be written, until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	running, stop := context.WithCancel(ctx)
	var beside sync.WaitGroup
	beside.Go(func() { s.saves.probe(running, s.refuses, s.Store.ProbeWrite) })
	beside.Go(func() { changes.Fold(running, s.Store) })
	beside.Go(func() { changes.Remove(running, s.Store, s.Now) })
	beside.Go(func() { telling.Remove(running, s.Store, s.Now) })
	beside.Go(func() { telling.TellExpiring(running, s.Store, s.Now) })
	beside.Go(func() { s.SweepSessions(running) })
	defer beside.Wait()
	defer stop()
	return s.KeepLastUses(ctx)
}

// Writable returns an error while the store cannot be written (spec: unwritable-store).
func (s *Service) Writable() error {
	switch {
	case s.Store.Full():
		return store.ErrFull
	case s.saves.refused():
		return store.ErrUnwritable
	}
	return nil
}

// refuses reports whether no call goes to the model.
func (s *Service) refuses() bool { return s.Writable() != nil }

// CreateFacts implements contract.Results.
func (s *Service) CreateFacts(ctx context.Context, q contract.CreateQuery) (contract.CreateFacts, error) {
	storedFacts, err := s.Store.CreateFacts(ctx, q)
	if err != nil {
		return contract.CreateFacts{}, access.Translate(err, nil)
	}
	if err := s.Admit(storedFacts.Caller, contract.Operation(api.CreateResult.Name)); err != nil {
		return contract.CreateFacts{}, err
	}
	facts := contract.CreateFacts{Account: storedFacts.Caller.Account, Key: storedFacts.Caller.Key, Unwritable: s.refuses(), At: prism.Now(s.Now)}
	if q.AdHoc && (storedFacts.Prism == nil || storedFacts.Prism.Archived) {
		return s.withoutAdHoc(ctx, facts, storedFacts)
	}
	if storedFacts.Prism == nil {
		return facts, nil
	}
	facts.Prism, facts.Archived = storedFacts.Prism.ID, storedFacts.Prism.Archived
	if prism.IsAdHocSlug(storedFacts.Prism.Slug) {
		facts.AdHoc = contract.KeptAdHoc
	}
	if storedFacts.Stored != nil {
		err = s.addStored(ctx, &facts, storedFacts, q)
	} else if storedFacts.Version != 0 && !facts.Archived {
		var v *prisms.Cached
		v, err = s.Version(ctx, facts.Account, prisms.VersionOf(*storedFacts.Prism, storedFacts.Version))
		switch {
		case err == nil:
			facts.Version = &v.Version
		case errors.Is(err, store.ErrNotFound) && facts.AdHoc != contract.NotAdHoc: // it has ended since it was looked up
			if facts.Prism = (prism.PrismID{}); q.AdHoc {
				return s.withoutAdHoc(ctx, facts, storedFacts)
			}
			return facts, nil
		}
	}
	return facts, access.Translate(err, nil)
}

// addStored adds the result that holds the idempotency key: its response if it can be returned, its input if it failed.
func (s *Service) addStored(ctx context.Context, facts *contract.CreateFacts, storedFacts store.CreateFacts, q contract.CreateQuery) error {
	stored, err := s.stored(ctx, facts.Account, *storedFacts.Stored, *storedFacts.StoredPrism)
	if err != nil {
		return err
	}
	facts.Stored = &stored
	if stored.Prism != facts.Prism || stored.Status != prism.OK {
		return nil
	}
	response, err := s.formatNamed(ctx, facts.Account, *storedFacts.Stored, *storedFacts.StoredPrism, q.Format, q.Names)
	facts.Response = &response
	return err
}

// RetryFacts implements contract.Results.
func (s *Service) RetryFacts(ctx context.Context, key contract.KeyDigest, id prism.ResultID) (contract.RetryFacts, error) {
	storedFacts, err := s.Store.ResultFacts(ctx, key, id, store.WithInput)
	if err != nil {
		return contract.RetryFacts{}, access.Translate(err, nil)
	}
	if err := s.Admit(storedFacts.Caller, contract.Operation(api.RetryResult.Name)); err != nil {
		return contract.RetryFacts{}, err
	}
	facts := contract.RetryFacts{Account: storedFacts.Caller.Account, Key: storedFacts.Caller.Key, Unwritable: s.refuses(), At: prism.Now(s.Now)}
	if storedFacts.Result == nil {
		return facts, nil
	}
	stored, err := s.stored(ctx, facts.Account, *storedFacts.Result, *storedFacts.Prism)
	facts.Stored = &stored
	return facts, access.Translate(err, nil)
}

// stored is a result as the checks see it. Only a failed result can be retried, so only that has its input.
func (s *Service) stored(ctx context.Context, account prism.AccountID, r prism.Result, p store.PrismState) (contract.Stored, error) {
	stored := contract.Stored{
		ID: r.ID, Prism: r.Prism, Archived: p.Archived, Status: r.Status,
		RetriedBy: r.RetriedBy, IdempotencyKey: r.IdempotencyKey, Answered: r.Version,
	}
	if r.Status == prism.OK {
		return stored, nil
	}
	version, err := s.Version(ctx, account, prisms.VersionOf(p, r.Version))
	if err != nil {
		return contract.Stored{}, err
	}
	stored.Input = contract.Input{Version: version.Version, Ref: r.Ref, Context: r.Context, Fields: r.Fields}
	return stored, nil
}

// Save implements contract.Results.
func (s *Service) Save(ctx context.Context, in contract.Save) (contract.Response, error) {
	r := store.ResultOf(in, prism.Now(s.Now))
	var saved store.Saved
	var err error
	crash.At(crash.BeforeCommit)
	if in.RetryOf == nil {
		saved, err = s.saveFirst(ctx, in, r)
	} else {
		saved, err = s.Store.SaveRetry(ctx, in.Account, r, *in.RetryOf)
		if errors.Is(err, store.ErrNotFound) && r.IdempotencyKey != "" { // spec: retry-of-a-deleted-result
			saved, err = s.saveFirst(ctx, in, r)
		}
	}
	s.saves.note(err)
	switch {
	case errors.Is(err, store.ErrNotFound) && in.RetryOf != nil && r.IdempotencyKey == "":
		return contract.Response{}, apierr.ResultNotFound()
	case err != nil:
		return contract.Response{}, access.Translate(err, nil)
	}
	crash.At(crash.AfterCommit)
	saved.Result.Call = in.Outcome.Call // its usage is that of this call
	response, err := s.formatNamed(ctx, in.Account, saved.Result, saved.Prism, in.Format, in.Names)
	return response, access.Translate(err, nil)
}

// readResult finds the caller with the result, in one look-up.
func (s *Service) readResult(ctx context.Context, key contract.KeyDigest, in api.ResultInFormat) (contract.Response, error) {
	input := store.WithoutInput
	if in.Format.Tabular() {
		input = store.WithInput
	}
	storedFacts, err := s.Store.ResultFacts(ctx, key, in.Result, input)
	if err != nil {
		return contract.Response{}, access.Translate(err, nil)
	}
	if err := s.Admit(storedFacts.Caller, contract.Operation(api.ReadResult.Name)); err != nil {
		return contract.Response{}, err
	}
	if storedFacts.Result == nil {
		return contract.Response{}, api.ReadResult.NotFound()
	}
	response, err := s.format(ctx, storedFacts.Caller.Account, *storedFacts.Result, *storedFacts.Prism, cmp.Or(in.Format, api.JSON))
	return response, access.Translate(err, nil)
}

// format formats one result with the current Lens of its prism.
func (s *Service) format(ctx context.Context, account prism.AccountID, r prism.Result, p store.PrismState, f contract.Format) (contract.Response, error) {
	return s.formatNamed(ctx, account, r, p, f, nil)
}

// formatNamed is format for a call that names the questions of an ad-hoc prism.
func (s *Service) formatNamed(
	ctx context.Context, account prism.AccountID, r prism.Result, p store.PrismState, f contract.Format, names []api.NamesOfQuestion,
) (contract.Response, error) {
	answered, err := s.Version(ctx, account, prisms.VersionOf(p, r.Version))
	if err != nil {
		return contract.Response{}, err
	}
	if f.Foreign() && r.Status == prism.OK {
		return format.Foreign(f, p.Slug, answered.Definition, r, names)
	}
	if f.Foreign() { // spec: headers-of-others
		f = contract.JSON
	}
	applied, err := s.Apply(ctx, account, answered, p)
	if err != nil {
		return contract.Response{}, err
	}
	table := format.Table{Slug: p.Slug, Lens: applied.Lens}
	if f.Tabular() { // the fields of the latest version are columns
		latest, err := s.Version(ctx, account, prisms.VersionOf(p, p.Latest))
		if err != nil {
			return contract.Response{}, err
		}
		table.Latest = latest.Definition
	}
	return format.One(f, table, format.Row{Result: r, Plan: applied.Plan})
}
