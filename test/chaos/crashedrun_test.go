package chaos

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/test/chaos/internal/system"
	"github.com/prism-results/prism/test/internal/load"
	"github.com/prism-results/prism/test/internal/upstream"
)

// A process dies at each step of a file, of its run, and of what deletes both, and is started again. Each row gets one result, in the
// order of the file. A worker that dies has the model called again only for the rows that were under way in it; results that die cost
// no call. Leases of the process that died are ended by hand: that they end by themselves is another test's.
//
// spec: worker-crash, one-result-a-row, run-counts, file-reading, file-parts, file-delete, deletion-goes-on
func TestARunGoesOnAfterAProcessDiedAtEachStep(t *testing.T) {
	t.Parallel()
	s := startSystem(t, system.Config{
		Flags: armable, Forgetful: true, Workers: 1, Model: upstream.Config{Pause: 20 * time.Millisecond},
	})
	if err := s.Results[1].Kill(); err != nil { // otherwise it would take what the other one dies of
		t.Fatal(err)
	}
	c := &crashedRuns{System: s, client: newRunner(t, s)}
	c.delete(t)
	worker, results := s.Workers[0], s.Results[0]
	for _, step := range []struct {
		victim *system.Part
		points []crash.Point
		once   func(t *testing.T, victim *system.Part, at crash.Point)
	}{
		{worker, crash.RunPoints(), c.worker},
		{results, slices.Concat(crash.FilePoints(), []crash.Point{crash.BeforeCommit, crash.InCommit, crash.AfterCommit}), c.results},
		{results, []crash.Point{crash.InRemoval}, c.removal},
		{results, []crash.Point{crash.InDeletion}, c.deletion},
	} {
		for _, at := range step.points {
			t.Run(fmt.Sprintf("%s, %s", step.victim.Name, at), func(t *testing.T) { step.once(t, step.victim, at) })
		}
	}
	report(t, s.Problems())
}

// crashedRuns are runs of one account, whose rows are races one after the other.
type crashedRuns struct {
	*system.System
	client   *client.Client
	races    int
	deleting *fileRun
	before   client.Run // what it was
}

// Rows of one chunk and of two. Who leases the second one as results die waits for the end of the lease.
const oneChunk, twoChunks = 200, 300

func (c *crashedRuns) next(rows int) *fileRun {
	f := &fileRun{client: c.client, first: c.races + 1, rows: rows}
	c.races += f.rows
	return f
}

// worker has a worker die of a run.
func (c *crashedRuns) worker(t *testing.T, victim *system.Part, at crash.Point) {
	f := c.next(twoChunks)
	must(t, victim.Kill(), f.start(t.Context(), upstream.Tag{}), victim.StartArmed(t.Context(), at))
	c.dies(t, victim)
	saved, err := f.stored(t.Context(), c.System)
	must(t, err, c.end(t, `UPDATE run_chunks SET leased_until = now() - interval '1 second' WHERE token IS NOT NULL`))
	must(t, victim.Start(t.Context()))
	f.audit(t, c.System, f.finish(t))
	for row, n := range c.asked(f) {
		most := 2 // under way in the worker that died: what model-proxy got of it goes on
		if _, done := saved[row]; done {
			most = 1
		}
		if n < 1 || n > most {
			t.Errorf("VIOLATION: row %d was asked %d times, at most %d are right", row, n, most)
		}
	}
}

// results has results die of a file or of its run.
func (c *crashedRuns) results(t *testing.T, victim *system.Part, at crash.Point) {
	f := c.next(oneChunk)
	must(t, victim.Kill(), victim.StartArmed(t.Context(), at))
	started := make(chan error, 1)
	go func() { started <- f.start(t.Context(), upstream.Tag{}) }()
	c.dies(t, victim)
	must(t, c.end(t, `UPDATE files SET leased_until = now() - interval '1 second' WHERE lease_token IS NOT NULL`))
	must(t, victim.Start(t.Context()), <-started)
	f.audit(t, c.System, f.finish(t))
	for row, n := range c.asked(f) {
		if n != 1 {
			t.Errorf("VIOLATION: row %d was asked %d times, and its worker lives", row, n)
		}
	}
}

// removal has results die of the content of a deleted file.
func (c *crashedRuns) removal(t *testing.T, victim *system.Part, at crash.Point) {
	f := c.next(oneChunk)
	must(t, f.start(t.Context(), upstream.Tag{}))
	f.finish(t)
	must(t, c.client.DeleteFile(t.Context(), f.file), victim.Kill(),
		c.end(t, `UPDATE files SET expires_at = now() - interval '1 hour' WHERE status = 'deleted'`), victim.StartArmed(t.Context(), at))
	c.dies(t, victim)
	must(t, victim.Start(t.Context()))
	c.until(t, "nothing is left of the file", `SELECT count(*) = 0 FROM (
		SELECT id FROM files UNION ALL SELECT file_id FROM file_contents
		UNION ALL SELECT file_id FROM file_parts UNION ALL SELECT file_id FROM file_chunks
	) f WHERE f.id = $1`, f.file)
	if n := c.count(t, f); n != f.rows {
		t.Errorf("VIOLATION: %d of %d results are left", n, f.rows)
	}
}

// delete has the results of a run deleted. Young results are when they are a minute old, and meanwhile the other cases run.
func (c *crashedRuns) delete(t *testing.T) {
	t.Helper()
	c.deleting = c.next(oneChunk)
	must(t, c.deleting.start(t.Context(), upstream.Tag{}))
	c.before = c.deleting.finish(t)
	_, err := c.client.DeleteResults(t.Context(), load.Slugs[0], client.ResultDeletion{Status: client.OK})
	must(t, err)
	c.until(t, "the first pass ends", `SELECT count(*) > 0 FROM deletions WHERE due_at > now() AND $1 <> ''`, c.deleting.id)
	must(t, c.end(t, `CREATE TABLE held AS SELECT * FROM deletions; DELETE FROM deletions`)) // until its case
}

// deletion has results die of the deletion. Rows keep their states.
func (c *crashedRuns) deletion(t *testing.T, victim *system.Part, at crash.Point) {
	const free = `UPDATE deletions SET leased_until = now() - interval '1 second'`
	must(t, victim.Kill(), c.end(t, `INSERT INTO deletions SELECT * FROM held;`+free), victim.StartArmed(t.Context(), at))
	c.dies(t, victim)
	must(t, c.end(t, free), victim.Start(t.Context()))
	c.until(t, "all results are deleted", `SELECT count(*) = 0 FROM results WHERE run_id = $1`, c.deleting.id)
	if after := c.deleting.finish(t); after.OK != c.before.OK || after.Failed != c.before.Failed {
		t.Errorf("VIOLATION: the run was %+v and is %+v", c.before, after)
	}
}

// dies waits until the victim is at its step.
func (c *crashedRuns) dies(t *testing.T, victim *system.Part) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), toDie)
	defer cancel()
	must(t, victim.Died(ctx))
}

// asked is how often the model was asked for each row.
func (c *crashedRuns) asked(f *fileRun) map[int]int {
	asked := map[int]int{}
	for row := 1; row <= f.rows; row++ {
		asked[row] = c.Model.Count(f.first + row - 1).Asked
	}
	return asked
}

// end changes what is stored, as the time would.
func (c *crashedRuns) end(t *testing.T, statement string) error {
	conn, err := pgx.Connect(t.Context(), c.DatabaseURL())
	if err != nil {
		return err
	}
	defer conn.Close(t.Context())
	_, err = conn.Exec(t.Context(), statement)
	return err
}

// count is the results of a run.
func (c *crashedRuns) count(t *testing.T, f *fileRun) (n int) {
	t.Helper()
	stored, err := f.stored(t.Context(), c.System)
	must(t, err)
	return len(stored)
}

func (c *crashedRuns) until(t *testing.T, what, query string, id string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), c.DatabaseURL())
	must(t, err)
	defer conn.Close(t.Context())
	until(t, what, func() (yes bool) {
		must(t, conn.QueryRow(t.Context(), query, id).Scan(&yes))
		return yes
	})
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range drop(errs) {
		t.Fatal(err)
	}
}
