package runs

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/access"
	"github.com/prism-results/prism/services/results/internal/bodies"
	"github.com/prism-results/prism/services/results/internal/files"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/quality"
	"github.com/prism-results/prism/services/results/internal/search"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Deps are what Handlers need; all are required but LeaseEnded.
type Deps struct {
	Store    handlerStore
	Access   *access.Access
	Now      func() time.Time
	NewID    func() (prism.UUID, error)
	Files    *files.Handlers
	Versions *prisms.Handlers
	Quality  *quality.Handlers
	Searches *search.Handlers
	// Refuses reports whether no row may be answered now, and NoteSave takes what became of each save of rows.
	Refuses  func() bool
	NoteSave func(error)
	// LeaseEnded is called when a worker ends a lease with SaveRows.
	LeaseEnded func()
}

// handlerStore finds prisms, files and results too.
type handlerStore interface {
	Store
	RetryStore
	files.Store
	prisms.Store
	quality.LabelStore
	FindResults(ctx context.Context, account prism.AccountID, id prism.PrismID, ids []prism.ResultID, in store.Input) ([]prism.Result, error)
}

// Handlers are those of the operations on runs and retries of many results, and those of contract.Runs and contract.Leases.
type Handlers struct{ deps Deps }

// NewHandlers makes Handlers.
func NewHandlers(d Deps) *Handlers { return &Handlers{d} }

// Operations are the operations on runs but ListRows, and retries of many results.
func (h *Handlers) Operations() []api.Handler[access.Caller] {
	return []api.Handler[access.Caller]{
		access.Handle(api.RetryResults, h.retryResults),
		access.Handle(api.CreateRun, h.createRun),
		access.Encoded(api.ListRuns, h.listRuns),
		access.Handle(api.ReadRun, h.readRun),
		access.Change(h.deps.Access, api.PauseRun, h.actOnRun(store.RunPause)),
		access.Change(h.deps.Access, api.ResumeRun, h.actOnRun(store.RunResume)),
		access.Change(h.deps.Access, api.CancelRun, h.actOnRun(store.RunCancel)),
		access.Change(h.deps.Access, api.RetryRun, h.actOnRun(store.RunRetry)),
		access.Change(h.deps.Access, api.SetRunLimits, h.setRunLimits),
	}
}

// rateTime is the time over which the rate of a run is measured (spec: run-members).
const rateTime = 10 * time.Second

// runBody shows a run as it is now (spec: run-members).
func (h *Handlers) runBody(ctx context.Context, account prism.AccountID, r Run) (api.Run, error) {
	body := api.Run{
		ID: r.ID.String(), Name: bodies.Optional(r.Name), Prism: r.Slug, Version: int(r.Version), FileID: r.File.String(), Status: r.Status,
		Reason: bodies.Optional(r.Reason),
		Rows:   r.Rows, OK: r.OK, Failed: r.Failed, Invalid: r.Invalid, Cancelled: r.Cancelled, Pending: r.Pending(),
		Usage:     api.RunUsage{InputTokens: r.Usage.InputTokens, OutputTokens: r.Usage.OutputTokens},
		CreatedAt: api.Time{Time: r.CreatedAt}, StartedAt: bodies.Time(r.StartedAt), FinishedAt: bodies.Time(r.FinishedAt),
	}
	var m mapping
	if strictjson.Unmarshal(r.Mapping, &m) != nil {
		return api.Run{}, errMapping
	}
	if len(m.Labels) > 0 { // spec: run-labels-invalid
		body.Labels = &api.RunLabels{Stored: r.Labels, Invalid: r.InvalidLabels}
	}
	if c := r.Usage.Currency; c != "" && c != SeveralCurrencies {
		body.Usage.Cost, body.Usage.Currency = new(strictjson.Number(r.Usage.Cost.String())), &c
	}
	if r.Status != prism.RunRunning {
		return body, nil
	}
	now := prism.Now(h.deps.Now)
	rows, err := h.deps.Store.RowsSince(ctx, account, r.ID, now.Add(-rateTime))
	if err != nil {
		return api.Run{}, err
	}
	measured := rateTime.Seconds()
	if r.StartedAt != nil {
		measured = min(measured, max(1, now.Sub(*r.StartedAt).Seconds()))
	}
	rate := float64(rows) / measured
	body.RowsPerSecondNow = math.Round(rate*10) / 10
	if rate > 0 {
		body.ETASeconds = new(math.Ceil(float64(r.Pending()) / rate))
	}
	return body, nil
}

func (h *Handlers) createRun(ctx context.Context, c store.Caller, in api.CreateRunRequest) (api.Run, error) {
	n := in.NewRun
	if in.DryRun {
		return api.Run{}, errors.New("runs: the gateway answers the dry run of a run")
	}
	if err := mayLabel(c, n); err != nil {
		return api.Run{}, err
	}
	p, err := h.livePrism(ctx, c.Account, in.Prism)
	if err != nil {
		return api.Run{}, err
	}
	made, err := h.makeRun(ctx, c, p, n)
	if n.MakesFile() && !n.File.IsZero() && made.File != n.File { // the run was not made, or made by an earlier call
		_ = h.dropFile(ctx, c.Account, n.File) // else it expires
	}
	if err != nil {
		return api.Run{}, err
	}
	if made.Prism != p.ID { // by an earlier call with the same idempotency key
		return api.Run{}, apierr.KeyOfAnotherPrism()
	}
	return h.runBody(ctx, c.Account, made)
}

// makeRun makes a run of a prism, or finds the one that was made with its idempotency key (spec: run-idempotency).
func (h *Handlers) makeRun(ctx context.Context, c store.Caller, p prism.Prism, n api.NewRun) (Run, error) {
	if n.IdempotencyKey != "" {
		if made, err := h.deps.Store.RunOfKey(ctx, c.Account, n.IdempotencyKey); !errors.Is(err, store.ErrNotFound) {
			return made, err
		}
	}
	planned, err := h.plan(ctx, c.Account, p, n)
	if err != nil {
		return Run{}, err
	}
	by, err := h.deps.Access.By(c.Actor())
	if err != nil {
		return Run{}, err
	}
	id, err := h.deps.NewID()
	if err != nil {
		return Run{}, err
	}
	mapping, err := strictjson.Marshal(mappingOf(n))
	if err != nil {
		return Run{}, err
	}
	r := Run{
		ID: prism.RunID{UUID: id}, Prism: p.ID, Slug: p.Slug, Version: planned.version.Number, File: n.File, Name: n.Name,
		Mapping: mapping, Key: c.Key, IdempotencyKey: n.IdempotencyKey, PauseAt: api.DefaultPauseAt,
	}
	if n.PauseAt != nil {
		r.PauseAt = *n.PauseAt
	}
	if n.RowsPerSecond != nil {
		r.RowsPerSecond = *n.RowsPerSecond
	}
	if n.Concurrency != nil {
		r.Concurrency = int32(*n.Concurrency) //nolint:gosec // at most 10,000
	}
	made, err := h.deps.Store.CreateRun(ctx, c.Account, r, by)
	return made, access.Translate(err, apierr.FileNotFound())
}

func (h *Handlers) listRuns(ctx context.Context, c store.Caller, in api.ListRunsRequest) ([]byte, error) {
	return bodies.List(contract.ListOfRuns, in.Limit, in.Cursor, func(page store.Page) ([]Run, bool, error) {
		filter := Filter{Status: in.Status}
		if in.Prism != nil {
			p, err := h.deps.Store.Prism(ctx, c.Account, *in.Prism)
			if err != nil {
				return nil, false, err
			}
			filter.Prism = p.ID
		}
		return h.deps.Store.ListRuns(ctx, c.Account, filter, page)
	}, func(r Run) (api.Run, error) { return h.runBody(ctx, c.Account, r) }, func(r Run) prism.UUID { return r.ID.UUID })
}

func (h *Handlers) readRun(ctx context.Context, c store.Caller, in api.RunRequest) (api.Run, error) {
	r, err := h.deps.Store.ReadRun(ctx, c.Account, in.Run)
	if err != nil {
		return api.Run{}, err
	}
	return h.runBody(ctx, c.Account, r)
}

// actOnRun is the handler of an operation that changes the state of a run. Doing it twice is doing it once.
func (h *Handlers) actOnRun(
	action store.Action,
) func(context.Context, prism.AccountID, store.By, api.RunRequest) (api.Run, error) {
	return func(ctx context.Context, account prism.AccountID, by store.By, in api.RunRequest) (api.Run, error) {
		r, err := h.deps.Store.ActOnRun(ctx, account, in.Run, action, by)
		if errors.Is(err, store.ErrFileState) { // a retry whose file was deleted
			return api.Run{}, apierr.FileNotFound()
		}
		if err != nil {
			return api.Run{}, err
		}
		return h.runBody(ctx, account, r)
	}
}

func (h *Handlers) setRunLimits(ctx context.Context, account prism.AccountID, by store.By, in api.SetRunLimitsRequest) (api.Run, error) {
	r, err := h.deps.Store.SetRunLimits(ctx, account, in.Run, in.RunLimits, by)
	if err != nil {
		return api.Run{}, err
	}
	return h.runBody(ctx, account, r)
}

// retryLimit ends before the caller stops waiting, who is then told that nothing is retried.
const retryLimit = api.RetryWait - time.Second

// retryResults counts what matches. The store compares the count again when it stores the retry; that one decides.
func (h *Handlers) retryResults(ctx context.Context, c store.Caller, in api.RetryResultsRequest) (api.Retrying, error) {
	ctx, cancel := context.WithTimeout(ctx, retryLimit)
	defer cancel()
	p, err := h.deps.Store.Prism(ctx, c.Account, prism.ParseRef(in.Prism))
	if err != nil {
		return api.Retrying{}, err
	}
	if p.ArchivedAt != nil {
		return api.Retrying{}, apierr.PrismArchived()
	}
	if p.AdHoc {
		return api.Retrying{}, apierr.AdHocPrism()
	}
	r := Retry{Account: c.Account, Prism: p.ID, Slug: p.Slug, Key: c.Key, From: bodies.Bound(in.From), To: bodies.Bound(in.To)}
	if r.By = search.SentBy(in.SearchMembers); r.By != nil {
		f, err := h.deps.Searches.Narrow(ctx, c.Account, p, store.Filter{Prism: p.ID, Status: prism.Failed, From: r.From, To: r.To}, api.ResultSearch(in.SearchMembers))
		if err == nil {
			r.Among, err = h.deps.Searches.All(ctx, c.Account, f, api.MaxRetried+1)
		}
		if err != nil {
			return api.Retrying{}, err
		}
	}
	matches, underWay, err := h.deps.Store.CountRetry(ctx, r)
	switch {
	case err != nil:
		return api.Retrying{}, err
	case underWay && !in.DryRun:
		return api.Retrying{}, apierr.AreRetried()
	case matches > api.MaxRetried:
		return api.Retrying{}, apierr.TooManyMatch(api.MaxRetried)
	case in.DryRun:
		return api.Retrying{Retrying: int(matches)}, nil
	case in.Expect == nil || matches != int64(*in.Expect):
		return api.Retrying{}, apierr.MatchNow(matches)
	case matches == 0:
		return api.Retrying{}, nil
	}
	return api.Retrying{Retrying: int(matches)}, h.addRetry(ctx, r, matches, c.Actor())
}

// addRetry stores a retry, which workers then lease.
func (h *Handlers) addRetry(ctx context.Context, r Retry, expected int64, actor store.Actor) error {
	by, err := h.deps.Access.By(actor)
	if err != nil {
		return err
	}
	r.ID = prism.RunID{UUID: by.Entry}
	crash.At(crash.BeforeCommit)
	err = h.deps.Store.AddRetry(ctx, r, expected, by)
	var match *store.MatchError
	switch {
	case errors.As(err, &match):
		return apierr.MatchNow(match.Matches)
	case errors.Is(err, store.ErrRetrying):
		return apierr.AreRetried()
	case err == nil:
		crash.At(crash.AfterCommit)
	}
	return err
}

// retriesOf are the rows of a leased chunk of a retry.
func retriesOf(l *LeasedChunk) (rows []contract.ChunkRow) {
	for _, r := range l.Retried {
		rows = append(rows, contract.ChunkRow{
			Row: r.Row, ID: prism.RowResultID(l.BegunAt, l.Run.ID, r.Row, 1), RetryOf: &r.ID,
			Fields: r.Fields, Ref: r.Ref, Context: r.Context,
		})
	}
	return rows
}
