package runs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/labels"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	lockChunk = `-- name: LockChunk :one
SELECT first_row, attempt, states, messages, outcomes, saved_at, begun_at, input_tokens, output_tokens, cost, cost_rest, currency,
	labels, invalid_labels
FROM run_chunks WHERE account_id = $1 AND run_id = $2 AND number = $3 AND token = $4`

	saveChunk = `UPDATE run_chunks SET states = $4, pending = $5, ok = $6, failed = $7, invalid = $8, cancelled = $9, messages = $10,
	outcomes = $11, saved_at = $12, input_tokens = $13, output_tokens = $14, cost = $15, cost_rest = $16, currency = $17,
	labels = $18, invalid_labels = $19
WHERE account_id = $1 AND run_id = $2 AND number = $3`

	endLease = endOfLease + ` WHERE account_id = $1 AND run_id = $2 AND number = $3`
)

// UnfoldRun is the statement before CountRetriedRow: it locks the run, and makes its chunks count for themselves again. The
// arguments are the SQL of the account and the run.
func UnfoldRun(account, run string) string {
	return `UPDATE runs SET ` + unfold + ` WHERE account_id = ` + account + ` AND id = ` + run
}

// CountRetriedRow is the statement that changes a chunk of a run when the result of one of its rows is retried on its own: the row
// gets the letter of the new result, whatever letter it had (spec: run-single-retry). The arguments are the SQL of the account,
// the run, the row, and columns of the new result.
func CountRetriedRow(account, run, row, status, inputTokens, outputTokens, cost, currency string) string {
	// Chunks have at most contract.ChunkRows rows, so the search begins at the chunk or shortly before it.
	const change = `UPDATE run_chunks AS c SET
	states = substr(c.states, 1, @at - 1) || CASE @status WHEN 'ok' THEN 'o' ELSE 'f' END || substr(c.states, @at + 1),
	pending = c.pending - CASE WHEN @old IN ('p', 'q') THEN 1 ELSE 0 END,
	ok = c.ok + CASE WHEN @status = 'ok' THEN 1 ELSE 0 END - CASE WHEN @old = 'o' THEN 1 ELSE 0 END,
	failed = c.failed + CASE WHEN @status = 'ok' THEN 0 ELSE 1 END - CASE WHEN @old = 'f' THEN 1 ELSE 0 END,
	invalid = c.invalid - CASE WHEN @old = 'i' THEN 1 ELSE 0 END,
	cancelled = c.cancelled - CASE WHEN @old = 'c' THEN 1 ELSE 0 END,
	input_tokens = c.input_tokens + coalesce(@input, 0), output_tokens = c.output_tokens + coalesce(@output, 0),
	cost = c.cost + coalesce(@cost, 0) / 1000000000000 + (c.cost_rest + coalesce(@cost, 0) % 1000000000000) / 1000000000000,
	cost_rest = (c.cost_rest + coalesce(@cost, 0)) % 1000000000000,
	currency = CASE WHEN coalesce(@currency, c.currency) = c.currency THEN c.currency WHEN c.currency = '' THEN @currency ELSE '*' END
WHERE c.account_id = @account AND c.run_id = @run AND c.number = (
	SELECT n.number FROM run_chunks n
	WHERE n.account_id = @account AND n.run_id = @run AND n.number >= (@row - 1) / 200 AND n.first_row + n.row_count > @row
	ORDER BY n.number LIMIT 1
)`
	text := strings.NewReplacer(
		"@old", "substr(c.states, @at, 1)", "@account", account, "@status", status, "@input", inputTokens, "@output", outputTokens,
		"@cost", cost, "@currency", currency, "@run", run,
	).Replace(change)
	text = strings.ReplaceAll(text, "@at", "CAST(@row - c.first_row + 1 AS integer)")
	return strings.ReplaceAll(text, "@row", row)
}

// errForeignRow: a row to save is not one of its lease.
var errForeignRow = errors.New("store: a row to save is not one of its lease")

// savedChunk is a leased chunk in which rows are saved.
type savedChunk struct {
	Chunk
	outcomes string
	savedAt  *time.Time
	begunAt  time.Time
	usage    Usage
	// How many labels are stored, and how many cells held none.
	labels, invalidLabels int64
}

func readChunk(r *sqldb.Row) savedChunk {
	c := savedChunk{Chunk: Chunk{FirstRow: r.Int(), Attempt: r.Int32(), States: []byte(r.Text())}}
	c.Invalid = sqldb.Decode[map[int64]string](r)
	c.outcomes, c.savedAt, c.begunAt = r.Text(), r.OptionalTime(), r.Time()
	c.usage = Usage{InputTokens: r.Int(), OutputTokens: r.Int(), Cost: prism.Cost{Whole: r.Int(), Rest: r.Int()}}
	c.usage.Currency = r.Text()
	c.labels, c.invalidLabels = r.Int(), r.Int()
	return c
}

// SaveRows implements Store. It locks the chunk, then checks the lease and reads the letters of the rows. So each row gets
// one result in each attempt, whoever saves it and however often (spec: one-result-a-row). A repeat writes too, so that its commit
// waits until the rows that were saved before are durable (spec: saved-means-replicated).
func (s SQL) SaveRows(ctx context.Context, saved contract.SaveRows, now time.Time) error {
	key := []any{saved.Account.UUID, saved.Run.UUID, saved.Chunk}
	return s.Transaction(ctx, "save_rows", func(run sqldb.Run) error {
		var c savedChunk
		statement := sqldb.Statement{Text: lockChunk + s.Locking(false), Args: append(key[:3:3], saved.Token)}
		err := run(ctx, statement, sqldb.ReadRow(&c, readChunk))
		if errors.Is(err, store.ErrNotFound) {
			return s.saveRetries(ctx, run, saved, now)
		}
		if err != nil {
			return err
		}
		rows, put, letters, err := c.take(saved, now)
		if err != nil {
			return err
		}
		if len(rows.Results) > 0 {
			if err := s.InsertRows(ctx, run, rows); err != nil {
				return err
			}
		}
		if err := labels.Insert(ctx, run, saved.Account, put); err != nil {
			return err
		}
		crash.At(crash.InCommit)
		c.outcomes = addOutcomes(c.outcomes, now, letters)
		if letters != "" {
			c.savedAt = &now
		}
		args, err := c.arguments()
		if err != nil {
			return err
		}
		if err := run(ctx, sqldb.Statement{Text: saveChunk, Args: append(key[:3:3], args...)}, sqldb.NoRow); err != nil || !saved.Done {
			return err
		}
		return run(ctx, sqldb.Statement{Text: endLease, Args: key}, sqldb.NoRow)
	})
}

// take changes the letters of the saved rows that are pending, and returns the rows and labels to store, and the new letters.
func (c *savedChunk) take(saved contract.SaveRows, now time.Time) (rows sqldb.Rows, put []labels.OfPrism, letters string, err error) {
	rows = sqldb.Rows{Account: saved.Account}
	for _, row := range saved.Rows {
		at := row.Row - c.FirstRow
		if at < 0 || at >= int64(len(c.States)) || (row.Save == nil) == (row.Invalid == "") {
			return rows, nil, "", errForeignRow
		}
		if c.States[at] != RowPendingState {
			continue // saved before
		}
		letter := byte(RowInvalidState)
		if row.Save == nil {
			if c.Invalid == nil {
				c.Invalid = map[int64]string{}
			}
			c.Invalid[row.Row] = row.Invalid
		} else {
			if row.Save.ID != prism.RowResultID(c.begunAt, saved.Run, row.Row, c.Attempt) {
				return rows, nil, "", fmt.Errorf("%w: another id", errForeignRow)
			}
			r := store.ResultOf(*row.Save, now)
			r.IdempotencyKey = ""
			var retryOf *prism.UUID
			if row.Save.RetryOf != nil {
				retryOf = &row.Save.RetryOf.UUID
			}
			rows.Add(r, retryOf, &saved.Run.UUID, &row.Row)
			c.add(r)
			letter = RowFailedState
			if r.Status == prism.OK {
				letter = RowOKState
				put = append(put, labelsOf(r, row.Labels, now)...)
				c.labels += int64(len(row.Labels))
				c.invalidLabels += int64(len(row.InvalidLabels))
			}
		}
		c.States[at] = letter
		letters += string(letter)
	}
	return rows, put, letters, nil
}

// labelsOf are the labels of a row's result (spec: run-labels).
func labelsOf(r prism.Result, row []contract.RowLabel, now time.Time) (put []labels.OfPrism) {
	for _, l := range row {
		put = append(put, labels.OfPrism{Prism: r.Prism, Label: labels.Label{
			Result: r.ID, Version: r.Version, Question: l.Question, Value: l.Value, Origin: store.LabelOfFile, Key: r.Key, At: now,
		}})
	}
	return put
}

// add adds what a result used.
func (c *savedChunk) add(r prism.Result) {
	if r.Call == nil {
		return
	}
	u, used := &c.usage, sqldb.PlausibleUsage(r.Call.Usage)
	for _, sum := range []struct{ to, n *int64 }{{&u.InputTokens, used.InputTokens}, {&u.OutputTokens, used.OutputTokens}} {
		if sum.n != nil {
			*sum.to += *sum.n
		}
	}
	if used.Cost != nil {
		u.Cost = u.Cost.Add(prism.Cost{Rest: *used.Cost})
	}
	switch {
	case used.Currency == "" || used.Currency == u.Currency:
	case u.Currency == "":
		u.Currency = used.Currency
	default:
		u.Currency = SeveralCurrencies
	}
}

// arguments are the values of saveChunk from states on.
func (c *savedChunk) arguments() ([]any, error) {
	counts := map[byte]int32{}
	for _, letter := range c.States {
		counts[letter]++
	}
	var messages []byte
	if c.Invalid != nil {
		var err error
		if messages, err = sqldb.Encode(c.Invalid); err != nil {
			return nil, err
		}
	}
	return []any{
		string(c.States), counts[RowPendingState] + counts[pendingLater], counts[RowOKState], counts[RowFailedState],
		counts[RowInvalidState], counts[RowCancelledState], messages, c.outcomes, c.savedAt,
		c.usage.InputTokens, c.usage.OutputTokens, c.usage.Cost.Whole, c.usage.Cost.Rest, c.usage.Currency,
		c.labels, c.invalidLabels,
	}, nil
}

// The column outcomes of a chunk has the letters of its last rows' states, a group for each save, which is preceded by the time of
// the save in milliseconds since 1970: "1800000000123oof1800000000999i". So the last rows of a run are found without a database
// row that every save of the run would change.

// batch is the rows of a chunk that one save stored.
type batch struct {
	at      int64 // milliseconds since 1970
	chunk   int32
	letters string
}

const digits = "0123456789"

// parseOutcomes reads the column outcomes.
func parseOutcomes(outcomes string) (batches []batch) {
	for outcomes != "" {
		letters := strings.TrimLeft(outcomes, digits)
		at, err := strconv.ParseInt(outcomes[:len(outcomes)-len(letters)], 10, 64)
		end := strings.IndexAny(letters, digits)
		if end < 0 {
			end = len(letters)
		}
		if err != nil || end == 0 {
			return nil // nothing writes this
		}
		batches = append(batches, batch{at: at, letters: letters[:end]})
		outcomes = letters[end:]
	}
	return batches
}

// addOutcomes adds the letters of a save, and drops letters that cannot be among the last WatchedRows rows of a run.
func addOutcomes(outcomes string, at time.Time, letters string) string {
	if letters == "" {
		return outcomes
	}
	var text strings.Builder
	behind := len(letters)
	batches := parseOutcomes(outcomes)
	from := len(batches)
	for from > 0 && behind < WatchedRows {
		from--
		behind += len(batches[from].letters)
	}
	for _, b := range append(batches[from:], batch{at: at.UnixMilli(), letters: letters}) {
		text.WriteString(strconv.FormatInt(b.at, 10) + b.letters)
	}
	return text.String()
}

// readBatches reads the number of a chunk and its outcomes after a time, the last ones first.
func readBatches(r *sqldb.Row, since time.Time) (behind []batch) {
	chunk := r.Int32()
	for _, b := range parseOutcomes(r.Text()) {
		if b.at > since.UnixMilli() {
			b.chunk = chunk
			behind = append(behind, b)
		}
	}
	slices.Reverse(behind)
	return behind
}
