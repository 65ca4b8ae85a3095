package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/prism-results/prism/test/internal/history"
	"github.com/prism-results/prism/test/internal/upstream"
)

// maxProblems bounds the problems of a report.
const maxProblems = 20

// Line is a line of what a load in a cluster prints: many of progress, and at last the report.
type Line struct {
	Progress *Seen   `json:",omitempty"`
	Report   *Report `json:",omitempty"`
}

// Report is what a load has seen, and what it found at the end through the API alone.
type Report struct {
	Seen     Seen
	Asked    int // calls to the model
	Stored   int // results
	Unserved int // stored results that no client received
	// Problems are violations of the specification: results that are lost, changed or doubled, and calls that are stuck.
	Problems []string
}

// Failed are the calls without a response, and those with a 500 or a 503.
func (r *Report) Failed() int { return r.Seen.Nothing + r.Seen.Unknown }

// Unbroken fails unless every call got its response, nothing is lost, and the model was called once for each result.
//
// A few calls may be more: where a busy node makes Redis slower than a gateway waits, the gateway goes on without locks, and
// the database decides. When they are more than a tenth, the locks do not work.
func (r *Report) Unbroken() error {
	problems := []error{r.Right()}
	if r.Failed() > 0 {
		problems = append(problems, fmt.Errorf("%d of %d calls failed: %v", r.Failed(), r.Seen.Calls, r.Seen.Causes))
	}
	if r.Unserved > 0 {
		problems = append(problems, fmt.Errorf("%d results were stored and never returned", r.Unserved))
	}
	if again := r.Asked - r.Stored; again < 0 || 10*again > r.Stored {
		problems = append(problems, fmt.Errorf("the model was asked %d times for %d results", r.Asked, r.Stored))
	}
	return errors.Join(problems...)
}

// Right fails when a response was wrong, or something is lost. Calls may have failed.
func (r *Report) Right() error {
	var problems []error
	for _, p := range r.Problems {
		problems = append(problems, errors.New(p))
	}
	if r.Seen.Results == 0 {
		problems = append(problems, errors.New("there is no result"))
	}
	return errors.Join(problems...)
}

// Report makes calls until stop ends, brings every race to its end, and reads everything back. model is the URL of an
// upstream.Handler that nothing else calls. progress is called each second.
func (l *Load) Report(ctx, stop context.Context, model string, progress func(Seen)) (*Report, error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				progress(l.Seen())
			case <-stop.Done():
				return
			}
		}
	}()
	l.Run(stop)
	<-done
	l.Finish(ctx)
	r := &Report{}
	if err := l.audit(ctx, model, r); err != nil {
		return nil, err
	}
	r.Seen = l.Seen()
	problems := l.Problems()
	for _, v := range history.Check(l.Histories()) {
		problems = append(problems, errors.New(v.String()))
	}
	for _, err := range problems[:min(len(problems), maxProblems)] {
		r.Problems = append(r.Problems, err.Error())
	}
	return r, nil
}

// audit reads every result again, and compares the exports with the responses and with the answers of the model.
func (l *Load) audit(ctx context.Context, model string, r *Report) error {
	served := l.Served()
	for id := range served {
		for _, format := range []string{"json", "raw"} {
			l.call(ctx, l.Race(l.Owner(id)), 0, l.config.Gateways[0], intent{kind: history.Read, target: id, format: format})
		}
	}
	tally, err := l.tally(ctx, model)
	if err != nil {
		return err
	}
	r.Asked = tally.Asked
	numbers := map[int]string{}
	for account := range l.config.Keys {
		for _, slug := range Slugs {
			rows, err := l.export(ctx, l.key(account), slug)
			if err != nil {
				return err
			}
			for _, row := range rows {
				r.Stored++
				if _, ok := served[row.ID]; !ok {
					r.Unserved++
				}
				delete(served, row.ID)
				if err := row.check(tally.Races, numbers); err != nil {
					l.problem(fmt.Errorf("result %s: %w", row.ID, err))
				}
			}
		}
	}
	for id := range served {
		l.problem(fmt.Errorf("result %s was returned and is not in the export", id))
	}
	return nil
}

// exported is a line of an export.
type exported struct {
	ID     string   `json:"result_id"`
	Ref    string   `json:"ref"`
	Status string   `json:"status"`
	Urgent *float64 `json:"urgent_probability"`
}

// check holds that an answer was given to the race of its result, and stored once. numbers are the answers seen so far.
func (e exported) check(races []int, numbers map[int]string) error {
	if e.Status != string(history.OK) {
		return nil
	}
	if e.Urgent == nil {
		return errors.New("it has no answer")
	}
	n, err := upstream.Number(*e.Urgent)
	if err != nil {
		return err
	}
	if other, ok := numbers[n]; ok {
		return fmt.Errorf("its answer was also stored as %s", other)
	}
	numbers[n] = e.ID
	race, err := RaceOf(e.Ref)
	if err == nil && (n >= len(races) || races[n] != race) {
		err = fmt.Errorf("of race %d, it has an answer that was given to another race", race)
	}
	return err
}

func (l *Load) export(ctx context.Context, key, slug string) (rows []exported, err error) {
	got := l.client.Do(ctx, Request{
		Method: http.MethodGet, Key: key, URL: "http://" + l.config.Gateways[0] + "/v1/prisms/" + slug + "/results", Format: "jsonl",
	})
	if got.Err != nil || got.Status != http.StatusOK {
		return nil, fmt.Errorf("load: the export: %w", got.unknown())
	}
	for line := range bytes.Lines(got.Body) {
		var row exported
		if err := json.Unmarshal(line, &row); err != nil {
			return nil, fmt.Errorf("load: the export: %w", err)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func (l *Load) tally(ctx context.Context, model string) (t upstream.Tally, err error) {
	got := l.client.Do(ctx, Request{Method: http.MethodGet, URL: model + "/tally"})
	if got.Err != nil || got.Status != http.StatusOK {
		return t, fmt.Errorf("load: the model's tally: %w", got.unknown())
	}
	return t, json.Unmarshal(got.Body, &t)
}

// Prepare creates the prisms of the load for both accounts. A 503 is repeated: a busy machine may answer with some.
func (l *Load) Prepare(ctx context.Context) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for account := range l.config.Keys {
		for _, slug := range Slugs {
			for {
				got := l.client.Do(ctx, Request{
					Method: http.MethodPost, URL: "http://" + l.config.Gateways[0] + "/v1/prisms", Key: l.key(account), Body: Definition(slug),
				})
				if got.Err == nil && got.Status == http.StatusCreated {
					break
				}
				if got.Err != nil || got.Status != http.StatusServiceUnavailable {
					return fmt.Errorf("load: creating prism %s: %w", slug, got.unknown())
				}
				select {
				case <-tick.C:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		}
	}
	return nil
}

// Definition is a prism of the load.
func Definition(slug string) any {
	return map[string]any{
		"slug": slug, "fields": []any{map[string]any{"key": "message"}},
		"questions": []any{map[string]any{"key": "urgent", "type": "yes_no", "text": "Is it urgent?"}},
	}
}
