package load

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// Line is a line of what the load prints: many of progress, and at last the report.
type Line struct {
	Progress *Progress `json:"progress,omitempty"`
	Report   *Report   `json:"report,omitempty"`
}

// Progress is how far a load is.
type Progress struct {
	Requests int `json:"requests"` // that were answered, or lost
	InFlight int `json:"in_flight"`
	Failed   int `json:"failed"`
	Wrong    int `json:"wrong"`
}

// Report is what a load has seen.
type Report struct {
	Seconds  float64         `json:"seconds"`
	Requests int             `json:"requests"`
	Failed   int             `json:"failed"`
	Wrong    int             `json:"wrong"`
	Kinds    map[Kind]*Stats `json:"kinds"`
	// Causes counts what went wrong, and Details are the first ones.
	Causes  map[string]int `json:"causes,omitempty"`
	Details []Detail       `json:"details,omitempty"`
	// Connections were opened; Replayed requests went over a second one, as the first was dead.
	Connections int   `json:"connections"`
	Replayed    int   `json:"replayed"`
	Audit       Audit `json:"audit"`
}

// Stats are those of one kind of request. Times are milliseconds from when a request was due.
type Stats struct {
	Requests int   `json:"requests"`
	Failed   int   `json:"failed,omitempty"`
	Wrong    int   `json:"wrong,omitempty"`
	P50      int64 `json:"p50_ms"`
	P99      int64 `json:"p99_ms"`
	Max      int64 `json:"max_ms"`
}

// Detail is one request that went wrong.
type Detail struct {
	Kind    Kind    `json:"kind"`
	Due     float64 `json:"due"` // seconds after the beginning
	TookMS  int64   `json:"took_ms"`
	Call    string  `json:"call"`
	Problem string  `json:"problem"`
}

// Audit is what was found at the end.
type Audit struct {
	// Answered results, each of which was read back.
	Answered int `json:"answered"`
	// Problems are results that are lost, changed or doubled, and calls that are stuck.
	Problems []string `json:"problems,omitempty"`
	// Settled calls had no answer at first, and got the right one when they were repeated.
	Settled int `json:"settled"`
	// Saved results were saved, and never answered.
	Saved int `json:"saved"`
	// Asked is how often the model was asked.
	Asked int `json:"asked"`
}

// Unbroken fails unless all requests were answered, and rightly, with nothing lost and the model asked once for each result.
//
// A repeat alone may ask the model again: where a busy node makes Redis slower than a lock waits for it, calls go on without
// locks, and the database decides. When it is more than half of them, the locks do not work.
func (r *Report) Unbroken() error {
	var problems []error
	if r.Failed > 0 {
		problems = append(problems, fmt.Errorf("%d of %d requests failed: %v", r.Failed, r.Requests, r.Causes))
	}
	if r.Audit.Saved > 0 || r.Audit.Settled > 0 {
		problems = append(problems, fmt.Errorf("%d results were saved unanswered, %d calls had to be repeated", r.Audit.Saved, r.Audit.Settled))
	}
	repeats := 0
	if stats := r.Kinds[Repeat]; stats != nil {
		repeats = stats.Requests
	}
	if again := r.Audit.Asked - r.Audit.Answered; again < 0 || 2*again > repeats {
		problems = append(problems, fmt.Errorf("the model was asked %d times for %d results", r.Audit.Asked, r.Audit.Answered))
	}
	return errors.Join(r.Right(), errors.Join(problems...))
}

// Right fails when an answer was wrong, or something is lost. Requests may have failed.
func (r *Report) Right() error {
	var problems []error
	if r.Wrong > 0 {
		problems = append(problems, fmt.Errorf("%d of %d answers were wrong: %v", r.Wrong, r.Requests, r.Causes))
	}
	for _, p := range r.Audit.Problems {
		problems = append(problems, errors.New(p))
	}
	if r.Audit.Answered == 0 {
		problems = append(problems, errors.New("nothing was answered"))
	}
	return errors.Join(problems...)
}

// maxDetails bounds what is kept of what goes wrong.
const maxDetails = 30

// recorder counts while requests are under way.
type recorder struct {
	began time.Time

	mu       sync.Mutex
	report   Report
	inFlight int
	took     map[Kind][]time.Duration
}

func newRecorder() *recorder {
	return &recorder{
		began:  time.Now(),
		report: Report{Kinds: map[Kind]*Stats{}, Causes: map[string]int{}},
		took:   map[Kind][]time.Duration{},
	}
}

func (r *recorder) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inFlight++
}

func (r *recorder) end(kind Kind, due time.Time, call string, v finding) {
	took := time.Since(due)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inFlight--
	r.report.Requests++
	stats := r.report.Kinds[kind]
	if stats == nil {
		stats = &Stats{}
		r.report.Kinds[kind] = stats
	}
	stats.Requests++
	r.took[kind] = append(r.took[kind], took)
	problem := v.failed
	switch {
	case v.wrong != "":
		r.report.Wrong++
		stats.Wrong++
		problem = "wrong: " + v.wrong
	case v.failed != "":
		r.report.Failed++
		stats.Failed++
	default:
		return
	}
	r.report.Causes[string(kind)+": "+problem]++
	if len(r.report.Details) < maxDetails {
		r.report.Details = append(r.report.Details, Detail{
			Kind: kind, Due: due.Sub(r.began).Seconds(), TookMS: took.Milliseconds(), Call: call, Problem: problem,
		})
	}
}

func (r *recorder) progress() Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Progress{Requests: r.report.Requests, InFlight: r.inFlight, Failed: r.report.Failed, Wrong: r.report.Wrong}
}

// done is the report; nothing is under way any more.
func (r *recorder) done(c *Client, a Audit) *Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	for kind, took := range maps.All(r.took) {
		slices.Sort(took)
		at := func(q float64) int64 { return took[int(q*float64(len(took)-1))].Milliseconds() }
		stats := r.report.Kinds[kind]
		stats.P50, stats.P99, stats.Max = at(0.5), at(0.99), at(1)
	}
	r.report.Seconds = time.Since(r.began).Seconds()
	r.report.Connections, r.report.Replayed = int(c.opened.Load()), int(c.replayed.Load())
	r.report.Audit = a
	return &r.report
}
