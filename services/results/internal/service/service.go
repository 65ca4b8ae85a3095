// Package service composes the slices, each with the handlers of its operations, into contract.Results, contract.Console and
// contract.Deliveries over a store. The gateway decides which requests to reject wherever the specification has an order of checks.
package service

import (
	"context"
	"sync"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/access"
	"github.com/prism-results/prism/services/results/internal/blobs"
	"github.com/prism-results/prism/services/results/internal/changes"
	"github.com/prism-results/prism/services/results/internal/declarations"
	"github.com/prism-results/prism/services/results/internal/deletion"
	"github.com/prism-results/prism/services/results/internal/eventbodies"
	"github.com/prism-results/prism/services/results/internal/examples"
	"github.com/prism-results/prism/services/results/internal/files"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/members"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/quality"
	"github.com/prism-results/prism/services/results/internal/results"
	"github.com/prism-results/prism/services/results/internal/runs"
	"github.com/prism-results/prism/services/results/internal/search"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/webhooks"
)

// Deps are all required but LeaseEnded, Memory and Databases.
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
	// Databases is how many databases a process serves, which share what it caches; 1 if 0.
	Databases int
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
	resultHandlers   = results.Handlers
	declared         = declarations.Handlers
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
	*declared
	*runHandlers
	*deletionHandlers
	*resultHandlers
	searches *search.Handlers
	handlers access.Handlers
}

var (
	_ contract.Results    = (*Service)(nil)
	_ contract.Console    = (*Service)(nil)
	_ contract.Deliveries = (*Service)(nil)

	_ contract.Declarations = (*Service)(nil)
)

// New creates a Service. Without Run, the times of last use of API keys are not stored.
func New(d Deps) *Service {
	d.Databases = max(1, d.Databases)
	a := access.New(d.Store, d.Now, d.NewID, d.Memory)
	s := &Service{
		Deps: d, Access: a, searches: search.NewHandlers(d.Store, d.Store),
		fileHandlers:   files.NewHandlers(d.Store, a, d.Blobs, d.Now, d.NewID),
		keyHandlers:    keys.NewHandlers(d.Store, a, d.NewID, d.NewKey),
		memberHandlers: members.NewHandlers(d.Store, a, d.Now, d.NewID, d.NewKey, d.NewToken),
		prismHandlers:  prisms.NewHandlers(d.Store, a, d.Now, d.NewID, d.Databases),
		declared:       declarations.NewHandlers(d.Store, a.By, d.NewID, d.NewKey),
	}
	s.qualityHandlers = quality.NewHandlers(d.Store, a, d.NewID, s.prismHandlers, d.Databases)
	s.resultHandlers = results.NewHandlers(results.Deps{
		Store: d.Store, Access: a, Now: d.Now, NewID: d.NewID, Versions: s.prismHandlers, Quality: s.qualityHandlers, Searches: s.searches,
	})
	s.webhookSender = webhooks.NewSender(webhooks.SenderDeps{
		Store: d.Store, Writer: &eventbodies.Writer{Store: s.Store, Lenses: s}, Now: d.Now, NewID: d.NewID, By: s.By,
	})
	s.runHandlers = runs.NewHandlers(runs.Deps{
		Store: d.Store, Access: a, Now: d.Now, NewID: d.NewID, Files: s.fileHandlers, Versions: s.prismHandlers, Quality: s.qualityHandlers,
		Searches: s.searches, Refuses: s.Refuses, NoteSave: s.NoteSave, LeaseEnded: d.LeaseEnded,
	})
	s.deletionHandlers = deletion.NewHandlers(d.Store, a, s.searches)
	s.TakeExamplesWith(examples.Taker{Store: d.Store, Quality: s.qualityHandlers}.Take)
	s.handlers = s.handlersOfOperations()
	return s
}

// Run stores when API keys were last used, folds the tail, removes old changes and events, deletes sessions that have expired, and probes
// a store that cannot be written, until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	running, stop := context.WithCancel(ctx)
	var beside sync.WaitGroup
	beside.Go(func() { s.Probe(running) })
	beside.Go(func() { changes.Fold(running, s.Store) })
	beside.Go(func() { changes.Remove(running, s.Store, s.Now) })
	beside.Go(func() { eventbodies.Remove(running, s.Store, s.Now) })
	beside.Go(func() { eventbodies.TellExpiring(running, s.Store, s.Now) })
	beside.Go(func() { s.SweepSessions(running) })
	defer beside.Wait()
	defer stop()
	return s.KeepLastUses(ctx)
}
