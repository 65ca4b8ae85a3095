package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/prism-results/prism/services/gateway/internal/lock"
	"github.com/prism-results/prism/services/gateway/internal/lock/memory"
	"github.com/prism-results/prism/services/gateway/internal/lock/redis"
)

// locks are the locks of this process, and behind them those in Redis if there is one.
type locks struct {
	lock.Locker
	shared *redis.Locker // or nil
}

func newLocks(cfg Config, d Deps) (locks, error) {
	local := memory.New(memory.Config{})
	address, err := cfg.RedisAuth.in(cfg.RedisURL)
	if err != nil {
		return locks{}, err
	}
	if address == "" {
		return locks{Locker: local}, nil
	}
	shared, err := redis.Open(address, redis.Config{Log: d.Log, Tracer: d.Tracer})
	if err != nil {
		return locks{}, fmt.Errorf("PRISM_REDIS_URL: %w", err)
	}
	return locks{lock.Layered(local, shared), shared}, nil
}

// run connects to Redis, and closes it when ctx ends.
func (l locks) run(ctx context.Context) {
	if l.shared != nil {
		l.shared.Greet(ctx)
		<-ctx.Done()
		_ = l.shared.Close()
	}
}

// RedisAuth overrides the credentials of the Redis URL. Unlike those in a URL, its values may hold any character.
type RedisAuth struct {
	Username, Password string
	// SentinelPassword is the password of the Sentinels.
	SentinelPassword string
}

// setting is the variable of a value that was given.
func (a RedisAuth) setting() string {
	switch {
	case a.Password != "":
		return "PRISM_REDIS_PASSWORD"
	case a.Username != "":
		return "PRISM_REDIS_USERNAME"
	}
	return "PRISM_REDIS_SENTINEL_PASSWORD"
}

// in replaces the credentials of a URL.
func (a RedisAuth) in(address string) (string, error) {
	if a == (RedisAuth{}) {
		return address, nil
	}
	if address == "" {
		return "", errors.New(a.setting() + ": needs PRISM_REDIS_URL")
	}
	u, err := url.Parse(address)
	if err != nil {
		return "", errors.New("PRISM_REDIS_URL: not a URL") // the error would quote it
	}
	sentinel := strings.HasSuffix(u.Scheme, "+sentinel")
	switch {
	case a.SentinelPassword != "" && !sentinel:
		return "", errors.New("PRISM_REDIS_SENTINEL_PASSWORD: PRISM_REDIS_URL names no Sentinels")
	case a.Username != "" && a.Password == "":
		return "", errors.New("PRISM_REDIS_USERNAME: needs PRISM_REDIS_PASSWORD")
	case !sentinel:
		u.User = url.UserPassword(a.Username, a.Password)
		return u.String(), nil
	}
	// The user in a URL of Sentinels is the Sentinels'. That of the server is in the parameters.
	if a.SentinelPassword != "" {
		u.User = url.UserPassword("", a.SentinelPassword)
	}
	if a.Password != "" {
		q := u.Query()
		q.Set("username", a.Username)
		q.Set("password", a.Password)
		u.RawQuery = q.Encode()
	}
	return u.String(), nil
}
