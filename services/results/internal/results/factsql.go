package results

import (
	"context"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// SQL keeps results in a database, which itself saves those of calls and of their retries.
type SQL struct{ sqldb.Database }

// The look-ups. Each is one statement, and so one snapshot. None reads a row if the API key is unknown or revoked.
const (
	createFactsBySlug = selectAsked + fromAsked + "q.slug = $2" + sqldb.WhereKey
	createFactsByID   = selectAsked + fromAsked + "q.id = $2" + sqldb.WhereKey
	keyedFactsBySlug  = selectAsked + selectHolder + fromAsked + "q.slug = $2" + fromHolder + sqldb.WhereKey
	keyedFactsByID    = selectAsked + selectHolder + fromAsked + "q.id = $2" + fromHolder + sqldb.WhereKey

	selectAsked = `-- name: CreateFacts :one
SELECT ` + sqldb.CallerColumns + `, q.id, q.slug, q.pins, q.archived_at IS NOT NULL, q.latest_version, q.lens, q.versions_hash`
	selectHolder = `, ` + sqldb.PrismState + `, ` + sqldb.Fixed + sqldb.Retries + `,
	CASE WHEN r.status = 'failed' OR $4 THEN r.context END, CASE WHEN r.status = 'failed' OR $4 THEN r.fields END`
	fromAsked = `
FROM api_keys k
LEFT JOIN prisms q ON q.account_id = k.account_id AND `
	// The condition on the idempotency key mentions the row of the API key, although whereKey has the same condition, so that
	// Postgres cannot evaluate it without the condition on the account. Until the statistics count results with keys, the index of
	// keys looks empty, and the planner would read the whole index for the key alone.
	fromHolder = `
LEFT JOIN results r ON r.account_id = k.account_id
	AND r.idempotency_key = CASE WHEN k.revoked_at IS NULL THEN CAST($3 AS text) END
LEFT JOIN prisms p ON p.account_id = r.account_id AND p.id = r.prism_id`

	resultFacts             = resultFactsBeforeInput + sqldb.Input + resultFactsAfterInput
	resultFactsWithoutInput = resultFactsBeforeInput + resultFactsAfterInput

	resultFactsBeforeInput = `-- name: ResultFacts :one
SELECT ` + sqldb.CallerColumns + `, ` + sqldb.PrismState + `, ` + sqldb.Fixed
	resultFactsAfterInput = `
FROM api_keys k
LEFT JOIN results r ON r.account_id = k.account_id AND r.id = $2
LEFT JOIN prisms p ON p.account_id = r.account_id AND p.id = r.prism_id` + sqldb.WhereKey
)

// CreateFacts implements Store.
func (s SQL) CreateFacts(ctx context.Context, q contract.CreateQuery) (store.CreateFacts, error) {
	texts, ref := [2]string{createFactsBySlug, keyedFactsBySlug}, any(q.Prism.Slug)
	if q.Prism.Slug == "" {
		texts, ref = [2]string{createFactsByID, keyedFactsByID}, q.Prism.ID.UUID
	}
	text, args := texts[0], []any{q.Key[:], ref}
	keyed := q.IdempotencyKey != ""
	if keyed {
		text, args = texts[1], append(args, q.IdempotencyKey, q.Format.Tabular())
	}
	var facts store.CreateFacts
	err := s.LookUp(ctx, sqldb.Query("create_facts", text, args...), func(r *sqldb.Row) {
		facts.Caller = r.Caller()
		p := r.PrismState()
		facts.Prism, facts.Version = sqldb.JoinedRow(p, p.ID.UUID), asked(q.Version, p.Latest)
		if keyed {
			saved := r.Saved(store.WithInput)
			facts.Stored, facts.StoredPrism = sqldb.JoinedRow(saved.Result, saved.Result.ID.UUID), sqldb.JoinedRow(saved.Prism, saved.Prism.ID.UUID)
		}
	})
	if err == nil && facts.Stored != nil && facts.Stored.Status == prism.OK { // the repeat returns it
		err = s.Confirm(ctx, facts.Caller.Account, facts.Stored.ID)
	}
	if err != nil {
		return store.CreateFacts{}, err
	}
	return facts, nil
}

// asked returns the number of the version that a call asks for: the latest one for 0. It returns 0 if there is no such version. The
// versions of a prism are numbered from 1 without a gap, and none is deleted.
func asked(number, latest int32) int32 {
	switch {
	case number == 0:
		return latest
	case number > latest:
		return 0
	}
	return number
}

// ResultFacts implements Store.
func (s SQL) ResultFacts(
	ctx context.Context, key contract.KeyDigest, id prism.ResultID, in store.Input,
) (store.ResultFacts, error) {
	text := resultFactsWithoutInput
	if in == store.WithInput {
		text = resultFacts
	}
	var facts store.ResultFacts
	err := s.LookUp(ctx, sqldb.Query("result_facts", text, key[:], id.UUID), func(r *sqldb.Row) {
		facts.Caller = r.Caller()
		saved := r.Saved(in)
		facts.Result, facts.Prism = sqldb.JoinedRow(saved.Result, saved.Result.ID.UUID), sqldb.JoinedRow(saved.Prism, saved.Prism.ID.UUID)
	})
	if err != nil {
		return store.ResultFacts{}, err
	}
	return facts, nil
}

const selectRecord = `-- name: Record :one
SELECT ` + sqldb.PrismState + `, ` + sqldb.Fixed + sqldb.Input + `, r.retry_of,
	r.key_id, r.model, r.input_tokens, r.output_tokens, r.cost, r.currency, r.call, r.run_id, r.run_row
FROM results r
JOIN prisms p ON p.account_id = r.account_id AND p.id = r.prism_id
WHERE r.account_id = $1 AND r.id = $2`

// Record implements Store.
func (s SQL) Record(ctx context.Context, account prism.AccountID, id prism.ResultID) (record store.Record, err error) {
	args := []any{account.UUID, id.UUID}
	err = s.Run(ctx, sqldb.Query("record", selectRecord, args...), sqldb.ReadRow(&record, readRecord))
	return record, err
}

func readRecord(r *sqldb.Row) store.Record {
	record := store.Record{Saved: r.Saved(store.WithInput)}
	if of := r.UUID(); !of.IsZero() {
		record.RetryOf = &prism.ResultID{UUID: of}
	}
	record.Result.Key, record.Result.Call = prism.KeyID{UUID: r.UUID()}, r.ModelCall()
	if run := r.UUID(); !run.IsZero() {
		record.Run = &prism.RunID{UUID: run}
	}
	record.RunRow = r.Int()
	return record
}
