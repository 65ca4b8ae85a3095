package storetest

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"sync"
	"testing"

	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Share checks that accounts share the connections of an empty database. connections is how many execute statements that only
// read, and waiting how many calls wait for them.
func Share(t *testing.T, d sqldb.Database, connections int, waiting func() int) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var calls sync.WaitGroup
	defer calls.Wait()
	defer stop()
	begun, release := make(chan string, 100), make(chan struct{})
	read := func(account string) {
		calls.Go(func() {
			s := sqldb.Statement{Operation: "share", Text: "SELECT 1", ReadOnly: true}
			err := d.Run(fair.With(ctx, account), s, func(iter.Seq[*sqldb.Row]) error {
				begun <- account
				<-release
				return nil
			})
			if err != nil {
				t.Errorf("%s: %v", account, err)
			}
		})
	}
	await := func(n int) {
		for waiting() < n {
			runtime.Gosched()
		}
	}
	// An account takes every place that it can get, and waits for more.
	free := connections - sqldb.Reserve(connections)
	for range free + 3 {
		read("many")
	}
	for range free {
		<-begun
	}
	await(3)
	read("few")
	await(4)
	// Look-ups by key and saves have the reserve.
	hits := 0
	look := sqldb.Statement{Operation: "look", Text: "SELECT 1", ReadOnly: true}
	for _, account := range []string{"many", "few"} {
		if err := d.LookUp(fair.With(ctx, account), look, func(r *sqldb.Row) { hits += int(r.Int()) }); err != nil {
			t.Errorf("a look-up of %s: %v", account, err)
		}
	}
	if hits != 2 {
		t.Errorf("%d look-ups found something, want 2", hits)
	}
	// The account that waits with fewer places is next, although it came last.
	release <- struct{}{}
	if next := <-begun; next != "few" {
		t.Errorf("the next place is for %s", next)
	}
	// A call that cannot wait any longer has changed nothing.
	short, cancel := context.WithCancel(fair.With(ctx, "few"))
	cancel()
	if err := d.Run(short, look, func(iter.Seq[*sqldb.Row]) error { return nil }); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("a call without a place: %v", err)
	}
	close(release)
	calls.Wait()
	if len(begun) != 3 || waiting() != 0 {
		t.Errorf("%d calls began at last, and %d wait", len(begun), waiting())
	}
}
