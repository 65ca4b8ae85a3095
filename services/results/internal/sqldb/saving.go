package sqldb

import (
	"github.com/prism-results/prism/pkg/prism"
)

// The statements of the saves that both databases share.
const (
	// RunColumns are the columns of results that only results of runs have.
	RunColumns = `, run_id, run_row`

	// InsertColumns are the columns that an insert of a result writes.
	InsertColumns = `account_id, id, prism_id, version, ref, context, fields, status, error, took_ms, created_at, answers,
	key_id, model, input_tokens, output_tokens, cost, currency, call, idempotency_key, retry_of`

	// SavedResult selects what Row.Saved reads.
	SavedResult = `-- name: SavedResult :one
SELECT ` + PrismState + `, ` + Fixed + Input + `
FROM results r
JOIN prisms p ON p.account_id = r.account_id AND p.id = r.prism_id
WHERE r.account_id = $1 AND r.id = $2`

	// KeyHeld tells whether a result has the idempotency key.
	KeyHeld = `-- name: KeyHeld :one
SELECT EXISTS (SELECT 1 FROM results WHERE account_id = $1 AND idempotency_key = $2)`
)

// Arguments are the values of the InsertColumns from account_id to call, and more.
func Arguments(account prism.AccountID, r prism.Result, more ...any) ([]any, error) {
	fields, err := Encode(r.Fields)
	if err != nil {
		return nil, err
	}
	failure := &r.Error // null exactly if the result is ok, which the table checks
	if r.Status == prism.OK {
		failure = Nullable(r.Error)
	}
	c, err := encodeCall(r)
	if err != nil {
		return nil, err
	}
	return append([]any{
		account.UUID, r.ID.UUID, r.Prism.UUID, r.Version, r.Ref, r.Context, fields, string(r.Status), failure, r.TookMS,
		r.CreatedAt, r.Answers, c.key, c.model, c.usage.InputTokens, c.usage.OutputTokens, c.usage.Cost, Nullable(c.usage.Currency),
		c.other,
	}, more...), nil
}
