package runs

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	countRetryable  = `SELECT count(*) FROM (SELECT r.id FROM results r`
	selectRetryable = `-- name: Retryable :many
SELECT r.id, r.version FROM results r`

	retryUnderWay = `SELECT EXISTS (
	SELECT 1 FROM retries t JOIN retry_chunks c ON c.account_id = t.account_id AND c.retry_id = t.id
	WHERE t.account_id = $1 AND t.prism_id = $2
)`

	// removeEndedRetry makes room for the next one before TendRuns does.
	removeEndedRetry = `DELETE FROM retries WHERE account_id = $1 AND prism_id = $2
	AND NOT EXISTS (SELECT 1 FROM retry_chunks c WHERE c.account_id = retries.account_id AND c.retry_id = retries.id)`
	// insertRetry waits while another retry of the prism is being stored.
	insertRetry = `INSERT INTO retries (account_id, prism_id, id, key_id, leased_at) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT DO NOTHING RETURNING id`
	insertRetryChunks = `INSERT INTO retry_chunks (account_id, retry_id, number, version, ids, states, pending) VALUES `
)

// retryDoneState is the letter of a result that was retried, or cannot be retried any more.
const retryDoneState = 'd'

const (
	// retryPage is how many results of a new retry one statement finds.
	retryPage = 10_000
	// chunksAtOnce is how many chunks of a new retry one statement stores.
	chunksAtOnce = 20
)

type retryDetail struct {
	By       []string `json:"by,omitzero"`
	From     string   `json:"from,omitzero"`
	To       string   `json:"to,omitzero"`
	Retrying int64    `json:"retrying"`
}

// whereRetryable narrows the list to the results that a retry matches.
func whereRetryable(l *sqldb.List, query string, r Retry) {
	l.Results(query, r.Account, store.Filter{Prism: r.Prism, Status: prism.Failed, From: r.From, To: r.To})
	l.Write(" AND r.retried_by IS NULL")
}

// upToMost bounds the list by one more than a retry may have.
var upToMost = " LIMIT " + strconv.Itoa(api.MaxRetried+1)

// CountRetry implements RetryStore.
func (s SQL) CountRetry(ctx context.Context, r Retry) (matches int64, underWay bool, err error) {
	args := []any{r.Account.UUID, r.Prism.UUID}
	if err := s.Run(ctx, sqldb.Query("retry_under_way", retryUnderWay, args...), sqldb.ReadRow(&underWay, (*sqldb.Row).Bool)); err != nil {
		return 0, false, err
	}
	if r.By != nil {
		run := func(ctx context.Context, st sqldb.Statement, read sqldb.Reader) error {
			st.Operation, st.ReadOnly = "count_retry", true
			return s.Run(ctx, st, read)
		}
		matches, err = eachMatch(ctx, run, r, func(retryable) error { return nil })
		return matches, underWay, err
	}
	l := sqldb.NewList("count_retry")
	whereRetryable(&l, countRetryable, r)
	l.Write(upToMost + ") r")
	err = s.Run(ctx, l.Complete(), sqldb.ReadRow(&matches, (*sqldb.Row).Int))
	return matches, underWay, err
}

// AddRetry implements RetryStore. All pages of ids are of one snapshot.
func (s SQL) AddRetry(ctx context.Context, r Retry, expected int64, by store.By) error {
	return s.Transaction(ctx, "add_retry", func(run sqldb.Run) error {
		if err := s.Snapshot(ctx, run); err != nil {
			return err
		}
		key := []any{r.Account.UUID, r.Prism.UUID}
		if err := run(ctx, sqldb.Statement{Text: removeEndedRetry, Args: key}, sqldb.NoRow); err != nil {
			return err
		}
		err := run(ctx, sqldb.Statement{Text: insertRetry, Args: append(key, r.ID.UUID, r.Key.UUID, by.At)}, sqldb.SomeRow)
		if errors.Is(err, store.ErrNotFound) {
			return store.ErrRetrying
		}
		if err != nil {
			return err
		}
		matches, err := addRetried(ctx, run, r)
		if err != nil {
			return err
		}
		if matches != expected {
			return &store.MatchError{Matches: matches}
		}
		crash.At(crash.InCommit)
		detail := retryDetail{By: r.By, Retrying: expected}
		if !r.From.IsZero() {
			detail.From = prism.FormatTime(r.From)
		}
		if !r.To.IsZero() {
			detail.To = prism.FormatTime(r.To)
		}
		return prisms.Record(ctx, run, r.Account, by, store.ResultsRetry, r.Prism, r.Slug, detail)
	})
}

// retryable is a result that can be retried.
type retryable struct {
	id      prism.UUID
	version int32
}

// addRetried stores the chunks of a retry, and returns how many results they have. It stops after api.MaxRetried and a page.
func addRetried(ctx context.Context, run sqldb.Run, r Retry) (matches int64, err error) {
	chunks := newChunks{key: []any{r.Account.UUID, r.ID.UUID}, open: map[int32][]byte{}}
	matches, err = eachMatch(ctx, run, r, func(found retryable) error { return chunks.add(ctx, run, found) })
	if err != nil {
		return 0, err
	}
	return matches, chunks.end(ctx, run)
}

// eachMatch calls add with each result that a retry matches, and counts them. It stops after api.MaxRetried and a page.
func eachMatch(ctx context.Context, run sqldb.Run, r Retry, add func(retryable) error) (matches int64, err error) {
	var among map[prism.UUID]bool
	if r.By != nil {
		among = make(map[prism.UUID]bool, len(r.Among))
		for _, id := range r.Among {
			among[id.UUID] = true
		}
	}
	var page []retryable
	for after, read := (prism.UUID{}), retryPage; read == retryPage && matches <= api.MaxRetried; {
		l := sqldb.List{}
		whereRetryable(&l, selectRetryable, r)
		l.Add(" AND r.id > ", after)
		l.Write(" ORDER BY r.id LIMIT " + strconv.Itoa(retryPage))
		err := run(ctx, l.Complete(), sqldb.ReadRows(&page, func(r *sqldb.Row) retryable { return retryable{r.UUID(), r.Int32()} }))
		if err != nil {
			return 0, err
		}
		if read = len(page); read > 0 {
			after = page[read-1].id
		}
		for _, found := range page {
			if among != nil && !among[found.id] {
				continue
			}
			matches++
			if err := add(found); err != nil {
				return 0, err
			}
		}
	}
	return matches, nil
}

// newChunks are the chunks of a retry that are not stored yet, each of results of one version.
type newChunks struct {
	key    []any            // account and retry
	open   map[int32][]byte // ids by version
	args   []any            // of chunks to be stored together
	number int32
}

// add adds a result to the chunk of its version.
func (c *newChunks) add(ctx context.Context, run sqldb.Run, r retryable) error {
	c.open[r.version] = append(c.open[r.version], r.id[:]...)
	ids := c.open[r.version]
	if len(ids) < contract.ChunkRows*len(r.id) {
		return nil
	}
	delete(c.open, r.version)
	return c.close(ctx, run, r.version, ids)
}

// close adds a chunk to those that are stored together, and stores them if they are chunksAtOnce.
func (c *newChunks) close(ctx context.Context, run sqldb.Run, version int32, ids []byte) error {
	n := len(ids) / len(prism.UUID{})
	c.args = append(c.args, c.number, version, ids, strings.Repeat(string(RowPendingState), n), int32(n)) //nolint:gosec // few
	c.number++
	if c.number%chunksAtOnce != 0 {
		return nil
	}
	return c.flush(ctx, run)
}

// end stores what is left.
func (c *newChunks) end(ctx context.Context, run sqldb.Run) error {
	for version, ids := range c.open {
		if err := c.close(ctx, run, version, ids); err != nil {
			return err
		}
	}
	return c.flush(ctx, run)
}

// flush stores the closed chunks.
func (c *newChunks) flush(ctx context.Context, run sqldb.Run) error {
	if len(c.args) == 0 {
		return nil
	}
	l := sqldb.List{Statement: sqldb.Statement{Args: c.key[:2:2]}}
	l.Write(insertRetryChunks)
	for i, arg := range c.args {
		switch {
		case i == 0:
			l.Write("($1, $2")
		case i%5 == 0:
			l.Write("), ($1, $2")
		}
		l.Add(", ", arg)
	}
	l.Write(")")
	c.args = nil
	return run(ctx, l.Complete(), sqldb.NoRow)
}
