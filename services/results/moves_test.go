package results

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/services/results/internal/directory"
	"github.com/prism-results/prism/services/results/internal/moves"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/storetest"
)

// move is the move of an account by hand, with all of its rows under the lock.
type move struct {
	t              *testing.T
	account        prism.AccountID
	source, target *pgx.Conn
	to             string
	tables         []string
	switching      pgx.Tx
}

// beginMove has a database refuse changes of an account from the lock on.
func (p *severalDatabases) beginMove(t *testing.T, account prism.AccountID, from, to string) *move {
	t.Helper()
	m := &move{t: t, account: account, source: dial(t, p.urls[from]), target: dial(t, p.urls[to]), to: to}
	for _, row := range storetest.TableRows() { // tables that others refer to come first
		_, ofAccount := row.Values["account_id"]
		ofHome := slices.ContainsFunc([]string{"directory_", "moved_", "arriving_", "moves", "ending_", "session", "sign_"},
			func(prefix string) bool { return strings.HasPrefix(row.Table, prefix) })
		if (ofAccount && !ofHome || row.Table == "accounts") && !slices.Contains(m.tables, row.Table) {
			m.tables = append(m.tables, row.Table)
		}
	}
	for _, table := range m.tables {
		for event, row := range map[string]string{"INSERT": "NEW", "UPDATE": "OLD", "DELETE": "OLD"} {
			execute(t, m.source, fmt.Sprintf("CREATE TRIGGER refuse_%s BEFORE %s ON %s FOR EACH ROW WHEN (%s.%s = '%s') EXECUTE FUNCTION refuse_moved('%s')",
				event, event, table, row, idOf(table), account, account))
		}
	}
	return m
}

// idOf is the column of a table that has the account.
func idOf(table string) string {
	if table == "accounts" {
		return "id"
	}
	return "account_id"
}

func dial(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}

func execute(t *testing.T, on interface {
	Exec(ctx context.Context, statement string, args ...any) (pgconn.CommandTag, error)
}, statement string, args ...any,
) {
	t.Helper()
	if _, err := on.Exec(t.Context(), statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// lock begins the switch.
func (m *move) lock() {
	m.t.Helper()
	var err error
	if m.switching, err = m.source.Begin(m.t.Context()); err != nil {
		m.t.Fatal(err)
	}
	execute(m.t, m.switching, "SET LOCAL session_replication_role = replica")
	execute(m.t, m.switching, "SELECT pg_advisory_xact_lock(8102654024067625077), pg_advisory_xact_lock(move_lock($1))", m.account.UUID)
}

// decide ends the switch. Nobody who moves the account does anything more.
func (m *move) decide() {
	m.t.Helper()
	number := 0
	for _, table := range m.tables {
		rows, err := m.switching.Query(m.t.Context(), fmt.Sprintf("SELECT row_to_json(r)::text FROM %s r WHERE %s = $1", table, idOf(table)), m.account.UUID)
		if err != nil {
			m.t.Fatal(err)
		}
		texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			m.t.Fatal(err)
		}
		for _, text := range texts {
			number++
			execute(m.t, m.target, "INSERT INTO arriving_rows VALUES ($1, $2, 2, $3, $4::json)", m.account.UUID, number, table, text)
		}
	}
	execute(m.t, m.switching, "UPDATE api_keys SET digest = sha256('moved'::bytea || digest) WHERE account_id = $1", m.account.UUID)
	execute(m.t, m.switching, "INSERT INTO moved_accounts (account_id, database, epoch) VALUES ($1, $2, 2)", m.account.UUID, m.to)
	if err := m.switching.Commit(m.t.Context()); err != nil {
		m.t.Fatal(err)
	}
}

// deleteOld deletes the rows of the account in the source.
func (m *move) deleteOld() {
	m.t.Helper()
	execute(m.t, m.source, "SET session_replication_role = replica")
	for _, table := range slices.Backward(m.tables) {
		execute(m.t, m.source, fmt.Sprintf("DELETE FROM %s WHERE %s = $1", table, idOf(table)), m.account.UUID)
	}
}

func count(t *testing.T, on *pgx.Conn, query string, args ...any) (n int) {
	t.Helper()
	if err := on.QueryRow(t.Context(), query, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func newMoving(t *testing.T) *severalDatabases {
	t.Helper()
	p := newPlaced(t, []string{"home", "b", "c"}, func(string) *pgtest.Server { return pgtest.Shared(t) })
	p.several.moves.Patience = time.Minute // however busy the machine is
	return p
}

// newPrism makes a prism of an account, and returns a function that saves results of it, with an idempotency key each, and reads them back.
func (p *severalDatabases) newPrism(t *testing.T, name string, account prism.AccountID) (create func() error) {
	t.Helper()
	d := prism.Definition{Fields: []prism.Field{{Key: "text"}}, Questions: []prism.Question{{Key: "q", Type: prism.YesNo, Text: "?"}}}
	created := api.CreatePrismRequest{NewPrism: api.NewPrism{Slug: "a", NewVersion: api.NewVersion{Definition: d}}}
	response, err := contract.Do(t.Context(), p, p.keys[name], api.CreatePrism, created)
	if err != nil {
		t.Fatal(err)
	}
	var made struct {
		ID prism.PrismID `json:"id"`
	}
	if err := strictjson.Unmarshal(response.Body, &made); err != nil {
		t.Fatal(err)
	}
	return func() error {
		id, err := prism.NewUUID(time.Now(), rand.Reader)
		if err != nil {
			return err
		}
		save := contract.Save{
			Account: account, ID: prism.ResultID{UUID: id}, Prism: made.ID, Version: 1, IdempotencyKey: id.String(),
			Fields:  []prism.FieldValue{{Key: "text", Value: "hello"}},
			Outcome: contract.Outcome{Answers: []byte(`{"q":{"type":"yes_no","probability":0.75}}`), TookMS: 5}, Format: contract.JSON,
		}
		if _, err := p.Save(t.Context(), save); err != nil {
			return err
		}
		_, err = contract.Do(t.Context(), p, p.keys[name], api.ReadResult, api.ResultInFormat{ResultRequest: api.ResultRequest{Result: save.ID}, Format: contract.JSON})
		return err
	}
}

// Calls of the account, and of another one in its database, are made all the time.
//
// spec: account-moves, account-moves-wait
func TestNoCallFailsWhileItsAccountMoves(t *testing.T) {
	t.Parallel()
	p := newMoving(t)
	neighbour, err := p.Operator().CreateAccount(t.Context(), "neighbour") // home has the least accounts, or all have as many
	if err != nil {
		t.Fatal(err)
	}
	place, err := p.several.directory.OfAccount(t.Context(), neighbour)
	if err != nil {
		t.Fatal(err)
	}
	text, err := p.Operator().CreateKey(t.Context(), neighbour, "a key", prism.Owner)
	if err != nil {
		t.Fatal(err)
	}
	p.keys["neighbour"] = sha256.Sum256([]byte(text))
	from := place.Database
	to := map[string]string{"home": "b", "b": "c", "c": "b"}[from]
	var (
		calling sync.WaitGroup
		over    atomic.Bool
		made    atomic.Int64
	)
	creates := map[string]func() error{from: p.newPrism(t, from, p.accounts[from]), "neighbour": p.newPrism(t, "neighbour", neighbour)}
	for i := range 8 {
		name := []string{from, "neighbour"}[i%2]
		calling.Go(func() {
			for !over.Load() {
				if err := creates[name](); err != nil {
					t.Errorf("a call of %s: %v", name, err)
					return
				}
				if name == from {
					made.Add(1)
				}
			}
		})
	}
	more := func() {
		before := made.Load()
		eventually(t, func() bool { return made.Load() >= before+8 || t.Failed() })
	}
	more()
	m := p.beginMove(t, p.accounts[from], from, to)
	more()
	m.lock()
	m.decide()
	more()
	m.deleteOld()
	more()
	over.Store(true)
	calling.Wait()
	at := p.several.databases[slices.Index([]string{"home", "b", "c"}, to)].store
	if err := at.FoldAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	for what, query := range map[string]string{
		"stored":  "SELECT count(*) FROM results WHERE account_id = $1",
		"counted": "SELECT sum(results)::bigint FROM usage WHERE account_id = $1",
		"changes": "SELECT max(seq) FROM changes WHERE account_id = $1",
	} {
		if n := count(t, m.target, query, m.account.UUID); int64(n) != made.Load() {
			t.Errorf("%d results are %s of %d", n, what, made.Load())
		}
	}
	eventually(t, func() bool {
		place, err := p.several.directory.SQL.OfAccount(t.Context(), m.account)
		return err == nil && place.Database == to && place.Epoch == 2
	})
}

// spec: account-moves-keys
func TestAProcessThatKnowsNothingOfAMoveAsksBeforeItRefusesAKey(t *testing.T) {
	t.Parallel()
	p := newMoving(t)
	for name := range p.accounts {
		if err := p.call(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	m := p.beginMove(t, p.accounts["b"], "b", "c")
	m.lock()
	m.decide()
	m.deleteOld()
	if err := p.call(t.Context(), "b"); err != nil {
		t.Errorf("a call after the switch: %v", err)
	}
	if _, err := p.Account(t.Context(), contract.KeyDigest{1}); !errors.Is(err, apierr.InvalidAPIKey()) {
		t.Errorf("an unknown key: %v", err)
	}
	for k, err := range p.Operator().Keys(t.Context(), m.account) {
		if err == nil {
			err = p.Operator().RevokeKey(t.Context(), k.ID)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := p.call(t.Context(), "b"); !errors.Is(err, apierr.InvalidAPIKey()) {
		t.Errorf("a key that was revoked after the move: %v", err)
	}
}

// spec: account-moves-home-away
func TestAnAccountMovesWhileHomeIsAway(t *testing.T) {
	t.Parallel()
	faulty := startServer(t)
	p := newPlaced(t, []string{"home", "b", "c"}, func(name string) *pgtest.Server {
		if name == "home" {
			return faulty
		}
		return pgtest.Shared(t)
	})
	p.several.moves.Patience = time.Minute
	if err := p.call(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	if err := faulty.Pause(); err != nil {
		t.Fatal(err)
	}
	m := p.beginMove(t, p.accounts["b"], "b", "c")
	m.lock()
	m.decide()
	if err := p.call(t.Context(), "b"); err != nil {
		t.Errorf("a call after the switch, while home is away: %v", err)
	}
	if err := faulty.Resume(); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool {
		place, err := p.several.directory.SQL.OfAccount(t.Context(), m.account)
		return err == nil && place.Database == "c"
	})
}

// spec: account-moves
func TestATransactionUnderWayIsRepeatedWhereItsAccountIs(t *testing.T) {
	t.Parallel()
	p := newMoving(t)
	m := p.beginMove(t, p.accounts["b"], "b", "c")
	ctx, db, err := p.several.ofAccount(t.Context(), m.account)
	if err != nil {
		t.Fatal(err)
	}
	const rename = `UPDATE accounts SET name = 'moved' WHERE id = $1 RETURNING name`
	tries := 0
	err = db.store.Transaction(ctx, "rename", func(run sqldb.Run) error {
		if tries++; tries == 1 { // between what the call has read and what it changes
			m.lock()
			m.decide()
		}
		return run(ctx, sqldb.Statement{Text: rename, Args: []any{m.account.UUID}}, sqldb.SomeRow)
	})
	if err != nil || tries != 2 {
		t.Errorf("the change: %v, after %d tries", err, tries)
	}
	m.deleteOld()
	var pages []int64
	read := sqldb.Query("page", `SELECT count(*) FROM accounts WHERE id = $1 AND name = 'moved'`, m.account.UUID)
	if err := db.store.Run(ctx, read, sqldb.ReadRows(&pages, (*sqldb.Row).Int)); err != nil || pages[0] != 1 {
		t.Errorf("a page that is read after the old rows are gone: %v, %v", pages, err)
	}
	wait, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err = db.store.Transaction(wait, "rename", func(run sqldb.Run) error {
		return run(ctx, sqldb.Statement{Text: `INSERT INTO views SELECT $1, $1, NULL, '', '{}', false, now()`, Args: []any{m.account.UUID}}, sqldb.NoRow)
	})
	if refused, is := errors.AsType[*store.MoveError](err); !is || !refused.Moved || refused.Account != m.account {
		t.Errorf("a change of no call: %v", err)
	}
}

// spec: directory-repair
func TestAnAccountThatIsRestoredToBeforeItsMoveIsFound(t *testing.T) {
	t.Parallel()
	p := newMoving(t)
	m := p.beginMove(t, p.accounts["b"], "b", "c")
	m.lock()
	m.decide()
	eventually(t, func() bool {
		place, err := p.several.directory.SQL.OfAccount(t.Context(), m.account)
		return err == nil && place.Database == "c"
	})
	findings := func() []directory.Finding {
		learned, err := p.several.repair(t.Context(), p.several.databases[1])
		if err != nil {
			t.Fatal(err)
		}
		return learned.Findings
	}
	if found := findings(); len(found) != 0 {
		t.Errorf("of an account that has moved it is found that %v", found)
	}
	home := dial(t, p.urls["home"])
	execute(t, home, "UPDATE directory_accounts SET database = 'b', epoch = 1 WHERE account_id = $1", m.account.UUID) // as it was
	if found := findings(); len(found) != 0 {
		t.Errorf("of a home that was restored it is found that %v", found)
	}
	if place, err := p.several.directory.SQL.OfAccount(t.Context(), m.account); err != nil || place.Database != "c" || place.Epoch != 2 {
		t.Errorf("a home that was restored has the account in %v: %v", place, err)
	}
	execute(t, m.source, "DELETE FROM moved_accounts")
	if found := findings(); len(found) == 0 || found[len(found)-1].Problem != directory.AccountTwice {
		t.Errorf("of an account that was restored it is found that %v", found)
	}
}

// spec: account-moves-wait
func TestACallWaitsForASwitchForASecond(t *testing.T) {
	t.Parallel()
	p := newMoving(t)
	p.several.moves.Patience = moves.DefaultPatience
	m := p.beginMove(t, p.accounts["b"], "b", "c")
	m.lock()
	began := time.Now()
	if err := p.call(t.Context(), "b"); !errors.Is(err, contract.ErrUnavailable) || time.Since(began) < time.Second {
		t.Errorf("a call during a switch that does not end: %v, after %s", err, time.Since(began))
	}
	if err := m.switching.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.call(t.Context(), "b"); err != nil {
		t.Errorf("a call after a switch that was given up: %v", err)
	}
}

// The old rows are there, and refuse changes: work that does not leave them out fails for all accounts.
//
// spec: account-moves-work
func TestWorkBesideTheCallsLeavesOutWhatHasMoved(t *testing.T) {
	t.Parallel()
	p := newMoving(t)
	conn := dial(t, p.urls["b"])
	execute(t, conn, "SET session_replication_role = replica")
	var account prism.AccountID
	for _, row := range storetest.TableRows() {
		if account.IsZero() {
			account.UUID = row.Values["id"].(prism.UUID) //nolint:forcetypeassert // the first row is of an account
		}
		if strings.HasPrefix(row.Table, "moved_") || row.Table == "moves" || strings.HasPrefix(row.Table, "arriving_") ||
			strings.HasPrefix(row.Table, "revocation") {
			continue
		}
		var columns, places []string
		var args []any
		for column, value := range row.Values {
			args = append(args, value)
			columns, places = append(columns, `"`+column+`"`), append(places, fmt.Sprintf("$%d", len(args)))
		}
		execute(t, conn, fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", row.Table, strings.Join(columns, ", "), strings.Join(places, ", ")), args...)
	}
	m := p.beginMove(t, account, "b", "c")
	m.lock()
	m.decide()
	at, ctx, now := p.several.databases[1].store, t.Context(), time.Now().Add(365*24*time.Hour)
	for name, work := range workOf(at, now) {
		if err := work(ctx); err != nil && !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	accounts, err := at.ListAccounts(ctx)
	if err != nil || len(accounts) != 1 {
		t.Errorf("the accounts of the source are %v: %v", accounts, err)
	}
}

// workOf is what is done beside the calls, of all accounts of a database.
func workOf(at sqlstore.Statements, now time.Time) map[string]func(context.Context) error {
	until := now.Add(time.Minute)
	return map[string]func(context.Context) error{
		"LeaseChunk": func(ctx context.Context) error { return leased(at.LeaseChunk(ctx, prism.UUID{1}, now, until)) },
		"TakeDeliveries": func(ctx context.Context) error {
			return leased(at.TakeDeliveries(ctx, true, prism.UUID{1}, now, until))
		},
		"TakeDeletion": func(ctx context.Context) error {
			job, err := at.TakeDeletion(ctx, now, until, nil)
			if err == nil {
				err = fmt.Errorf("%w: %+v", errLeased, job)
			}
			return err
		},
		"ReadingQueue": func(ctx context.Context) error {
			queue, err := at.ReadingQueue(ctx, now)
			if len(queue) > 0 {
				err = errLeased
			}
			return err
		},
		"ExpiredFiles": func(ctx context.Context) error {
			files, err := at.ExpiredFiles(ctx, now, 10)
			if len(files) > 0 {
				err = errLeased
			}
			return err
		},
		"TendRuns":         func(ctx context.Context) error { return drop(at.TendRuns(ctx, now)) },
		"RemoveDeliveries": func(ctx context.Context) error { return drop(at.RemoveDeliveries(ctx, now)) },
		"RemoveChanges":    func(ctx context.Context) error { return drop(at.RemoveChanges(ctx, now)) },
		"RemoveEvents":     func(ctx context.Context) error { return drop(at.RemoveEvents(ctx, now)) },
		"TellExpiring":     func(ctx context.Context) error { return drop(at.TellExpiring(ctx, now)) },
		"SweepSessionKeys": func(ctx context.Context) error { return drop(at.SweepSessionKeys(ctx, now)) },
		"MendTimes":        func(ctx context.Context) error { return drop(at.MendTimes(ctx, time.Unix(0, 0))) },
		"Fold":             at.Fold,
		"FoldAll":          at.FoldAll,
	}
}

func drop[T any](_ T, err error) error { return err }

// errLeased: work of an account that has moved was leased.
var errLeased = errors.New("leased")

func leased[T any](lease *T, err error) error {
	if lease != nil {
		return fmt.Errorf("%w: %+v", errLeased, *lease)
	}
	return err
}
