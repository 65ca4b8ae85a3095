package service

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/store"
)

// rateTime is the time over which the rate of a run is measured (spec: run-members).
const rateTime = 10 * time.Second

// The body of a run (spec: run-members).
type (
	runBody struct {
		ID            prism.RunID        `json:"id"`
		Name          *string            `json:"name"`
		Prism         string             `json:"prism"`
		Version       int32              `json:"version"`
		File          prism.FileID       `json:"file_id"`
		Status        contract.RunStatus `json:"status"`
		Reason        *string            `json:"reason"`
		Rows          int64              `json:"rows"`
		OK            int64              `json:"ok"`
		Failed        int64              `json:"failed"`
		Invalid       int64              `json:"invalid"`
		Cancelled     int64              `json:"cancelled"`
		Pending       int64              `json:"pending"`
		Labels        *runLabelsBody     `json:"labels"`
		RowsPerSecond float64            `json:"rows_per_second_now"`
		ETASeconds    *int64             `json:"eta_seconds"`
		Usage         runUsageBody       `json:"usage"`
		CreatedAt     string             `json:"created_at"`
		StartedAt     *string            `json:"started_at"`
		FinishedAt    *string            `json:"finished_at"`
	}
	// runLabelsBody is how many cells are labels of rows that are ok, and how many are none (spec: run-labels-invalid).
	runLabelsBody struct {
		Stored  int64 `json:"stored"`
		Invalid int64 `json:"invalid"`
	}
	runUsageBody struct {
		InputTokens  int64       `json:"input_tokens"`
		OutputTokens int64       `json:"output_tokens"`
		Cost         *prism.Cost `json:"cost"`
		Currency     *string     `json:"currency"`
	}
)

// runBody shows a run as it is now.
func (s *Service) runBody(ctx context.Context, account prism.AccountID, r store.Run) (runBody, error) {
	body := runBody{
		ID: r.ID, Name: optional(r.Name), Prism: r.Slug, Version: r.Version, File: r.File, Status: r.Status, Reason: optional(r.Reason),
		Rows: r.Rows, OK: r.OK, Failed: r.Failed, Invalid: r.Invalid, Cancelled: r.Cancelled, Pending: r.Pending(),
		Usage:     runUsageBody{InputTokens: r.Usage.InputTokens, OutputTokens: r.Usage.OutputTokens},
		CreatedAt: prism.FormatTime(r.CreatedAt), StartedAt: optionalTime(r.StartedAt), FinishedAt: optionalTime(r.FinishedAt),
	}
	var m mapping
	if strictjson.Unmarshal(r.Mapping, &m) != nil {
		return runBody{}, errMapping
	}
	if len(m.Labels) > 0 {
		body.Labels = &runLabelsBody{r.Labels, r.InvalidLabels}
	}
	if c := r.Usage.Currency; c != "" && c != store.SeveralCurrencies {
		body.Usage.Cost, body.Usage.Currency = &r.Usage.Cost, &c
	}
	if r.Status != contract.RunRunning {
		return body, nil
	}
	now := prism.Now(s.Now)
	rows, err := s.Store.RowsSince(ctx, account, r.ID, now.Add(-rateTime))
	if err != nil {
		return runBody{}, err
	}
	measured := rateTime.Seconds()
	if r.StartedAt != nil {
		measured = min(measured, max(1, now.Sub(*r.StartedAt).Seconds()))
	}
	rate := float64(rows) / measured
	body.RowsPerSecond = math.Round(rate*10) / 10
	if rate > 0 {
		eta := int64(math.Ceil(float64(r.Pending()) / rate))
		body.ETASeconds = &eta
	}
	return body, nil
}

// CreateRun implements contract.Runs.
func (s *Service) CreateRun(
	ctx context.Context, key contract.KeyDigest, ref prism.Ref, n contract.NewRun,
) (contract.Response, error) {
	return s.respond(ctx, key, createRun, nil, func(c store.Caller) (any, error) {
		if err := mayLabel(c, n); err != nil {
			return nil, err
		}
		p, err := s.livePrism(ctx, c.Account, ref)
		if err != nil {
			return nil, err
		}
		made, err := s.createRun(ctx, c, p, n)
		if n.FromLabelsOf != 0 && !n.File.IsZero() && made.File != n.File { // the run was not made, or made by an earlier call
			_ = s.dropFile(ctx, c.Account, n.File) // else it expires
		}
		if err != nil {
			return nil, err
		}
		return s.madeRun(ctx, c.Account, p.ID, made)
	})
}

// createRun makes a run of a prism, or finds the one that was made with its idempotency key (spec: run-idempotency).
func (s *Service) createRun(ctx context.Context, c store.Caller, p prism.Prism, n contract.NewRun) (store.Run, error) {
	if n.IdempotencyKey != "" {
		if made, err := s.Store.RunOfKey(ctx, c.Account, n.IdempotencyKey); !errors.Is(err, store.ErrNotFound) {
			return made, err
		}
	}
	planned, err := s.plan(ctx, c.Account, p, n)
	if err != nil {
		return store.Run{}, err
	}
	by, err := s.By(c.Actor())
	if err != nil {
		return store.Run{}, err
	}
	id, err := s.NewID()
	if err != nil {
		return store.Run{}, err
	}
	mapping, err := strictjson.Marshal(mappingOf(n))
	if err != nil {
		return store.Run{}, err
	}
	r := store.Run{
		ID: prism.RunID{UUID: id}, Prism: p.ID, Slug: p.Slug, Version: planned.version.Number, File: n.File, Name: n.Name,
		Mapping: mapping, Key: c.Key, IdempotencyKey: n.IdempotencyKey, PauseAt: contract.DefaultPauseAt,
	}
	if n.PauseAt != nil {
		r.PauseAt = *n.PauseAt
	}
	if n.RowsPerSecond != nil {
		r.RowsPerSecond = *n.RowsPerSecond
	}
	if n.Concurrency != nil {
		r.Concurrency = *n.Concurrency
	}
	made, err := s.Store.CreateRun(ctx, c.Account, r, by)
	return made, translate(err, apierr.FileNotFound())
}

// madeRun shows a run of a prism that was made now, or by an earlier call with the same idempotency key.
func (s *Service) madeRun(ctx context.Context, account prism.AccountID, of prism.PrismID, made store.Run) (any, error) {
	if made.Prism != of {
		return nil, apierr.KeyOfAnotherPrism()
	}
	return s.runBody(ctx, account, made)
}

// ListRuns implements contract.Runs.
func (s *Service) ListRuns(ctx context.Context, key contract.KeyDigest, q contract.RunList) (contract.Response, error) {
	return s.manage(ctx, key, listRuns, apierr.PrismNotFound(), func(account prism.AccountID) (any, error) {
		page, err := storePage(contract.ListOfRuns, q.Page.Limit, q.Page.Cursor)
		if err != nil {
			return nil, err
		}
		filter := store.RunFilter{Status: q.Status}
		if q.Prism != nil {
			p, err := s.Store.Prism(ctx, account, *q.Prism)
			if err != nil {
				return nil, err
			}
			filter.Prism = p.ID
		}
		runs, more, err := s.Store.ListRuns(ctx, account, filter, page)
		if err != nil {
			return nil, err
		}
		return newListBody(contract.ListOfRuns, runs, more, func(r store.Run) (strictjson.Value, error) {
			body, err := s.runBody(ctx, account, r)
			if err != nil {
				return nil, err
			}
			return strictjson.Marshal(body)
		}, func(r store.Run) prism.UUID { return r.ID.UUID })
	})
}

// FileRun implements contract.Runs.
func (s *Service) FileRun(ctx context.Context, key contract.KeyDigest, id prism.RunID) (contract.Response, error) {
	return s.manage(ctx, key, readRun, apierr.RunNotFound(), func(account prism.AccountID) (any, error) {
		r, err := s.Store.ReadRun(ctx, account, id)
		if err != nil {
			return nil, err
		}
		return s.runBody(ctx, account, r)
	})
}

// ActOnRun implements contract.Runs.
func (s *Service) ActOnRun(
	ctx context.Context, key contract.KeyDigest, id prism.RunID, a contract.RunAction,
) (contract.Response, error) {
	return s.changeRun(ctx, key, actOnRun, func(account prism.AccountID, by store.By) (store.Run, error) {
		return s.Store.ActOnRun(ctx, account, id, a, by)
	})
}

// SetRunLimits implements contract.Runs.
func (s *Service) SetRunLimits(
	ctx context.Context, key contract.KeyDigest, id prism.RunID, l contract.RunLimits,
) (contract.Response, error) {
	return s.changeRun(ctx, key, setRunLimits, func(account prism.AccountID, by store.By) (store.Run, error) {
		return s.Store.SetRunLimits(ctx, account, id, l, by)
	})
}

func (s *Service) changeRun(
	ctx context.Context, key contract.KeyDigest, op operation, change func(prism.AccountID, store.By) (store.Run, error),
) (contract.Response, error) {
	return s.alter(ctx, key, op, apierr.RunNotFound(), func(account prism.AccountID, by store.By) (any, error) {
		r, err := change(account, by)
		if errors.Is(err, store.ErrFileState) { // a retry whose file was deleted
			return nil, apierr.FileNotFound()
		}
		if err != nil {
			return nil, err
		}
		return s.runBody(ctx, account, r)
	})
}
