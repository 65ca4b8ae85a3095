package postgres

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/prism-results/prism/pkg/fair"
)

// places are the connections of the pool, for which accounts take turns (spec: fair-connections). A batch is of several accounts,
// and counts for none.
type places struct {
	*fair.Queue
	waits, gaveUp atomic.Int64 // calls that waited for a place and got one, and that got none
	waited        atomic.Int64 // nanoseconds that those waited that got one
}

// lent is a connection with its place.
type lent struct {
	*pgxpool.Conn
	places  *places
	account string
}

// Release returns the connection to the pool, and gives back the place.
func (l lent) Release() {
	l.Conn.Release()
	l.places.Give(l.account)
}

// take waits for a place until ctx ends.
func (p *places) take(ctx context.Context, account string, class fair.Class) error {
	if p.TryTake(account, class) {
		return nil
	}
	begun := time.Now()
	if err := p.Take(ctx, account, class); err != nil {
		p.gaveUp.Add(1)
		return err
	}
	p.waits.Add(1)
	p.waited.Add(int64(time.Since(begun)))
	return nil
}

// lend waits for a connection, new or idle, until ctx ends.
func (d *database) lend(ctx context.Context, account string, class fair.Class) (lent, error) {
	if err := d.places.take(ctx, account, class); err != nil {
		return lent{}, err
	}
	var conn *pgxpool.Conn
	err := d.auth.try(ctx, func() (err error) { conn, err = d.pool.Acquire(ctx); return err })
	if err != nil {
		d.places.Give(account)
	}
	return lent{conn, &d.places, account}, err
}

// acquire is lend for a statement of a call, with the bound of the wait.
func (d *database) acquire(ctx context.Context, class fair.Class) (lent, error) {
	ctx, cancel := context.WithTimeout(ctx, d.acquireWait)
	defer cancel()
	return d.lend(ctx, fair.Account(ctx), class)
}
