package redis

import (
	"context"
	"errors"
	"fmt"
	neturl "net/url"
	"strings"
	"sync"

	"github.com/redis/go-redis/extra/redisotel/v9"
	goredis "github.com/redis/go-redis/v9"

	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/telemetry"
)

// Open returns a locker with a client of its own. It connects when it is first used. The URL names one server, Sentinels
// or a cluster:
//
//	redis://host:6379/0  rediss://…  unix:///path
//	redis+sentinel://host:26379/0?master_name=mymaster&addr=other:26379  rediss+sentinel://…
//	redis+cluster://host:6379?addr=other:6379  rediss+cluster://…
func Open(url string, c Config) (*Locker, error) {
	silence()
	c = c.withDefaults()
	c.Log = c.Log.With("redis", where(url))
	var live *following
	if c.Passwords != nil {
		live = newFollowing(c.Passwords, c.Username)
	}
	client, err := connect(url, c, live)
	if err != nil {
		// The client's own error may quote the URL, which may hold a password.
		return nil, errors.New("lock: the Redis URL is not one: one such as redis://host:6379, " +
			"redis+sentinel://host:26379?master_name=mymaster or redis+cluster://host:6379 is expected")
	}
	if err := traced(client, c); err != nil {
		return nil, errors.Join(fmt.Errorf("lock: trace Redis: %w", err), client.Close())
	}
	life, end := context.WithCancel(context.Background()) //nolint:forbidigo // the locker's own life, until Close
	return &Locker{
		config:    c,
		store:     store{client: client, config: c},
		breaker:   breaker{cooldown: c.Cooldown, log: c.Log},
		waiters:   fair.New(c.MaxWaiters, 0),
		following: live,
		life:      life,
		end:       end,
	}, nil
}

// where is the part of the URL that logs may show: the addresses and the database.
func where(address string) string {
	u, err := neturl.Parse(address)
	if err != nil {
		return "" // connect refuses it
	}
	return strings.Join(append([]string{u.Host}, u.Query()["addr"]...), ",") + u.Path
}

func traced(client goredis.UniversalClient, c Config) error {
	if telemetry.Untraced(c.Tracer) {
		return nil
	}
	// Statements stay out of spans, since they hold tokens and keys.
	options := []redisotel.TracingOption{redisotel.WithDBStatement(false), redisotel.WithCallerEnabled(false)}
	if c.Tracer != nil {
		options = append(options, redisotel.WithTracerProvider(c.Tracer))
	}
	return redisotel.InstrumentTracing(client, options...)
}

// silence turns off the client's own log, which is not JSON and shows addresses. The locker logs what matters.
var silence = sync.OnceFunc(func() { goredis.SetLogger(quiet{}) })

type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}
