package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// shown is a run as the API shows it.
type shown struct {
	Status                                        prism.RunStatus
	Rows, OK, Failed, Invalid, Cancelled, Pending int
}

// look reads a run, whose counts always add up.
func (h *seeded) look(t *testing.T, r *seededRun) (s shown) {
	t.Helper()
	read, err := contract.Do(t.Context(), h.results, h.key, api.ReadRun, api.RunRequest{Run: r.id})
	if err := errors.Join(err, json.Unmarshal(read.Body, &s)); err != nil {
		t.Fatal(err)
	}
	if s.OK+s.Failed+s.Invalid+s.Cancelled+s.Pending != s.Rows || s.Rows != r.rows {
		t.Fatalf("VIOLATION: the counts of %d rows do not add up: %s", r.rows, read.Body)
	}
	return s
}

func (s shown) over() bool {
	return s.Status == prism.RunFinished || s.Status == prism.RunCancelled
}

// act does something to a run. Runs that are over refuse it.
func (h *seeded) act(t *testing.T, r *seededRun, op api.Op[api.RunRequest, api.Run]) (done bool) {
	t.Helper()
	_, err := contract.Do(t.Context(), h.results, h.key, op, api.RunRequest{Run: r.id})
	if err != nil && !errors.Is(err, apierr.RunOver()) && !errors.Is(err, apierr.NoFailedRows()) {
		t.Fatal(err)
	}
	return err == nil
}

// follow lets runs go on under faults for some minutes or until all are over, while callers change them.
func (h *seeded) follow(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(time.Minute + h.upTo(4*time.Minute)); time.Now().Before(end); <-time.After(h.upTo(3 * time.Second)) {
		left := 0
		for _, r := range h.runs {
			s := h.look(t, r)
			if s.over() {
				continue
			}
			left++
			switch {
			case s.Status == prism.RunPaused && h.chance(30):
				h.act(t, r, api.ResumeRun)
			case h.chance(4):
				h.act(t, r, api.PauseRun)
			case h.chance(1):
				r.cancelled = h.act(t, r, api.CancelRun) || r.cancelled
			case h.chance(4):
				_, err := contract.Do(t.Context(), h.results, h.key, api.SetRunLimits, api.SetRunLimitsRequest{
					RunRequest: api.RunRequest{Run: r.id}, RunLimits: api.RunLimits{Concurrency: new(int(h.upTo(20)))},
				})
				if err != nil && !errors.Is(err, apierr.RunOver()) {
					t.Fatal(err)
				}
			}
		}
		if left == 0 && !h.retrying(t) {
			return
		}
	}
}

// settle waits without faults until all runs are over.
func (h *seeded) settle(t *testing.T) {
	t.Helper()
	h.heal(true)
	defer h.heal(false)
	for end := time.Now().Add(time.Hour); ; <-time.After(time.Second) {
		left := 0
		for _, r := range h.runs {
			s := h.look(t, r)
			if s.over() {
				continue
			}
			left++
			if s.Status == prism.RunPaused {
				h.act(t, r, api.ResumeRun)
			}
			if time.Now().After(end) {
				t.Fatalf("VIOLATION: a run does not end: %+v", s)
			}
		}
		if left == 0 && !h.retrying(t) {
			return
		}
		if time.Now().After(end) {
			t.Fatal("VIOLATION: a retry does not end")
		}
	}
}

func (h *seeded) heal(healed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.healed = healed
}

func (h *seeded) retryMany(t *testing.T, r api.ResultRetry) (contract.Response, error) {
	t.Helper()
	return contract.Do(t.Context(), h.results, h.key, api.RetryResults, api.RetryResultsRequest{ResultRetry: r})
}

// retrying tells whether a retry of many results is under way.
func (h *seeded) retrying(t *testing.T) bool {
	t.Helper()
	const never = 1 << 40 // results that match
	_, err := h.retryMany(t, api.ResultRetry{Prism: seededPrism, Expect: new(int(never))})
	return errors.Is(err, apierr.AreRetried())
}

// retry has the failed rows sent again, by their runs or as results of their prism.
func (h *seeded) retry(t *testing.T) {
	t.Helper()
	many := h.chance(50)
	if many {
		q := api.ResultRetry{Prism: seededPrism, DryRun: true}
		match, err := h.retryMany(t, q)
		var body struct{ Retrying int }
		if err := errors.Join(err, json.Unmarshal(match.Body, &body)); err != nil {
			t.Fatal(err)
		}
		if q.DryRun, q.Expect = false, &body.Retrying; body.Retrying > 0 {
			if _, err := h.retryMany(t, q); err != nil {
				t.Fatal(err)
			}
			h.count(&h.retries)
			for _, r := range h.runs {
				r.attempts++
			}
		}
	}
	for _, r := range h.runs {
		if !many && h.act(t, r, api.RetryRun) {
			h.count(&h.retries)
			r.attempts++
		}
	}
}

// savedResult is a result as the API shows it.
type savedResult struct {
	ID, Ref, Status string
	Answers         *struct{ Urgent struct{ Probability float64 } }
}

// audit holds a run that is over, its results and its download against each other and against the model.
func (h *seeded) audit(t *testing.T, number int, r *seededRun) {
	t.Helper()
	of := h.saved(t, r)
	run := h.look(t, r)
	if !r.cancelled && (run.Cancelled != 0 || run.Invalid != r.invalid) || run.Pending != 0 {
		t.Errorf("VIOLATION: run %d with %d invalid rows ended as %+v", number, r.invalid, run)
	}
	stream, err := contract.Open(t.Context(), h.results, h.key, api.ListRunRows, api.ListRunRowsRequest{
		RunRequest: api.RunRequest{Run: r.id}, Format: prism.RowsJSONL, Only: api.AllRows,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	lines := bufio.NewScanner(stream.Body)
	counts := map[string]int{}
	for row := 1; row <= r.rows; row++ {
		var got struct {
			Number string
			Row    int     `json:"prism_row"`
			ID     *string `json:"prism_result_id"`
			Status string  `json:"prism_status"`
		}
		if !lines.Scan() {
			t.Fatalf("VIOLATION: the download ends before row %d: %v", row, lines.Err())
		}
		if err := json.Unmarshal(lines.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		counts[got.Status]++
		text, saved := r.text(number, row), of[row]
		if got.Row != row || got.Number != strconv.Itoa(row) {
			t.Errorf("VIOLATION: row %d is %s", row, lines.Bytes())
		}
		// A row whose retry was cancelled is cancelled, and shows the failed result before.
		shows, want := len(saved) > 0, got.Status
		if want == string(prism.RowCancelled) {
			want = "failed"
		}
		if len(saved) > r.attempts || (got.ID != nil) != shows || !shows && (got.Status == "ok" || got.Status == "failed") {
			t.Errorf("VIOLATION: row %d is %s and has %d results of %d attempts", row, lines.Bytes(), len(saved), r.attempts)
			continue
		}
		for i, s := range saved {
			last := i == len(saved)-1
			if !last && s.Status != "failed" || last && (s.ID != *got.ID || s.Status != want) {
				t.Errorf("VIOLATION: row %d is %s and its result %d of %d is %+v", row, lines.Bytes(), i+1, len(saved), s)
			}
			if s.Answers == nil {
				continue
			}
			if n := int((s.Answers.Urgent.Probability - 0.5) * oneAnswer); h.answers[n] != text {
				t.Errorf("VIOLATION: row %d has the answer of %q", row, h.answers[n])
			}
		}
		asked := h.asked[text]
		if asked < len(saved) || asked > len(saved)+h.excused[text] {
			t.Errorf("VIOLATION: row %d has %d results of %d model calls; it was under way in %d workers that died",
				row, len(saved), asked, h.excused[text])
		}
		h.tally.results += len(saved)
		h.tally.asked += asked
		h.repeated += asked - len(saved)
	}
	if lines.Scan() {
		t.Errorf("VIOLATION: behind the last row: %.100s", lines.Bytes())
	}
	if counts["ok"] != run.OK || counts["failed"] != run.Failed || counts["invalid"] != run.Invalid || counts["cancelled"] != run.Cancelled {
		t.Errorf("VIOLATION: the download of run %d has %v and the run %+v", number, counts, run)
	}
}

// saved are the results of a run by row, oldest first.
func (h *seeded) saved(t *testing.T, r *seededRun) map[int][]savedResult {
	t.Helper()
	q := api.ListResultsRequest{
		ResultFilter: api.ResultFilter{Run: &r.id}, Format: contract.Raw, PageRequest: api.PageRequest{Limit: 100},
	}
	of, before := map[int][]savedResult{}, 0
	for {
		page, err := contract.Do(t.Context(), h.results, h.key, api.ListResults, q)
		var body struct {
			Data       []savedResult
			NextCursor string `json:"next_cursor"`
		}
		if err := errors.Join(err, json.Unmarshal(page.Body, &body)); err != nil {
			t.Fatal(err)
		}
		for _, s := range body.Data {
			row, err := strconv.Atoi(s.Ref)
			if err != nil || row < before {
				t.Errorf("VIOLATION: a result of row %s comes behind one of row %d", s.Ref, before)
			}
			before = row
			of[row] = append(of[row], s)
		}
		if q.Cursor = body.NextCursor; body.NextCursor == "" {
			return of
		}
	}
}
