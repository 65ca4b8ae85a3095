package redis

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/credential"
	"github.com/prism-results/prism/pkg/testkit/redistest"
)

// Redis has a new token as soon as the token server gives it, and drops the one before when that ends. Connections authenticate again
// before, and none of many locks fails.
//
// spec: tokens-are-renewed
func TestTokensEndUnderLoad(t *testing.T) {
	t.Parallel()
	const life = 4 * time.Second
	server := redistest.New(t, redistest.Options{TCP: true})
	admin := rawClient(t, server)
	var given atomic.Int64
	tokens := credential.NewTokens(func(ctx context.Context) (token credential.Ending[string], err error) {
		n := given.Add(1)
		token.Value, token.End = fmt.Sprintf("token-%d", n), time.Now().Add(life)
		rule := []any{"ACL", "SETUSER", "prism", "on", ">" + token.Value, "~*", "+@all"}
		if n > 2 {
			rule = append(rule, fmt.Sprintf("<token-%d", n-2)) // it was given more than a life ago, but for the time of two renewals
		}
		return token, admin.Do(ctx, rule...).Err()
	}, nil, slog.New(slog.DiscardHandler))
	l := openLocker(t, server.TCPURL(), Config{CommandTimeout: patient, Username: "prism", Passwords: tokens})
	if _, err := tokens.Get(t.Context()); err != nil { // as Greet waits for Redis
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var working sync.WaitGroup
	defer working.Wait()
	defer stop()
	working.Go(func() { l.Follow(ctx) })
	for w := range 3 {
		working.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				held, err := l.TryAcquire(context.WithoutCancel(ctx), strconv.Itoa(w)+"-"+strconv.Itoa(i))
				if err != nil {
					t.Errorf("a lock was not taken: %v", err)
					return
				}
				held.Release(context.WithoutCancel(ctx))
			}
		})
	}
	await(t, func() bool { return given.Load() >= 5 || t.Failed() })
	if n := authentications(t, admin.Info(t.Context(), "commandstats").Val()); n < 3 && !t.Failed() {
		t.Errorf("live connections authenticated %d times", n)
	}
}

// spec: tokens-are-renewed
func TestThereIsNoConnectionWithoutAToken(t *testing.T) {
	t.Parallel()
	server := redistest.New(t, redistest.Options{TCP: true})
	began := make(chan struct{})
	tokens := credential.NewTokens(func(ctx context.Context) (token credential.Ending[string], err error) {
		<-began
		return credential.Ending[string]{Value: "token", End: time.Now().Add(time.Hour)}, nil
	}, nil, slog.New(slog.DiscardHandler))
	admin := rawClient(t, server)
	if err := admin.Do(t.Context(), "ACL", "SETUSER", "prism", "on", ">token", "~*", "+@all").Err(); err != nil {
		t.Fatal(err)
	}
	l := openLocker(t, server.TCPURL(), Config{CommandTimeout: patient, Cooldown: time.Millisecond, Username: "prism", Passwords: tokens})
	if _, err := l.TryAcquire(t.Context(), "a"); err == nil {
		t.Error("a lock was taken without a token")
	}
	close(began)
	await(t, func() bool {
		held, err := l.TryAcquire(t.Context(), "a")
		if err == nil {
			held.Release(t.Context())
		}
		return err == nil
	})
}
