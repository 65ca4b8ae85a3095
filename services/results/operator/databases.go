package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/directory"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/postgres"
	"github.com/prism-results/prism/services/results/internal/postgres/mover"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Database is a database as commands see it.
type Database struct {
	Name      string
	Accepting bool // new accounts may be made here
	Weight    int
	// State asks the database for its state. Number is 0 in that of the embedded store.
	State func(ctx context.Context) (postgres.State, error)
	// Migrate brings the tables up to date.
	Migrate func(ctx context.Context) error
	// Distribute distributes migrated tables over the nodes of Citus; nil: the database is no such one.
	Distribute func(ctx context.Context) error
	// Accounts are those of the database.
	Accounts func(ctx context.Context) ([]keys.Account, error)
	// Recent is how many results each account has since the beginning of a day.
	Recent func(ctx context.Context, from prism.Day) (map[prism.AccountID]int64, error)
	// Repair has the directory learn what the database has; nil: there is no directory.
	Repair func(ctx context.Context) (directory.Learned, error)
	// Moves asks what the database allows to moves of accounts; nil of the embedded store.
	Moves func(ctx context.Context) (mover.State, error)
}

// Databases are what commands about databases work on.
type Databases struct {
	All []Database // home comes first
	// Placed is how many accounts the directory has in each database, by its name: nil without a directory.
	Placed func(ctx context.Context) (map[string]int64, error)
	// Move moves an account.
	Move func(ctx context.Context, m Move) error
}

// shownError is the error of a command whose table is shown all the same.
type shownError struct{ error }

func (e shownError) Unwrap() error { return e.error }

// errWrong tells that something in the table is wrong.
var errWrong = shownError{errors.New("something is wrong now: see the rows above")}

// mostAhead is how far the clock of a database may be from home's, beside the time that it takes to ask.
const mostAhead = time.Second

// asked is what a database said.
type asked[T any] struct {
	Database
	said T
	err  error
}

// askEach asks all databases at the same time.
func askEach[T any](ctx context.Context, all []Database, ask func(context.Context, Database) (T, error)) []asked[T] {
	answers := make([]asked[T], len(all))
	var asking sync.WaitGroup
	for i, db := range all {
		asking.Go(func() {
			said, err := ask(ctx, db)
			answers[i] = asked[T]{db, said, err}
		})
	}
	asking.Wait()
	return answers
}

// databasesList shows each database. One that is away is shown as such.
func (o *Operator) databasesList(ctx context.Context, _ arguments) ([][]string, error) {
	rows := [][]string{{"NAME", "ACCEPTING", "WEIGHT", "ACCOUNTS", "BYTES", "VERSION", "MIGRATED", "REACHABLE"}}
	for _, db := range askEach(ctx, o.databases.All, describe) {
		row := []string{db.Name, yes(db.Accepting), strconv.Itoa(db.Weight), "-", "-", "-", "-", "no: " + oneLine(db.err)}
		if db.err == nil {
			row = append(row[:3], strconv.FormatInt(db.said.accounts, 10), strconv.FormatInt(db.said.Bytes, 10), db.said.Version,
				migration(db.said.State), "yes")
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// described is the state of a database and how many accounts it has.
type described struct {
	postgres.State
	accounts int64
}

func describe(ctx context.Context, db Database) (d described, err error) {
	if d.State, err = db.State(ctx); err != nil || d.Migration < store.Baseline {
		return d, err
	}
	accounts, err := db.Accounts(ctx)
	d.accounts = int64(len(accounts))
	return d, err
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

func migration(s postgres.State) string {
	if s.Migration < postgres.NewestMigration {
		return fmt.Sprintf("no: %d of %d", s.Migration, postgres.NewestMigration)
	}
	return "yes"
}

// oneLine is an error in a row of a table.
func oneLine(err error) string {
	if err == nil {
		return ""
	}
	return strings.Join(strings.Fields(err.Error()), " ")
}

// check is a row of databases check.
type check struct{ name, do, state string }

// The states of checks.
const (
	stateOK    = "ok"
	stateWrong = "wrong"
	stateMoves = "not for moves" // of accounts between databases; all else works
	stateNote  = "note"
)

// databasesCheck says of each database what is wrong, and what to do. Its error is errWrong if that matters now.
func (o *Operator) databasesCheck(ctx context.Context, _ arguments) ([][]string, error) {
	rows := [][]string{{"DATABASE", "CHECK", "STATE", "WHAT TO DO"}}
	answers := askEach(ctx, o.databases.All, func(ctx context.Context, db Database) (postgres.State, error) { return db.State(ctx) })
	moves := askEach(ctx, o.databases.All, func(ctx context.Context, db Database) ([]check, error) { return checkMoves(ctx, db), nil })
	isWrong := false
	add := func(name string, c check) {
		rows = append(rows, []string{name, c.name, c.state, cmp.Or(c.do, "-")})
		isWrong = isWrong || c.state == stateWrong
	}
	for i, db := range answers {
		if db.err != nil {
			add(db.Name, check{"reachable", "start it, or correct its URL and credentials: " + oneLine(db.err), stateWrong})
			continue
		}
		for _, c := range append(checksOf(db.said, answers[0]), moves[i].said...) {
			add(db.Name, c)
		}
	}
	for _, c := range o.checkPlaced(ctx) {
		add("-", c)
	}
	if isWrong {
		return rows, errWrong
	}
	return rows, nil
}

// checklist is what was looked at.
type checklist []check

func (l *checklist) add(name string, ok bool, otherwise, do string) {
	c := check{name: name, state: stateOK}
	if !ok {
		c.state, c.do = otherwise, do
	}
	*l = append(*l, c)
}

// checksOf checks a database that answered.
func checksOf(s postgres.State, home asked[postgres.State]) []check {
	checks := checklist{{name: "reachable", state: stateOK}}
	checks.add("tables", s.Migration >= postgres.NewestMigration, stateWrong, fmt.Sprintf("run prism migrate: they are at %d of %d", s.Migration, postgres.NewestMigration))
	if s.Number == 0 {
		return checks
	}
	checks.add("version", s.Number >= postgres.LeastVersion, stateWrong, "upgrade Postgres "+s.Version+" to 15 or later")
	checks.add("keeps results", len(s.Losses) == 0, stateWrong, "change the settings: "+strings.Join(s.Losses, "; "))
	checks.add("encrypted", !s.Plain, stateNote, "set sslmode=verify-full in its URL: the connections to Postgres are not encrypted")
	if home.err == nil {
		apart := (s.Ahead - home.said.Ahead).Abs()
		unsure := (s.Took + home.said.Took) / 2
		checks.add("clock", apart <= mostAhead+unsure, stateWrong, fmt.Sprintf("synchronise the clocks of the servers: it is %s from home's", apart.Round(time.Millisecond)))
	}
	return checks
}

// checkMoves checks what only moves of accounts need.
func checkMoves(ctx context.Context, db Database) []check {
	if db.Moves == nil {
		return nil
	}
	s, err := db.Moves(ctx)
	if err != nil {
		return []check{{"direct", "correct direct_url: " + oneLine(err), stateMoves}}
	}
	var checks checklist
	checks.add("direct", s.Direct, stateMoves, "set a direct_url that leads to Postgres itself, not to a pooler")
	checks.add("wal_level", s.WALLevel == "logical", stateMoves, "set wal_level = logical, and restart Postgres: it is "+s.WALLevel)
	checks.add("replication", s.Replicates, stateMoves, "give the role REPLICATION: ALTER ROLE … REPLICATION, or GRANT rds_replication TO … at AWS")
	checks.add("subscription", s.Subscribes, stateMoves, "let the role make subscriptions: GRANT pg_create_subscription TO … (Postgres 16 or later), or have a superuser in direct_url")
	checks.add("triggers", s.Silences, stateMoves, "let the role leave out triggers: GRANT SET ON PARAMETER session_replication_role TO …")
	checks.add("owner", s.Owns, stateMoves, "have the role that owns the tables, and may create in the database, in direct_url")
	checks.add("slots", s.Slots >= leastSlots, stateMoves, fmt.Sprintf("raise max_replication_slots, or drop slots that nobody uses: %d are free", s.Slots))
	return checks
}

// leastSlots are those of a move: one that follows, and two that copy.
const leastSlots = 3

// checkPlaced checks that each account is in a database that there is.
func (o *Operator) checkPlaced(ctx context.Context) (checks []check) {
	placed, err := o.databases.Placed(ctx)
	switch {
	case err != nil:
		return []check{{"directory", "see home: " + oneLine(err), stateWrong}}
	case placed == nil:
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(placed)) {
		if !slices.ContainsFunc(o.databases.All, func(db Database) bool { return db.Name == name }) {
			checks = append(checks, check{
				"directory", fmt.Sprintf("put the database %q back into the file: %d accounts are there", name, placed[name]), stateWrong,
			})
		}
	}
	if len(checks) == 0 {
		checks = []check{{name: "directory", state: stateOK}}
	}
	return checks
}

var errNotCitus = errors.New("--distribute is for a database of PRISM_DATABASE_LAYOUT=citus")

// migrated brings all databases up to date, at the same time.
func (o *Operator) migrated(ctx context.Context, in arguments) ([][]string, error) {
	answers := askEach(ctx, o.databases.All, func(ctx context.Context, db Database) (struct{}, error) {
		err := db.Migrate(ctx)
		switch {
		case err != nil || !in.distribute:
		case db.Distribute == nil:
			err = errNotCitus
		default:
			err = db.Distribute(ctx)
		}
		return struct{}{}, err
	})
	if len(answers) == 1 {
		return [][]string{{"The database is up to date."}}, answers[0].err
	}
	rows := [][]string{{"DATABASE", "MIGRATED"}}
	var wrong error
	for _, db := range answers {
		state := "up to date"
		if db.err != nil {
			state, wrong = "no: "+oneLine(db.err), errWrong
		}
		rows = append(rows, []string{db.Name, state})
	}
	return rows, wrong
}

// listed is what a database says of its accounts.
type listed struct {
	accounts []keys.Account
	recent   map[prism.AccountID]int64
}

func listAccounts(ctx context.Context, db Database, from prism.Day) (listed, error) {
	accounts, err := db.Accounts(ctx)
	if err != nil {
		return listed{}, err
	}
	recent, err := db.Recent(ctx, from)
	return listed{accounts, recent}, err
}

// accountList shows the accounts of all databases. Of one that is away, nothing is known, and the error tells so.
func (o *Operator) accountList(ctx context.Context, _ arguments) ([][]string, error) {
	now := o.service.Now()
	from := prism.DayOf(now) - 1
	seconds := now.Sub(from.Start()).Seconds()
	answers := askEach(ctx, o.databases.All, func(ctx context.Context, db Database) (listed, error) { return listAccounts(ctx, db, from) })
	type account struct {
		keys.Account
		in  string
		use float64
	}
	var all []account
	var away []error
	for _, db := range answers {
		if db.err != nil {
			db.said.accounts = nil
			away = append(away, fmt.Errorf("the accounts of the database %q are not shown: %w", db.Name, db.err))
		}
		for _, a := range db.said.accounts {
			all = append(all, account{a, db.Name, float64(db.said.recent[a.ID]) / seconds})
		}
	}
	slices.SortStableFunc(all, func(a, b account) int { return cmp.Compare(a.Name, b.Name) })
	rows := [][]string{{"ID", "NAME", "CREATED", "STORED BYTES", "MAY STORE", "DATABASE", "CALLS A SECOND"}}
	for _, a := range all {
		rows = append(rows, []string{
			a.ID.String(), a.Name, prism.FormatTime(a.CreatedAt), strconv.FormatInt(a.Bytes, 10), shownSize(a.Limit), a.in,
			strconv.FormatFloat(a.use, 'f', 3, 64),
		})
	}
	switch len(away) {
	case 0:
		return rows, nil
	case len(answers):
		return nil, errors.Join(away...)
	}
	return rows, shownError{errors.Join(away...)}
}
