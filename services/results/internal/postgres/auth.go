package postgres

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/prism-results/prism/pkg/credential"
)

// Auth is where new connections get their credentials. The zero value leaves those of the URL.
type Auth struct {
	// URL gives whole URLs in place of that of Config. Connections that are open stay where they are.
	URL credential.Source
	// Password gives passwords in place of the URL's.
	Password credential.Source
}

// The codes of Postgres for credentials that it refuses.
var refusals = []string{"28P01", "28000"}

// The pauses between attempts to connect with credentials that were refused, and for how long there are such attempts unless the
// caller's wait ends before: one side of a rotation may be behind.
const (
	firstPause = 50 * time.Millisecond
	lastPause  = 800 * time.Millisecond
	triedFor   = 10 * time.Second
)

// before completes the configuration of each new connection, and then calls next, which may be nil.
func (a Auth) before(next func(context.Context, *pgx.ConnConfig) error) func(context.Context, *pgx.ConnConfig) error {
	return func(ctx context.Context, c *pgx.ConnConfig) error {
		if a.URL != nil {
			if err := address(c, a.URL.Secret()); err != nil {
				return err
			}
		}
		if a.Password != nil {
			c.Password = a.Password.Secret()
		}
		if next == nil {
			return nil
		}
		return next(ctx, c)
	}
}

// address gives a connection what the URL says of the server and the user.
func address(c *pgx.ConnConfig, url string) error {
	pool, err := pgxpool.ParseConfig(url)
	if err != nil {
		return err // pgx takes the password out
	}
	found := pool.ConnConfig
	prepare(found, url)
	c.Host, c.Port, c.Database, c.User, c.Password = found.Host, found.Port, found.Database, found.User, found.Password
	c.TLSConfig, c.Fallbacks = found.TLSConfig, found.Fallbacks
	return nil
}

// CheckURL reports whether a URL is that of a database, without the URL.
func CheckURL(url string) error {
	if _, err := pgxpool.ParseConfig(url); err != nil {
		return errors.New("is no URL of Postgres")
	}
	return nil
}

// try calls connect, and again, with other credentials, if the server refused those that were used.
func (a Auth) try(ctx context.Context, connect func() error) error {
	began := time.Now()
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		err := connect()
		if !a.refused(err) || time.Since(began) > triedFor {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
	}
}

// refused reports whether the server refused the credentials of the sources, and tells the sources.
func (a Auth) refused(err error) bool {
	if a.URL == nil && a.Password == nil {
		return false
	}
	refusal, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || !slices.Contains(refusals, refusal.Code) {
		return false
	}
	failed, ok := errors.AsType[*pgconn.ConnectError](err)
	if !ok {
		return false
	}
	switch {
	case a.Password != nil:
		a.Password.Refused(failed.Config.Password)
	case a.URL != nil:
		// The configuration has no URL: the one in use is the one that was refused, unless it was replaced meanwhile.
		if current := a.URL.Secret(); passwordOf(current) == failed.Config.Password {
			a.URL.Refused(current)
		}
	}
	return true
}

// passwordOf is the password of a URL.
func passwordOf(url string) string {
	c, err := pgxpool.ParseConfig(url)
	if err != nil {
		return ""
	}
	return c.ConnConfig.Password
}
