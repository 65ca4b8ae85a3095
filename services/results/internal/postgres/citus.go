package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// What a database of the layout Citus does in another way than one Postgres.

// accountsOfKeys has whose the keys are that were looked up last. The account of a key never changes, and a key that is unknown is not kept.
type accountsOfKeys = lru.Cache[contract.KeyDigest, prism.UUID]

// keptKeys bounds accountsOfKeys: about 10 MiB.
const keptKeys = 100_000

func newAccountsOfKeys() (*accountsOfKeys, error) {
	return lru.New[contract.KeyDigest, prism.UUID](keptKeys)
}

const accountOfKey = `-- name: AccountOfKey :one
SELECT account_id FROM api_keys WHERE digest = $1`

// lookUpOnNode is LookUp with the account of the key, by which Citus finds the one node that has its rows. Whether the key is valid is still
// what the statement itself finds.
func (d *database) lookUpOnNode(ctx context.Context, s sqldb.Statement, read func(*sqldb.Row)) error {
	if strings.HasSuffix(s.Text, sqldb.WhereKey) {
		digest := contract.KeyDigest(s.Args[0].([]byte)) //nolint:forcetypeassert // what WhereKey compares
		account, kept := d.keys.Get(digest)
		if !kept {
			if err := d.find(ctx, s.Operation, accountOfKey, s.Args[:1], func(r *sqldb.Row) { account = r.UUID() }); err != nil || account.IsZero() {
				return err
			}
			d.keys.Add(digest, account)
		}
		s.Args = append(s.Args[:len(s.Args):len(s.Args)], account)
		s.Text = withAccount(s.Text, len(s.Args))
	}
	return d.find(ctx, s.Operation, s.Text, s.Args, read)
}

// withAccount has the account of a key k be a parameter wherever a look-up names it: Citus does not infer it behind outer joins.
func withAccount(text string, parameter int) string {
	account := fmt.Sprintf("CAST($%d AS uuid)", parameter)
	return strings.ReplaceAll(text, "k.account_id", account) + " AND k.account_id = " + account
}

// find executes a statement that finds one row or none.
func (d *database) find(ctx context.Context, operation, text string, args []any, read func(*sqldb.Row)) error {
	err := d.alone(ctx, d.read, operation, &call{ctx: ctx, statement: text, args: args, targets: []any{first(read)}})
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return readError(operation, err)
}

// shardsToFold has an account of each shard whose tails have rows.
const shardsToFold = `-- name: ShardsToFold :many
WITH waiting AS MATERIALIZED (
	SELECT DISTINCT account_id FROM (
		SELECT account_id FROM tail UNION ALL SELECT account_id FROM event_tail
		UNION ALL SELECT account_id FROM usage_tail UNION ALL SELECT account_id FROM stored_bytes_tail
	) t
)
SELECT min(account_id::text)::uuid FROM waiting GROUP BY get_shard_id_for_distribution_column('tail', account_id)`

// foldShards folds shard by shard, each on its node. Another process may fold one at the same time: with wait it is waited for.
func (d *database) foldShards(ctx context.Context, wait bool) error {
	var accounts []prism.UUID
	err := d.do(ctx, fair.Yielding, "fold", func(ctx context.Context, conn *pgxpool.Conn) error {
		rows, err := conn.Query(ctx, shardsToFold)
		if err != nil {
			return err
		}
		accounts, err = pgx.CollectRows(rows, pgx.RowTo[prism.UUID])
		return err
	})
	if err != nil {
		return err
	}
	for _, account := range accounts {
		for more := true; more; {
			err := d.do(ctx, fair.Yielding, "fold", func(ctx context.Context, conn *pgxpool.Conn) error {
				return conn.QueryRow(ctx, "SELECT prism_fold_1($1, $2, $3)", account, int64(foldedRows), wait).Scan(&more)
			})
			if err != nil {
				return err
			}
			crash.At(crash.AfterFold)
		}
	}
	return nil
}

// callSave is insertResult on the node of the account.
var callSave = `-- name: SaveResult :one
SELECT * FROM prism_save_1(` + sqldb.Parameters(1, strings.Count(saveTypes, ",")+1) + `)`

func (d *database) insertResult() string {
	if d.layout == Citus {
		return callSave
	}
	return insertResult
}
