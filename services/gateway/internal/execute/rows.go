package execute

import (
	"context"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/gateway/internal/checks"
	"github.com/prism-results/prism/services/gateway/internal/request"
)

// Rows answers rows of runs as the create calls that they stand for (spec: rows-are-calls).
type Rows struct {
	Asking
	// Enter counts a row as a request of its account, until leave.
	Enter func(ctx context.Context, account prism.AccountID) (leave func(), err error)
}

var _ contract.Rows = (*Rows)(nil)

// AnswerRow implements contract.Rows. Its steps have the order of a call: what the body says, the limits of the account, the
// other checks, the model. The end of ctx does not end the model call: its answer is still saved.
func (r *Rows) AnswerRow(ctx context.Context, facts contract.RowFacts, row contract.ChunkRow) (contract.RowOutcome, error) {
	ctx = fair.With(context.WithoutCancel(ctx), facts.Account.String())
	outcome := contract.RowOutcome{Row: row.Row, Invalid: row.Invalid}
	if row.Invalid != "" {
		return outcome, nil
	}
	save, err := r.answerRow(ctx, facts, row)
	if err == nil {
		outcome.Save = &save
	} else if message, invalid := request.RefusesRow(err); invalid {
		outcome.Invalid, err = message, nil
	}
	return outcome, err
}

func (r *Rows) answerRow(ctx context.Context, facts contract.RowFacts, row contract.ChunkRow) (contract.Save, error) {
	sent, err := request.Row(row.Fields, row.Ref, row.Context)
	if err != nil {
		return contract.Save{}, err
	}
	leave, err := r.Enter(ctx, facts.Account)
	if err != nil {
		return contract.Save{}, err
	}
	defer leave()
	decision, err := checks.Create(sent, contract.CreateFacts{
		Account: facts.Account, Key: facts.Key, Prism: facts.Prism, Archived: facts.Archived, Version: &facts.Version,
	}, r.Estimator.SizerForCall(ctx))
	if err != nil {
		return contract.Save{}, err
	}
	if err := r.Quota.MaySave(facts.Account); err != nil {
		return contract.Save{}, err
	}
	at := decision.Attempt // there is no idempotency key, so there is no stored response
	at.RetryOf = row.RetryOf
	save, _, err := r.answer(ctx, at, row.ID, true)
	return save, err
}
