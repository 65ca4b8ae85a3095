package postgres_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/audit"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/postgres"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/storetest"
)

// queryText is the attribute of a span that holds its statement.
const queryText = attribute.Key("db.query.text")

// traced is a store with an account, a key and a prism, a context that traces, and the spans.
func traced(t testing.TB, u string) (context.Context, *postgres.Store, *tracetest.SpanRecorder) {
	t.Helper()
	spans := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	s, err := postgres.Open(t.Context(), postgres.Config{URL: u, MaxConns: 1, AcquireWait: time.Minute}, postgres.Deps{Tracer: provider})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.CreateAccount(t.Context(), account(), "a", storetest.By()))
	must(s.CreateKey(t.Context(), account(), keys.APIKey{}, digest(), 9, storetest.By()))
	p := prism.Prism{ID: prismID(), Slug: "triage", Latest: prism.Version{Number: 1}}
	must(s.CreatePrism(t.Context(), account(), p, storetest.By()))
	ctx, span := provider.Tracer("test").Start(t.Context(), "caller") // a statement is traced within a span alone
	t.Cleanup(func() { span.End() })
	return ctx, s, spans
}

func account() prism.AccountID   { return prism.AccountID{UUID: prism.UUID{1}} }
func prismID() prism.PrismID     { return prism.PrismID{UUID: prism.UUID{2}} }
func digest() contract.KeyDigest { return contract.KeyDigest{3} }

func failed(id byte) prism.Result {
	return prism.Result{
		ID: prism.ResultID{UUID: prism.UUID{id}}, Prism: prismID(), Version: 1, Status: prism.Failed, Error: secret,
		Context: secret, Fields: []prism.FieldValue{{Key: "text", Value: secret}}, IdempotencyKey: secret,
	}
}

// hotPath calls each operation of the hot path once.
func hotPath(ctx context.Context, s *postgres.Store, first byte) map[string]func() error {
	return map[string]func() error{
		"SaveResult": func() error { _, err := s.SaveResult(ctx, account(), failed(first)); return err },
		"SaveRetry": func() error {
			_, err := s.SaveRetry(ctx, account(), failed(first+1), prism.ResultID{UUID: prism.UUID{first}})
			return err
		},
		"CreateFacts": func() error {
			_, err := s.CreateFacts(ctx, contract.CreateQuery{Key: digest(), Prism: prism.Ref{Slug: "triage"}, IdempotencyKey: secret})
			return err
		},
		"ResultFacts": func() error {
			_, err := s.ResultFacts(ctx, digest(), prism.ResultID{UUID: prism.UUID{first}}, store.WithInput)
			return err
		},
	}
}

func TestTheHotPathIsOneStatementEachAndSpansHoldNoValue(t *testing.T) {
	t.Parallel()
	ctx, s, spans := traced(t, migrated(t))
	operations := hotPath(ctx, s, 10)
	for _, name := range []string{"SaveResult", "SaveRetry", "CreateFacts", "ResultFacts"} {
		spans.Reset()
		if err := operations[name](); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var statements []string
		for _, span := range spans.Ended() {
			for _, a := range span.Attributes() {
				if strings.Contains(a.Value.String(), secret) || strings.Contains(span.Name(), secret) {
					t.Errorf("%s: the span %s tells a value in %s", name, span.Name(), a.Key)
				}
				if a.Key == queryText && !slices.Contains(statements, a.Value.AsString()) {
					statements = append(statements, a.Value.AsString()) // preparing it is a span too
				}
			}
		}
		if len(statements) != 1 {
			t.Errorf("%s is %d statements, want 1: %q", name, len(statements), statements)
		}
	}
}

// TestTheHotPathSeeks checks the plans that Postgres makes for large tables: no statement scans a whole table.
func TestTheHotPathSeeks(t *testing.T) {
	t.Parallel()
	u := migrated(t)
	ctx, s, spans := traced(t, u)
	for name, call := range hotPath(ctx, s, 20) {
		if err := call(); err != nil && name != "SaveRetry" {
			t.Fatalf("%s: %v", name, err)
		}
	}
	page := store.Page{After: prism.UUID{1}, Limit: 10}
	ref := "r"
	narrow := store.Filter{
		Prism: prismID(), Version: 1, Model: "m", Key: &prism.KeyID{UUID: prism.UUID{1}}, From: time.UnixMilli(0), To: time.UnixMilli(1),
	}
	wide := narrow
	wide.Prism = prism.PrismID{}
	for _, f := range []store.Filter{{}, {Prism: prismID()}, {Ref: &ref}, {Status: prism.Failed}, narrow, wide} {
		if _, _, err := s.ListResults(ctx, account(), f, store.WithoutInput, page); err != nil {
			t.Fatal(err)
		}
		if _, err := s.ExportResults(ctx, account(), prismID(), f, page); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := s.ListPrisms(ctx, account(), prisms.All, page); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.ListKeys(ctx, account(), page); err != nil {
		t.Fatal(err)
	}
	between := audit.Filter{From: time.UnixMilli(0), To: time.UnixMilli(1)}
	for _, f := range []audit.Filter{{}, between, {Key: &prism.KeyID{}}, {Kind: store.OperatorActor}} {
		if _, _, err := s.ListAudit(ctx, account(), f, page); err != nil {
			t.Fatal(err)
		}
	}
	k := keys.APIKey{ID: prism.KeyID{UUID: prism.UUID{5}}}
	if err := s.CreateKey(ctx, account(), k, contract.KeyDigest{5}, 9, storetest.By()); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, u)
	const settings = "SET enable_seqscan = off; SET enable_sort = off; SET plan_cache_mode = force_generic_plan"
	if _, err := conn.Exec(t.Context(), settings); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, span := range spans.Ended() {
		for _, a := range span.Attributes() {
			statement := a.Value.String()
			if a.Key != queryText || seen[statement] || !strings.Contains(statement, "-- name:") {
				continue
			}
			seen[statement] = true
			plan := explain(t, conn, statement)
			if strings.Contains(plan, "Seq Scan") || strings.Contains(plan, "Sort") {
				t.Errorf("%s\n%s", statement, plan)
			}
			if strings.Contains(statement, "'failed'") && strings.Contains(statement, "ListResults") && !strings.Contains(plan, "results_by_failure") {
				t.Errorf("a search for a few failed results reads the others too: %s\n%s", statement, plan)
			}
		}
	}
	if plan := explain(t, conn, postgres.InsertResults); strings.Contains(plan, "Seq Scan") {
		t.Errorf("a batch of saves\n%s", plan)
	}
	lookUps := 0
	for _, statement := range s.LookUpsOf() {
		if plan := explain(t, conn, statement.(string)); strings.Contains(plan, "Seq Scan") || strings.Contains(plan, "Sort") {
			t.Errorf("%s\n%s", statement, plan)
		}
		lookUps++
	}
	if lookUps != 2 {
		t.Errorf("%d statements are for look-ups, want those of CreateFacts and ResultFacts", lookUps)
	}
	if len(seen) < 10 {
		t.Errorf("only %d statements were seen", len(seen))
	}
}

// TestALookUpByIdempotencyKeySeeks checks the plan of a database with many results whose statistics know no keys: the first
// keys must not be found by reading all keys.
func TestALookUpByIdempotencyKeySeeks(t *testing.T) {
	t.Parallel()
	u := migrated(t)
	ctx, s, _ := traced(t, u)
	if err := hotPath(ctx, s, 40)["CreateFacts"](); err != nil {
		t.Fatal(err)
	}
	exec(t, u, `INSERT INTO results (account_id, id, prism_id, version, context, fields, status, took_ms, created_at, answers)
		SELECT account_id, gen_random_uuid(), id, 1, '', '[]', 'ok', 1, now(), '[]' FROM prisms, generate_series(1, 3000)`)
	exec(t, u, "VACUUM ANALYZE")
	conn := connect(t, u)
	if _, err := conn.Exec(t.Context(), "SET plan_cache_mode = force_generic_plan"); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for one, several := range s.LookUpsOf() {
		for _, statement := range []string{one.(string), several.(string)} {
			plan := explain(t, conn, statement)
			if !strings.Contains(plan, "Index Cond: ((account_id = k.account_id) AND (idempotency_key = ") {
				t.Error(plan)
			}
			seen++
		}
	}
	if seen != 2 {
		t.Errorf("%d statements, want that of one look-up and that of several", seen)
	}
}

// explain is the generic plan of a statement.
func explain(t *testing.T, conn *pgx.Conn, statement string) string {
	t.Helper()
	prepared, err := conn.Prepare(t.Context(), "explained", statement)
	if err != nil {
		t.Fatalf("%v: %s", err, statement)
	}
	execute := "EXECUTE explained"
	if n := len(prepared.ParamOIDs); n > 0 {
		execute += "(NULL" + strings.Repeat(", NULL", n-1) + ")"
	}
	rows, err := conn.Query(t.Context(), "EXPLAIN (COSTS OFF) "+execute, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("%v: %s", err, statement)
	}
	if err := conn.Deallocate(t.Context(), "explained"); err != nil {
		t.Fatal(err)
	}
	return strings.Join(plan, "\n")
}
