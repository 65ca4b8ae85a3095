// Package sqldb has what the statements of all slices share: how a database executes them, and how their rows are read. Packages postgres
// and sqlite execute them, and save results in their own ways.
//
// The statements have numbered parameters ($1), and no casts that only one of the databases knows. Their arguments are
// prism.UUID, time.Time, string, []byte, int32, int64, float64 and bool, or pointers to those, where nil is null.
package sqldb

import (
	"context"
	"iter"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/finding"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Database executes statements. Its errors are those of package store, or faults whose text holds no value.
type Database interface {
	// LookUp executes a statement that finds one row by its key, or none, and calls read with the row, possibly in another
	// goroutine. The first column of a row is not null. After an error, such as the end of ctx, read may still be running or be called later: the caller must neither
	// read nor write what read writes to. A named result that read writes to is written by each return statement.
	LookUp(ctx context.Context, s Statement, read func(*Row)) error
	// Run executes one statement, as a transaction of its own, and calls read with the rows that it finds.
	Run(ctx context.Context, s Statement, read Reader) error
	// Transaction calls fn in a transaction, which an error of fn rolls back. Only the text and arguments of fn's statements
	// are used. The error of a statement names the operation and the statement.
	Transaction(ctx context.Context, operation string, fn func(run Run) error) error
	// SaveResult, SaveRetry and TouchKeys are as in sqlstore.Store.
	SaveResult(ctx context.Context, account prism.AccountID, r prism.Result) (store.Saved, error)
	SaveRetry(ctx context.Context, account prism.AccountID, r prism.Result, of prism.ResultID) (store.Saved, error)
	TouchKeys(ctx context.Context, used map[prism.KeyID]time.Time) error
	// InsertRows inserts results in the transaction of run. It marks the results that they retry, which lose their idempotency
	// keys. If a retried result is gone, or was retried by another result, the new one is inserted as the result of a first call.
	InsertRows(ctx context.Context, run Run, rows Rows) error
	// Snapshot makes all statements of a transaction see one snapshot. It comes before the first of them.
	Snapshot(ctx context.Context, run Run) error
	// Locking is the clause at the end of a SELECT that locks its rows, such as FOR UPDATE. With skip, the SELECT skips rows that
	// other transactions have locked.
	Locking(skip bool) string
	// Sharing is the clause at the end of a SELECT that keeps its rows r from being deleted until the transaction ends.
	Sharing() string
	// Size is an expression for how many bytes the texts and the JSON of columns have.
	Size(columns ...string) string
	// EndAfter is a SELECT that ends early: behind the row with which its columns wide have more than this many bytes, or a few rows
	// later. A database that reads no row before it is asked for leaves the statement as it is.
	EndAfter(text string, bytes int, wide ...string) string
	// IndexResults writes rows of the index of results, in the transaction of run. Of a result that is there, the terms are replaced if
	// they are others.
	IndexResults(ctx context.Context, run Run, account prism.AccountID, rows []Indexed) error
	// Alternatives are needs of which a result has one or more if it has what is needed: the database searches for each by itself.
	Alternatives(n finding.Needs) []finding.Needs
	// Rarity is how many rows of the index have what is needed: Some if the database knows when it plans a statement.
	Rarity(ctx context.Context, n finding.Needs) (Rarity, error)
	// Having lists the rows f of the index of an account that have what is needed: it writes a FROM and a WHERE.
	Having(l *List, account prism.AccountID, n finding.Needs, r Rarity)
	// Confirm waits until a stored result, or its deletion, is as durable as a new one would be (spec: saved-means-replicated).
	Confirm(ctx context.Context, account prism.AccountID, id prism.ResultID) error
	// ConfirmAll is Confirm for everything that statements see of an account, and for every deletion.
	ConfirmAll(ctx context.Context, account prism.AccountID) error
	// Fold, FoldAll, Ping, Full, ProbeWrite and Close are as in sqlstore.Store.
	Fold(ctx context.Context) error
	FoldAll(ctx context.Context) error
	Ping(ctx context.Context) error
	Full() bool
	ProbeWrite(ctx context.Context) error
	Close()
}

// Indexed is what the index has of a result.
type Indexed struct {
	ID      prism.ResultID
	Version int32
	Terms   []finding.Term
	Numbers []byte
}

// Rarity is how many rows of an index have what is needed, as far as it matters to how they are found.
type Rarity int

// Few are read and sorted. Most are so many that they are met soon while all rows are read in order.
const (
	Some Rarity = iota
	Few
	Most
)

// Reserve is how many of some connections statements of many rows leave to look-ups by key and to saves (spec: fair-connections).
func Reserve(connections int) int { return connections / 4 }

// Run executes one statement: as Database.Run, or in a transaction.
type Run func(ctx context.Context, s Statement, read Reader) error

// Reader reads the rows of a statement. It is called again if the statement is executed again.
type Reader func(rows iter.Seq[*Row]) error

// Rows is results to insert together. Those of a run are in row order.
type Rows struct {
	Account prism.AccountID
	Results []prism.Result
	// The next three have an element for each result.
	RetryOf []*prism.UUID
	Runs    []*prism.UUID
	Numbers []*int64 // of the rows
}

// Add adds a result. The pointers are nil if it retries no result, or is of no run.
func (rows *Rows) Add(r prism.Result, retryOf, run *prism.UUID, row *int64) {
	rows.Results, rows.RetryOf = append(rows.Results, r), append(rows.RetryOf, retryOf)
	rows.Runs, rows.Numbers = append(rows.Runs, run), append(rows.Numbers, row)
}

// Statement is SQL text with its arguments.
type Statement struct {
	Operation string // names the call for errors and metrics
	Text      string
	Args      []any
	ReadOnly  bool
	// PlanByArgs is of a statement whose best plan depends on its arguments: they are known to each of its plans.
	PlanByArgs bool
}

// Query is a statement of an operation that changes nothing.
func Query(operation, text string, args ...any) Statement {
	return Statement{Operation: operation, Text: text, Args: args, ReadOnly: true}
}

// Change is a statement of an operation that changes something.
func Change(operation, text string, args ...any) Statement {
	return Statement{Operation: operation, Text: text, Args: args}
}

// The operations whose unique constraint has an error of its own.
const (
	OperationCreateAccount  = "create_account"  // store.ErrNameTaken
	OperationDeclareAccount = "declare_account" // likewise
	OperationCreatePrism    = "create_prism"    // store.ErrSlugTaken
)

// ReadRow reads the first row: store.ErrNotFound if there is none.
func ReadRow[T any](found *T, read func(*Row) T) Reader {
	return func(rows iter.Seq[*Row]) error {
		for r := range rows {
			*found = read(r)
			return nil
		}
		return store.ErrNotFound
	}
}

// ReadRows reads every row.
func ReadRows[T any](found *[]T, read func(*Row) T) Reader {
	return func(rows iter.Seq[*Row]) error {
		*found = nil
		for r := range rows {
			*found = append(*found, read(r))
		}
		return nil
	}
}

// SomeRow returns store.ErrNotFound unless the statement returns a row.
func SomeRow(rows iter.Seq[*Row]) error {
	for range rows {
		return nil
	}
	return store.ErrNotFound
}

// CountRows counts the rows.
func CountRows(n *int) Reader {
	return func(rows iter.Seq[*Row]) error {
		*n = 0
		for range rows {
			*n++
		}
		return nil
	}
}

// NoRow reads no row.
func NoRow(iter.Seq[*Row]) error { return nil }
