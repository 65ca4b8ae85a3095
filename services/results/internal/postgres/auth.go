package postgres

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
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
	// Tokens gives tokens that end in place of passwords. A connection ends before the token that it was opened with
	// (spec: tokens-are-renewed). Optional.
	Tokens *credential.Tokens
}

// ErrPlain is why no token is sent.
var ErrPlain = errors.New("a token needs TLS to another machine: sslmode must be verify-full, verify-ca or require")

// CheckTLS returns ErrPlain unless every connection to another machine is encrypted.
func CheckTLS(url string) error {
	pool, err := pgxpool.ParseConfig(url)
	if err != nil {
		return errors.New("is no URL of Postgres")
	}
	prepare(pool.ConnConfig, url)
	return checkTLS(pool.ConnConfig)
}

// Endpoint is the only server of a URL, as host:port, and the user there: a token of AWS is for these.
func Endpoint(url string) (address, user string, err error) {
	pool, err := pgxpool.ParseConfig(url)
	if err != nil {
		return "", "", errors.New("is no URL of Postgres")
	}
	c := pool.ConnConfig
	prepare(c, url)
	for _, f := range c.Fallbacks {
		if f.Host != c.Host || f.Port != c.Port {
			return "", "", errors.New("a token of AWS is for one server: the URL must name one")
		}
	}
	return net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))), c.User, nil
}

func checkTLS(c *pgx.ConnConfig) error {
	plain := c.TLSConfig == nil && !isLocal(c.Host)
	for _, f := range c.Fallbacks {
		plain = plain || f.TLSConfig == nil && !isLocal(f.Host)
	}
	if plain {
		return ErrPlain
	}
	return nil
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
		if next != nil {
			if err := next(ctx, c); err != nil {
				return err
			}
		}
		if a.Tokens != nil {
			return a.show(ctx, c)
		}
		return nil
	}
}

// show gives a connection a token as its password, and notes until when the connection is used.
func (a Auth) show(ctx context.Context, c *pgx.ConnConfig) error {
	token, err := a.Tokens.Get(ctx)
	if err != nil {
		return err
	}
	if err := checkTLS(c); err != nil {
		return err
	}
	c.Password = token.Value
	// What is left of the token is the time of the last statement. Connections that were opened together end one after the other.
	left := time.Until(token.End)
	until := token.End.Add(-left/4 - rand.N(left/4+1)) //nolint:gosec // it spreads connections
	after := c.AfterConnect
	c.AfterConnect = func(ctx context.Context, conn *pgconn.PgConn) error {
		conn.CustomData()[untilKey] = until
		if after == nil {
			return nil
		}
		return after(ctx, conn)
	}
	return nil
}

// untilKey names the time after which a connection is not used.
const untilKey = "prism until"

// endConnections has a pool close connections before their tokens end: those in use when they are asked for again, idle ones by a
// timer.
func endConnections(config *pgxpool.Config) (pool *atomic.Pointer[pgxpool.Pool]) {
	until := func(conn *pgx.Conn) time.Time {
		at, _ := conn.PgConn().CustomData()[untilKey].(time.Time)
		return at
	}
	pool = &atomic.Pointer[pgxpool.Pool]{}
	config.PrepareConn = func(_ context.Context, conn *pgx.Conn) (usable bool, err error) {
		at := until(conn)
		return at.IsZero() || time.Now().Before(at), nil
	}
	config.AfterConnect = func(_ context.Context, conn *pgx.Conn) error {
		if at := until(conn); !at.IsZero() {
			time.AfterFunc(time.Until(at), func() {
				if p := pool.Load(); p != nil {
					for _, c := range p.AcquireAllIdle(context.Background()) { //nolint:forbidigo // it waits for nothing
						c.Release()
					}
				}
			})
		}
		return nil
	}
	return pool
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
	if a.URL == nil && a.Password == nil && a.Tokens == nil {
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
	case a.Tokens != nil:
		a.Tokens.Refused(failed.Config.Password)
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

// Places are the databases that a URL may lead to, of which it uses one: host:port/database for each server that it names.
func Places(url string) ([]string, error) {
	pool, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errors.New("is no URL of Postgres")
	}
	c := pool.ConnConfig
	var all []string
	for _, server := range append([]*pgconn.FallbackConfig{{Host: c.Host, Port: c.Port}}, c.Fallbacks...) {
		place := net.JoinHostPort(strings.ToLower(server.Host), strconv.Itoa(int(server.Port))) + "/" + c.Database
		if !slices.Contains(all, place) {
			all = append(all, place)
		}
	}
	return all, nil
}
