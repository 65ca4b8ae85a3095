package sqlstore

import (
	"context"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

const selectRecord = `-- name: Record :one
SELECT ` + sqldb.PrismState + `, ` + sqldb.Fixed + sqldb.Input + `, r.retry_of,
	r.key_id, r.model, r.input_tokens, r.output_tokens, r.cost, r.currency, r.call, r.run_id, r.run_row
FROM results r
JOIN prisms p ON p.account_id = r.account_id AND p.id = r.prism_id
WHERE r.account_id = $1 AND r.id = $2`

// Record implements store.Results.
func (s Statements) Record(ctx context.Context, account prism.AccountID, id prism.ResultID) (record store.Record, err error) {
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
