package load

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
)

// maxProblems bounds what an audit tells.
const maxProblems = 20

// audit looks at what is left when all is quiet: each call without an answer is repeated, every answered result is read
// back, and what was saved is compared with what was answered.
func (l *Load) audit(ctx context.Context) (Audit, error) {
	a := Audit{Settled: len(l.unknown)}
	for _, u := range l.unknown {
		if problem := l.settle(ctx, u); problem != "" {
			a.problem("%s has no answer and gets none: %s", u.script.Call, problem)
		}
	}
	answered := map[string]bool{}
	for _, e := range l.ledger.entries() {
		a.Answered++
		answered[e.id] = true
		if v := e.judge("json", l.client.do(ctx, http.MethodGet, "/v1/results/"+e.id, nil)); v != (finding{}) {
			a.problem("result %s was answered, and now: %s%s", e.id, v.failed, v.wrong)
		}
	}
	rows, err := l.export(ctx)
	if err != nil {
		return a, err
	}
	usable := map[string]int{}
	for _, row := range rows {
		if !answered[row.ID] {
			a.Saved++
		}
		delete(answered, row.ID)
		if row.Status == "ok" {
			usable[row.Ref]++
		}
	}
	for id := range answered {
		a.problem("result %s was answered, and is not in the export", id)
	}
	for ref, n := range usable {
		if n > 1 {
			a.problem("%s was saved %d times", ref, n)
		}
	}
	asked, err := l.count(ctx)
	a.Asked = asked - l.asked
	return a, err
}

func (a *Audit) problem(format string, args ...any) {
	if len(a.Problems) < maxProblems {
		a.Problems = append(a.Problems, fmt.Sprintf(format, args...))
	}
}

var retriedAs = regexp.MustCompile(`This result was already retried as ([0-9a-f-]{36})\.`)

// settle repeats a call, and tells why it has not the right answer now.
func (l *Load) settle(ctx context.Context, u unknown) string {
	a := l.client.do(ctx, http.MethodPost, u.path, u.body)
	if by := retriedAs.FindSubmatch(a.body); a.status == http.StatusConflict && by != nil {
		a = l.client.do(ctx, http.MethodGet, "/v1/results/"+string(by[1]), nil)
	}
	r, v := u.judge(a)
	if r != nil {
		if err := l.ledger.add(r.ID, a.body); err != nil {
			return err.Error()
		}
	}
	return v.failed + v.wrong
}

// row is a line of the export.
type row struct {
	ID     string `json:"result_id"`
	Ref    string `json:"ref"`
	Status string `json:"status"`
}

func (l *Load) export(ctx context.Context) ([]row, error) {
	a := l.client.do(ctx, http.MethodGet, l.createPath()+"?format=jsonl", nil)
	if a.err != nil || a.status != http.StatusOK {
		return nil, fmt.Errorf("load: the export: %w", a.problem())
	}
	var rows []row
	for line := range bytes.Lines(a.body) {
		var r row
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("load: the export: %w", err)
		}
		rows = append(rows, r)
	}
	return rows, nil
}
