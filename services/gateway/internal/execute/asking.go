package execute

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/gateway/internal/checks"
)

// askLimit is the model wait, which model-proxy enforces, and the hop to model-proxy.
const askLimit = contract.ModelWait + 500*time.Millisecond

// Asking is what asking the model takes, for calls and for rows of runs. All are required.
type Asking struct {
	Models    contract.Models
	Estimator Estimator
	Quota     Quota
	Log       *slog.Logger
}

// Estimator makes the size estimates of a call. Those of large inputs wait for a turn of the call's account (spec: turns-of-work).
type Estimator interface {
	SizerForCall(ctx context.Context) checks.Sizer
}

// Quota bounds the results that an account saves.
type Quota interface {
	// MaySave returns an error for the caller if the account is full (spec: full-account).
	MaySave(account prism.AccountID) error
	// TakeResult counts a result of the day, or returns an error for the caller. giveBack takes the count back (spec: limit-of-results).
	TakeResult(ctx context.Context, account prism.AccountID) (giveBack func(), err error)
}

// answer counts the attempt's result, asks the model, and returns the result to save. When the result is not saved after all,
// giveBack takes the count back.
func (a *Asking) answer(
	ctx context.Context, at *checks.Attempt, id prism.ResultID, background bool,
) (save contract.Save, giveBack func(), err error) {
	giveBack, err = a.Quota.TakeResult(ctx, at.Account)
	if err != nil {
		return contract.Save{}, nil, err
	}
	crash.At(crash.BeforeModel)
	outcome, err := a.ask(ctx, at.Input, background)
	if err != nil {
		giveBack()
		return contract.Save{}, nil, err
	}
	crash.At(crash.AfterModel)
	var adHoc *prism.Definition
	if at.AdHoc {
		adHoc = &at.Input.Version.Definition
	}
	return contract.Save{
		AdHoc:          adHoc,
		Names:          at.Names,
		Account:        at.Account,
		ID:             id,
		Prism:          at.Prism,
		Version:        at.Input.Version.Number,
		Ref:            at.Input.Ref,
		Context:        at.Input.Context,
		Fields:         at.Input.Fields,
		IdempotencyKey: at.IdempotencyKey,
		RetryOf:        at.RetryOf,
		Key:            at.Key,
		Outcome:        outcome,
	}, giveBack, nil
}

// ask returns an error only if the model was not called. After a lost response, model-proxy may have called the model,
// so that is a failed result.
func (a *Asking) ask(ctx context.Context, in contract.Input, background bool) (contract.Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	started := time.Now()
	outcome, err := a.Models.Ask(ctx, contract.Ask{
		Definition: in.Version.Definition, Hash: in.Version.Hash, Fields: in.Fields, Context: in.Context,
		Background: background,
	})
	switch {
	case err == nil:
		return outcome, nil
	case errors.Is(err, contract.ErrUnavailable):
		return contract.Outcome{}, apierr.Unavailable()
	}
	took := time.Since(started)
	a.Log.WarnContext(ctx, "model-proxy sent no response", "error", err, "took", took)
	failed := contract.Outcome{Error: contract.UnreachableText, TookMS: took.Milliseconds()}
	if took >= contract.ModelWait {
		failed.Error, failed.Overloaded = contract.TimeoutText, true
	}
	return failed, nil
}
