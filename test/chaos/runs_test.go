package chaos

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/test/chaos/internal/fault"
	"github.com/prism-results/prism/test/chaos/internal/system"
	"github.com/prism-results/prism/test/internal/load"
	"github.com/prism-results/prism/test/internal/upstream"
)

// rowsPerSecond is how many rows of a run the tests have for each second of faults: the run outlasts them.
const rowsPerSecond = 400

// TestARunAnswersEachRowOnceWhateverFails runs a file while processes die, links break and stores restart.
// spec: one-result-a-row, run-counts, run-rows-columns
func TestARunAnswersEachRowOnceWhateverFails(t *testing.T) {
	t.Parallel()
	d, n := length(t), seed(t)
	s := startSystem(t, system.Config{
		Workers: 2, Model: upstream.Config{Seed: n, Pause: 20 * time.Millisecond, MaxPause: time.Second},
	})
	tag := upstream.Tag{FailPercent: 10, SlowPercent: 2, FlakyPercent: 2}
	f := startRun(t, s, int(d.Seconds()*rowsPerSecond), tag)
	w := &world{System: s, seed: n}
	plan := w.plan(d)
	t.Logf("seed %d: %d rows, %d faults in %s", n, f.rows, len(plan), d)
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	faults := fault.NewRunner(s)
	faults.Run(ctx, plan)
	f.audit(t, s, f.finish(t))
	killed := faults.Counts()
	asked := s.Model.Total()
	t.Logf("faults: %v; model calls: %d for %d rows", killed, asked.Asked, f.rows)
	for _, err := range s.Problems() {
		t.Errorf("VIOLATION: %v", err)
	}
}

// spec: one-result-a-row
func TestWithoutFaultsARunAsksTheModelOnceForEachRow(t *testing.T) {
	s := startSystem(t, system.Config{Workers: 2, Model: upstream.Config{Seed: seed(t), Pause: time.Millisecond}})
	f := startRun(t, s, 2000, upstream.Tag{})
	f.audit(t, s, f.finish(t))
	if asked := s.Model.Total().Asked; asked != f.rows {
		t.Errorf("VIOLATION: %d model calls for %d rows", asked, f.rows)
	}
}

// fileRun is a run of a file each of whose rows is a race of the counting model.
type fileRun struct {
	client *client.Client
	id     string
	file   string
	first  int // race
	rows   int
	filler int // bytes of a further column
}

// runner is the account of runs.
const runner = "runner"

// newRunner is the runner, with a prism.
func newRunner(t *testing.T, s *system.System) *client.Client {
	t.Helper()
	return newClientOf(t, s, s.Gateways[0].URL())
}

func newClientOf(t *testing.T, o operated, url string) *client.Client {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), caseBudget)
	defer cancel()
	key, err := o.Account(ctx, runner)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(client.Config{URL: url, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	definition, err := json.Marshal(load.Definition(load.Slugs[0]))
	if err != nil {
		t.Fatal(err)
	}
	var p client.NewPrism
	if err := json.Unmarshal(definition, &p); err != nil {
		t.Fatal(err)
	}
	if _, err := c.CreatePrism(ctx, p); err != nil {
		t.Fatal(err)
	}
	return c
}

func startRun(t *testing.T, s *system.System, rows int, tag upstream.Tag) *fileRun {
	t.Helper()
	f := &fileRun{client: newRunner(t, s), first: 1, rows: rows}
	if err := f.start(t.Context(), tag); err != nil {
		t.Fatal(err)
	}
	return f
}

// start uploads the file and makes its run.
func (f *fileRun) start(ctx context.Context, tag upstream.Tag) error {
	ctx, cancel := context.WithTimeout(ctx, caseBudget)
	defer cancel()
	return f.startOf(ctx, client.FileCSV, []byte(f.content(tag)))
}

// content is the file as csv.
func (f *fileRun) content(tag upstream.Tag) string {
	var file strings.Builder
	file.WriteString("number,text,filler\n")
	for row := range f.rows {
		tag.Race = f.first + row
		fmt.Fprintf(&file, "%d,%s,%s\n", row+1, tag, strings.Repeat("x", f.filler))
	}
	return file.String()
}

// startOf is start with the file in some format.
func (f *fileRun) startOf(ctx context.Context, format client.FileFormat, content []byte) error {
	stored, err := f.client.UploadFile(ctx, client.Upload{
		Name: fmt.Sprintf("races-%d", f.first), Format: format, Content: bytes.NewReader(content), Bytes: int64(len(content)),
	})
	f.file = stored.ID
	if err != nil {
		return err
	}
	never := 1.0
	run, err := f.client.CreateRun(ctx, load.Slugs[0], client.NewRun{
		FileID: stored.ID, Fields: map[string]string{"message": "text"}, Ref: "number", PauseAtFailures: &never,
		IdempotencyKey: stored.ID,
	})
	f.id = run.ID
	return err
}

// finish heals nothing: it waits until the run is over.
func (f *fileRun) finish(t *testing.T) client.Run {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	var run client.Run
	for {
		read, err := f.client.ReadRun(ctx, f.id)
		if err == nil {
			if run = read; run.OK+run.Failed+run.Invalid+run.Cancelled+run.Pending != run.Rows {
				t.Fatalf("VIOLATION: the counts do not add up: %+v", run)
			}
			if run.Status.Settled() {
				return run
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("VIOLATION: the run does not end: %+v, %v", run, err)
		}
	}
}

// audit holds the finished run, its download and the table of results against each other and against the model.
func (f *fileRun) audit(t *testing.T, s *system.System, run client.Run) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), caseBudget)
	defer cancel()
	if run.Status != client.RunFinished || run.Rows != int64(f.rows) || run.Pending+run.Invalid+run.Cancelled != 0 {
		t.Errorf("VIOLATION: the run ended as %+v", run)
	}
	stored, err := f.stored(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	body, err := f.client.ListRunRows(ctx, f.id, client.RunRows{Format: client.RowsJSONL})
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	lines := bufio.NewReader(body)
	counts := map[string]int64{}
	for row := 1; row <= f.rows; row++ {
		line, err := lines.ReadBytes('\n')
		var got map[string]any
		if err := errors.Join(err, json.Unmarshal(line, &got)); err != nil {
			t.Fatalf("VIOLATION: row %d of the download: %v", row, err)
		}
		number, id, status := got["prism_row"], got["prism_result_id"], got["prism_status"]
		if saved := stored[row]; number != float64(row) || got["number"] != fmt.Sprint(row) || id != saved.id || status != saved.status {
			t.Errorf("VIOLATION: row %d is %s and stored is %+v", row, line, saved)
		}
		counts[fmt.Sprint(status)]++
	}
	if rest, err := io.ReadAll(lines); err != nil || len(rest) > 0 {
		t.Errorf("VIOLATION: behind the last row: %.100s, %v", rest, err)
	}
	if counts["ok"] != run.OK || counts["failed"] != run.Failed {
		t.Errorf("VIOLATION: the download has %v and the run %+v", counts, run)
	}
}

// savedRow is the result of a row.
type savedRow struct{ id, status string }

// stored are the results of the run by row. Each has the answer that the model gave for its row.
func (f *fileRun) stored(ctx context.Context, s *system.System) (map[int]savedRow, error) {
	conn, err := pgx.Connect(ctx, s.DatabaseURL())
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, `SELECT id::text, run_row, ref, status, (answers #>> '{urgent,probability}')::float8
		FROM results WHERE run_id = $1`, f.id)
	if err != nil {
		return nil, err
	}
	stored := map[int]savedRow{}
	var (
		r           savedRow
		row         int
		ref         string
		probability *float64
	)
	_, err = pgx.ForEachRow(rows, []any{&r.id, &row, &ref, &r.status, &probability}, func() error {
		if stored[row] != (savedRow{}) {
			return fmt.Errorf("VIOLATION: row %d has two results", row)
		}
		stored[row] = r
		if ref != fmt.Sprint(row) {
			return fmt.Errorf("VIOLATION: row %d has the ref %s", row, ref)
		}
		if probability == nil {
			return nil
		}
		number, err := upstream.Number(*probability)
		if err != nil {
			return err
		}
		race, err := s.Model.Race(number)
		if err != nil {
			return fmt.Errorf("VIOLATION: row %d has the answer of no row: %w", row, err)
		}
		if race != f.first+row-1 {
			return fmt.Errorf("VIOLATION: row %d has the answer of row %d", row, race-f.first+1)
		}
		return nil
	})
	return stored, err
}
