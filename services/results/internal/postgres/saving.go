package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// SaveResult implements sqldb.Database.
func (d *database) SaveResult(ctx context.Context, account prism.AccountID, r prism.Result) (store.Saved, error) {
	return d.save(ctx, r.ID, func(ctx context.Context) (store.Saved, error) { return d.saveResult(ctx, account, r) })
}

// SaveRetry implements sqldb.Database.
func (d *database) SaveRetry(
	ctx context.Context, account prism.AccountID, r prism.Result, of prism.ResultID,
) (store.Saved, error) {
	return d.save(ctx, r.ID, func(ctx context.Context) (store.Saved, error) { return d.saveRetry(ctx, account, r, of) })
}

// save executes a save that continues when the wait for it ends (spec: save-is-not-cancelled). A repeated save waits for the
// save under way of the same id: while the standby is away, each result occupies one connection and not one for each try.
func (d *database) save(
	ctx context.Context, id prism.ResultID, execute func(context.Context) (store.Saved, error),
) (store.Saved, error) {
	if err := ctx.Err(); err != nil {
		return store.Saved{}, unavailable("save", err)
	}
	outcome := d.savesUnderWay.DoChan(string(id.UUID[:]), func() (_ any, err error) {
		defer func() {
			if p := recover(); p != nil { // in a goroutine without the recover of the server
				err = fmt.Errorf("postgres: save: a panic of type %T", p)
			}
		}()
		return execute(context.WithoutCancel(ctx))
	})
	select {
	case done := <-outcome:
		saved, _ := done.Val.(store.Saved)
		return saved, done.Err
	case <-ctx.Done():
		return store.Saved{}, fmt.Errorf("postgres: save: %w", ctx.Err())
	}
}

// Confirm implements sqldb.Database. Without a synchronous standby, what a statement sees is as durable as it will be.
func (d *database) Confirm(ctx context.Context, account prism.AccountID, id prism.ResultID) error {
	if !d.replicated.Load() {
		return nil
	}
	// Cancelling this commit loses nothing, so it is a read.
	return d.read(ctx, fair.Preferred, "confirm", func(ctx context.Context, conn *pgxpool.Conn) error {
		found, err := conn.Exec(ctx, confirmSaved, account.UUID, id.UUID)
		if err == nil && found.RowsAffected() == 0 {
			_, err = conn.Exec(ctx, confirmAll, account.UUID)
		}
		return err
	})
}

// ConfirmAll implements sqldb.Database.
func (d *database) ConfirmAll(ctx context.Context, account prism.AccountID) error {
	if !d.replicated.Load() {
		return nil
	}
	return d.read(ctx, fair.Preferred, "confirm", func(ctx context.Context, conn *pgxpool.Conn) error {
		_, err := conn.Exec(ctx, confirmAll, account.UUID)
		return err
	})
}
