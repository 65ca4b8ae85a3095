package redis

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/credential"
	"github.com/prism-results/prism/pkg/testkit/redistest"
)

// A user gets another password, and loses the old one, while calls take locks. Live connections authenticate again, and new ones
// use the new password.
//
// spec: secrets-from-files
func TestPasswordsAreReplacedUnderLoad(t *testing.T) {
	t.Parallel()
	server := redistest.New(t, redistest.Options{TCP: true})
	admin := rawClient(t, server)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(admin.Do(t.Context(), "ACL", "SETUSER", "prism", "on", ">password-0", "~*", "+@all").Err())
	path := filepath.Join(t.TempDir(), "password")
	replace := func(text string) {
		t.Helper()
		must(os.WriteFile(path+".new", []byte(text), 0o600))
		must(os.Rename(path+".new", path))
	}
	replace("password-0")
	source, err := credential.File(path, slog.New(slog.DiscardHandler), nil)
	must(err)
	l := openLocker(t, server.TCPURL(), Config{CommandTimeout: patient, Username: "prism", Passwords: source})
	ctx, stop := context.WithCancel(t.Context())
	var working sync.WaitGroup
	defer working.Wait()
	defer stop()
	working.Go(func() { l.Follow(ctx) })
	var taken atomic.Int64
	take := func(name string) {
		for i := 0; ctx.Err() == nil; i++ {
			held, err := l.TryAcquire(context.WithoutCancel(ctx), name+strconv.Itoa(i))
			if err != nil {
				t.Errorf("a lock was not taken: %v", err)
				return
			}
			held.Release(context.WithoutCancel(ctx))
			taken.Add(1)
		}
	}
	working.Go(func() { take("first") })
	for i := range 3 {
		next := "password-" + strconv.Itoa(i+1)
		must(admin.Do(t.Context(), "ACL", "SETUSER", "prism", ">"+next).Err())
		before := authentications(t, admin.Info(t.Context(), "commandstats").Val())
		replace(next)
		await(t, func() bool {
			return authentications(t, admin.Info(t.Context(), "commandstats").Val()) > before
		})
		must(admin.Do(t.Context(), "ACL", "SETUSER", "prism", "<password-"+strconv.Itoa(i)).Err())
		working.Go(func() { take("more" + strconv.Itoa(i)) }) // which needs a new connection
		wanted := taken.Load() + 50
		await(t, func() bool { return taken.Load() > wanted || t.Failed() })
	}
	if l.Waiting() != 0 || errors.Is(ctx.Err(), context.Canceled) {
		t.Error("the test ended early")
	}
}

// authentications is the number of the commands AUTH that Redis took.
func authentications(t *testing.T, stats string) (n int) {
	t.Helper()
	for line := range strings.Lines(stats) {
		if rest, ok := strings.CutPrefix(line, "cmdstat_auth:calls="); ok {
			count, _, _ := strings.Cut(rest, ",")
			n, _ = strconv.Atoi(count)
		}
	}
	return n
}

func await(t *testing.T, holds func() bool) {
	t.Helper()
	tick, late := time.NewTicker(5*time.Millisecond), time.NewTimer(2*time.Minute)
	defer tick.Stop()
	defer late.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-late.C:
			t.Fatal("it took too long")
		}
	}
}
