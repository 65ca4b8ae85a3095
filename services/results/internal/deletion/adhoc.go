package deletion

import (
	"context"
	"errors"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/drift"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// An ad-hoc prism ends with its last result (spec: adhoc-kept).
const (
	// These two are completed by Locking.
	lockAdHoc   = `SELECT r.id FROM prisms r WHERE r.account_id = $1 AND r.id = $2 AND r.ad_hoc`
	lockAdHocOf = `SELECT r.id FROM prisms r
WHERE r.account_id = $1 AND r.ad_hoc AND r.id = (SELECT d.prism_id FROM results d WHERE d.account_id = $1 AND d.id = $2)`
	hasResults     = `SELECT EXISTS (SELECT 1 FROM results WHERE account_id = $1 AND prism_id = $2)`
	endAdHoc       = `UPDATE prisms SET archived_at = $3, lens = $4, pins = NULL WHERE account_id = $1 AND id = $2 AND archived_at IS NULL`
	deleteVersions = `DELETE FROM versions WHERE account_id = $1 AND prism_id = $2`
)

// lockAdHocPrism locks a prism that is ad hoc until the transaction ends: text is lockAdHoc or lockAdHocOf. It reports false of any other.
func (s SQL) lockAdHocPrism(ctx context.Context, run sqldb.Run, text string, account prism.AccountID, id prism.UUID) (bool, error) {
	err := run(ctx, sqldb.Statement{Text: text + s.Locking(false), Args: []any{account.UUID, id}}, sqldb.SomeRow)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// endEmptyAdHoc ends an ad-hoc prism, which is locked, if it has no result.
func (s SQL) endEmptyAdHoc(ctx context.Context, run sqldb.Run, account prism.AccountID, id prism.UUID, by store.By) error {
	key := []any{account.UUID, id}
	var has bool
	err := run(ctx, sqldb.Statement{Text: hasResults, Args: key}, sqldb.ReadRow(&has, (*sqldb.Row).Bool))
	if err != nil || has {
		return err
	}
	empty, err := sqldb.Encode(prism.Lens{Columns: []prism.Column{}})
	if err != nil {
		return err
	}
	for _, st := range []sqldb.Statement{
		{Text: endAdHoc, Args: append(key[:2:2], by.At, empty)},
		{Text: deleteVersions, Args: key},
		{Text: removeDeletion, Args: key}, // its retention
	} {
		if err := run(ctx, st, sqldb.NoRow); err != nil {
			return err
		}
	}
	return drift.Forget(ctx, run, key)
}
