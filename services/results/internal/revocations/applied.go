package revocations

import (
	"context"
	"errors"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/background"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	every      = time.Minute
	endedEvery = time.Hour
	batch      = 200  // revocations in a transaction
	endedBatch = 1000 // revocations in a statement

	readMark = `SELECT seq, id FROM revocation_mark`
	// A mark is moved from where it was read, so that of processes which apply at the same time none moves it back.
	setMark  = `INSERT INTO revocation_mark (seq, id) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING seq`
	moveMark = `UPDATE revocation_mark SET seq = $1, id = $2 WHERE seq = $3 AND id = $4 RETURNING seq`
	revoke   = `UPDATE api_keys SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL AND account_id` + sqldb.StaysHere + `
RETURNING account_id, name, session_id IS NOT NULL`
)

// Revived reports that the database was restored while this process runs, and may accept keys that were revoked.
func (d *Database) Revived() bool { return d.revived.Load() }

// Follow applies to the database what home has and it has not, and deletes from home what need not be kept, until ctx ends.
func (d *Database) Follow(ctx context.Context) {
	var ended time.Time
	background.Work{Name: "applying revocations to the database", AfterFailure: every, Log: d.Log, Do: func(ctx context.Context) (time.Duration, error) {
		if err := d.Apply(ctx); err != nil || time.Since(ended) < endedEvery {
			return every, err
		}
		deleted, err := d.Home.end(ctx, d.Name, d.Now(), d.seen, endedBatch)
		if err == nil && deleted < endedBatch {
			ended = time.Now()
		}
		return every, err
	}}.Run(ctx)
}

// Apply revokes in the database each key that is revoked according to home.
func (d *Database) Apply(ctx context.Context) error {
	d.applying.Lock()
	defer d.applying.Unlock()
	for {
		at, err := d.mark(ctx)
		if err != nil {
			return err
		}
		revoked, known, err := d.Home.behind(ctx, d.Name, at, batch)
		if err != nil {
			return err
		}
		if at != d.seen && (at.seq < d.seen.seq || !known) && !d.revived.Swap(true) {
			d.Log.WarnContext(ctx, "the database was restored: its accounts are refused until the keys are revoked that were revoked since",
				"database", d.Name)
		}
		if len(revoked) == 0 {
			d.seen = at
			d.revived.Store(false)
			return nil
		}
		if err := d.apply(ctx, at, revoked); err != nil && !errors.Is(err, store.ErrNotFound) { // not found: another process moved the mark
			return err
		}
	}
}

func (d *Database) mark(ctx context.Context) (m mark, err error) {
	err = d.Database.Run(ctx, sqldb.Query("revocation_mark", readMark), sqldb.ReadRow(&m, func(r *sqldb.Row) mark {
		return mark{r.Int(), r.UUID()}
	}))
	if errors.Is(err, store.ErrNotFound) {
		return mark{}, nil
	}
	return m, err
}

// apply revokes keys, and moves the mark: store.ErrNotFound if it is elsewhere.
func (d *Database) apply(ctx context.Context, from mark, revoked []revocation) error {
	to := revoked[len(revoked)-1].mark
	move := sqldb.Statement{Text: setMark, Args: []any{to.seq, to.id}}
	if from != (mark{}) {
		move = sqldb.Statement{Text: moveMark, Args: []any{to.seq, to.id, from.seq, from.id}}
	}
	return d.Database.Transaction(ctx, "apply_revocations", func(run sqldb.Run) error {
		if err := run(ctx, move, sqldb.SomeRow); err != nil {
			return err
		}
		for _, r := range revoked {
			if err := d.applyTo(ctx, run, r); err != nil {
				return err
			}
		}
		return nil
	})
}

// applyTo revokes a key, unless it is revoked or the database does not have it. As everywhere, keys of sessions have no entry in the audit.
func (d *Database) applyTo(ctx context.Context, run sqldb.Run, r revocation) error {
	var (
		account   prism.AccountID
		name      string
		ofSession bool
	)
	args := []any{r.key.UUID, r.at}
	err := run(ctx, sqldb.Statement{Text: revoke, Args: args}, sqldb.ReadRow(&account.UUID, func(r *sqldb.Row) prism.UUID {
		id := r.UUID()
		name, ofSession = r.Text(), r.Bool()
		return id
	}))
	if errors.Is(err, store.ErrNotFound) || err == nil && ofSession {
		return nil
	}
	if err != nil {
		return err
	}
	entry, err := d.NewID()
	if err != nil {
		return err
	}
	by := store.By{Entry: entry, At: d.Now(), Actor: store.Actor{Kind: store.OperatorActor, Name: "revocations"}}
	object := store.Object{Kind: store.KeyObject, ID: r.key.UUID, Name: name}
	return sqldb.Record(ctx, run, account, by, store.KeyRevoke, object, sqldb.NoDetail{})
}
