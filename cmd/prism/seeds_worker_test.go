package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/pkg/prism"
)

// seededWorker is what a worker sees of results and of the model until it dies.
type seededWorker struct {
	contract.Results
	h    *seeded
	kill context.CancelFunc

	mu       sync.Mutex
	at       crash.Point
	after    int // times that the point is passed
	dead     bool
	underWay map[string]bool // rows that were asked and are not saved
}

// renewing is a step at which no worker dies.
const renewing crash.Point = "renewing"

// errCut is a call whose response does not come.
var errCut = errors.New("the connection was cut")

// pass tells whether the worker lives behind a point.
func (w *seededWorker) pass(p crash.Point) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dead || p != w.at {
		return !w.dead
	}
	if w.after--; w.after >= 0 {
		return true
	}
	w.dead = true
	w.kill()
	w.h.mu.Lock()
	defer w.h.mu.Unlock()
	w.h.deaths++
	for text := range w.underWay {
		w.h.excused[text]++
	}
	return false
}

// over is a call over a connection that may break: before the call or behind it, or the call comes later than its caller waits.
func over[T any](w *seededWorker, call func() (T, error)) (none T, err error) {
	h := w.h
	switch {
	case h.chance(4):
		h.count(&h.lost)
		<-time.After(h.upTo(time.Second))
		return none, contract.ErrUnavailable
	case h.chance(4):
		h.count(&h.late)
		h.later.Go(func() {
			<-time.After(h.upTo(90 * time.Second))
			_, _ = call()
		})
		return none, errCut
	}
	result, err := call()
	if h.chance(4) {
		h.count(&h.unanswered)
		return none, errCut
	}
	return result, err
}

func (w *seededWorker) LeaseChunk(ctx context.Context, worker prism.UUID) (*contract.Chunk, error) {
	if !w.pass(crash.BeforeLease) {
		return nil, errCut
	}
	ctx = context.WithoutCancel(ctx)
	c, err := over(w, func() (*contract.Chunk, error) { return w.Results.LeaseChunk(ctx, worker) })
	if c != nil && !w.pass(crash.AfterLease) {
		return nil, errCut
	}
	return c, err
}

func (w *seededWorker) RenewLeases(ctx context.Context, leases []contract.Lease) ([]contract.LeaseState, error) {
	if !w.pass(renewing) {
		return nil, errCut
	}
	ctx = context.WithoutCancel(ctx)
	return over(w, func() ([]contract.LeaseState, error) { return w.Results.RenewLeases(ctx, leases) })
}

func (w *seededWorker) SaveRows(ctx context.Context, rows contract.SaveRows) error {
	if !w.pass(crash.BeforeRows) {
		return errCut
	}
	ctx = context.WithoutCancel(ctx)
	_, err := over(w, func() (struct{}, error) {
		err := w.Results.SaveRows(ctx, rows)
		if err == nil {
			w.saved(rows.Rows)
		}
		return struct{}{}, err
	})
	if err == nil && !w.pass(crash.AfterRows) {
		return errCut
	}
	return err
}

func (w *seededWorker) saved(rows []contract.RowOutcome) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, o := range rows {
		if o.Save != nil {
			delete(w.underWay, o.Save.Fields[0].Value)
		}
	}
}

// oneAnswer divides the number of an answer, so that it is a part of a probability that a float64 and its decimal form keep exactly.
const oneAnswer = 1 << 24

// Check implements contract.Models.
func (w *seededWorker) Check(context.Context, string) (contract.ModelCheck, error) {
	return contract.ModelCheck{}, contract.ErrUnavailable
}

// States implements contract.Models.
func (*seededWorker) States(context.Context) ([]api.ModelState, error) {
	return nil, contract.ErrUnavailable
}

// List implements contract.Models.
func (w *seededWorker) List(context.Context) ([]api.Model, error) {
	return []api.Model{{Name: "counting", Default: true}}, nil
}

// Ask implements contract.Models. No two answers are equal.
func (w *seededWorker) Ask(ctx context.Context, a contract.Ask) (contract.Outcome, error) {
	text := a.Fields[0].Value
	if !w.pass(crash.BeforeModel) || w.h.chance(2) || !w.begin(text) {
		return contract.Outcome{}, contract.ErrUnavailable
	}
	took := 5*time.Millisecond + w.h.upTo(200*time.Millisecond)
	if w.h.chance(2) {
		took += w.h.upTo(8 * time.Second)
	}
	<-time.After(took)
	if !w.pass(crash.AfterModel) || w.h.chance(1) {
		return contract.Outcome{}, errCut
	}
	o := contract.Outcome{TookMS: took.Milliseconds(), Overloaded: w.h.chance(2)}
	if w.h.chance(12) {
		o.Error = "The model refused."
		return o, nil
	}
	w.h.mu.Lock()
	defer w.h.mu.Unlock()
	o.Answers = fmt.Appendf(nil, `{"urgent":{"type":"yes_no","probability":%v}}`, 0.5+float64(len(w.h.answers))/oneAnswer)
	w.h.answers = append(w.h.answers, text)
	return o, nil
}

// begin begins a model call, unless the worker has died.
func (w *seededWorker) begin(text string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dead {
		return false
	}
	w.underWay[text] = true
	w.h.mu.Lock()
	defer w.h.mu.Unlock()
	w.h.asked[text]++
	return true
}
