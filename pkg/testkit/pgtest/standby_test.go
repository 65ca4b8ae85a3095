package pgtest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/prism-results/prism/pkg/testkit/pgtest"
)

// replicated is a primary with its synchronous standby. Both end with the test.
func replicated(t *testing.T) (primary, standby *pgtest.Server) {
	t.Helper()
	primary, err := pgtest.Start(t.Context(), pgtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closed(t, primary) })
	standby, err = primary.Standby(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closed(t, standby) })
	return primary, standby
}

func closed(t *testing.T, s *pgtest.Server) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

const durable = "SET synchronous_commit = on; "

func TestACommitWaitsForTheStandbyAndIsOnItWhenPromoted(t *testing.T) {
	t.Parallel()
	primary, standby := replicated(t)
	if err := exec(t.Context(), primary.URL("postgres"), durable+"CREATE TABLE kept AS SELECT 42 AS answer"); err != nil {
		t.Fatal(err)
	}
	if err := standby.Pause(); err != nil {
		t.Fatal(err)
	}
	waiting := make(chan error, 1)
	go func() {
		waiting <- exec(context.WithoutCancel(t.Context()), primary.URL("postgres"), durable+"INSERT INTO kept VALUES (43)")
	}()
	waits := "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
	for query(t, primary.URL("postgres"), waits) != "1" {
		if len(waiting) > 0 {
			t.Fatal("a commit did not wait for the standby")
		}
	}
	if err := standby.Resume(); err != nil {
		t.Fatal(err)
	}
	if err := <-waiting; err != nil {
		t.Fatal(err)
	}
	if err := primary.Crash(); err != nil {
		t.Fatal(err)
	}
	if err := standby.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := query(t, standby.URL("postgres"), "SELECT sum(answer) FROM kept"); got != "85" {
		t.Errorf("the promoted standby has %s", got)
	}
	if err := exec(t.Context(), standby.URL("postgres"), "INSERT INTO kept VALUES (44)"); err != nil {
		t.Errorf("the promoted standby takes no writes: %v", err)
	}
}

func TestADemotedServerAnswersThatItIsReadOnly(t *testing.T) {
	t.Parallel()
	server, err := pgtest.Start(t.Context(), pgtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closed(t, server) })
	if err := server.Demote(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for { // a connection learns of the change when its server process does
		err := exec(ctx, server.URL("postgres"), "CREATE TABLE refused ()")
		if refusal, ok := errors.AsType[*pgconn.PgError](err); ok && refusal.Code == "25006" {
			return
		}
		if ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v", err)
		}
	}
}
