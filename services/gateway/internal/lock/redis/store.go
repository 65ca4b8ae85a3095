package redis

import (
	"context"
	"errors"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// store is the commands that the locker sends to Redis. A lock is a key that holds its holder's token:
//
//	        SET NX PX (lease)              PEXPIRE if the token is mine
//	absent ──────────────────▶ token ──────────────────────────────────▶ token
//	  ▲                          │
//	  └──────────────────────────┘ DEL if the token is mine, or the lease expires
//
// A waiter shortens a lease that lasts longer than any lease may.
type store struct {
	client goredis.UniversalClient
	config Config
}

// renewScript makes a lease last longer, if it is still its holder's.
//
// KEYS: the lock. ARGV: token, lease in ms.
var renewScript = goredis.NewScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then
	return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0`)

// freeScript ends a lease, if it is still its holder's.
//
// KEYS: the lock. ARGV: token.
var freeScript = goredis.NewScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then
	return redis.call('DEL', KEYS[1])
end
return 0`)

// shortenScript gives a lease that would last longer than any a lease of the usual length. Its holder, if it lives, renews it.
//
// KEYS: the lock. ARGV: the longest lease in ms, lease in ms.
var shortenScript = goredis.NewScript(`
if redis.call('PTTL', KEYS[1]) > tonumber(ARGV[1]) then
	return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0`)

// key has a hash tag. Services of two releases exclude each other during an upgrade only if its form stays.
func (s store) key(id string) string { return s.config.Prefix + "{" + id + "}" }

// take tells whether the name was free and is now the token's.
func (s store) take(ctx context.Context, id, token string) (bool, error) {
	ctx, cancel := s.bound(ctx)
	defer cancel()
	err := s.client.SetArgs(ctx, s.key(id), token, goredis.SetArgs{Mode: "NX", TTL: s.config.Lease}).Err()
	if errors.Is(err, goredis.Nil) {
		return false, nil
	}
	return err == nil, err
}

// renew tells whether the name is still the token's. It takes no longer than the lease still lasts.
func (s store) renew(ctx context.Context, id, token string, left time.Duration) (held bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), min(left, s.config.CommandTimeout))
	defer cancel()
	return renewScript.Run(ctx, s.client, []string{s.key(id)}, token, s.config.Lease.Milliseconds()).Bool()
}

// shorten ends a lease that is too long: Redis keeps the wall-clock time at which a lease expires, so the leases that were
// taken before its clock was set back last longer by as much.
func (s store) shorten(ctx context.Context, id string) error {
	ctx, cancel := s.bound(ctx)
	defer cancel()
	longest := max(MaxLease, s.config.Lease).Milliseconds()
	return shortenScript.Run(ctx, s.client, []string{s.key(id)}, longest, s.config.Lease.Milliseconds()).Err()
}

func (s store) free(ctx context.Context, id, token string) error {
	ctx, cancel := s.bound(ctx)
	defer cancel()
	return freeScript.Run(ctx, s.client, []string{s.key(id)}, token).Err()
}

func (s store) ping(ctx context.Context) error {
	ctx, cancel := s.bound(ctx)
	defer cancel()
	return s.client.Ping(ctx).Err()
}

// bound gives a command its time. The end of the caller's context does not cancel the command: Redis might give the lock
// to a caller that is gone, and nobody would release it.
func (s store) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), s.config.CommandTimeout)
}
