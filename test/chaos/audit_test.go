package chaos

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/prism-results/prism/test/internal/history"
	"github.com/prism-results/prism/test/internal/load"
	"github.com/prism-results/prism/test/internal/upstream"
)

// row is a result as Postgres holds it.
type row struct {
	Account   string
	ID        string
	Prism     string
	Version   int
	Ref       *string
	Status    history.Status
	Error     *string
	TookMS    int64
	CreatedAt time.Time
	Answers   *string
	Key       *string
	RetryOf   *string
	RetriedBy *string
}

// ledger is all rows.
type ledger struct {
	*world
	rows map[string]*row // by id
	all  []*row
}

// audit compares the rows in Postgres with the responses and with the model calls. exact is for a run without faults: there
// is exactly one model call for each result.
func (w *world) audit(t *testing.T, exact bool) (problems []error) {
	t.Helper()
	l, err := w.read(t)
	if err != nil {
		return []error{err}
	}
	// The results of the runner and of other loads have audits of their own.
	l.all = slices.DeleteFunc(l.all, func(r *row) bool { return r.Account == runner || w.ofOthers(r) })
	for _, r := range l.all {
		problems = append(problems, l.checkChain(r), l.checkOrigin(r), l.checkAnswer(r))
	}
	keys := map[string]string{}
	numbers := map[int]string{}
	for _, r := range l.all {
		if r.Key != nil {
			name := r.Account + "/" + *r.Key
			if other, ok := keys[name]; ok {
				problems = append(problems, fmt.Errorf("key %s is held by %s and %s", name, other, r.ID))
			}
			keys[name] = r.ID
		}
		if n, err := number(r); err == nil && n >= 0 {
			if other, ok := numbers[n]; ok {
				problems = append(problems, fmt.Errorf("one answer of the model was saved as %s and %s", other, r.ID))
			}
			numbers[n] = r.ID
		}
	}
	for id, served := range w.load.Served() {
		problems = append(problems, l.checkServed(id, served))
	}
	problems = append(problems, l.checkCounts(exact)...)
	return drop(problems)
}

// listRows lists the results of accounts, or of all.
const listRows = `SELECT a.name, r.id::text, p.slug, r.version, r.ref, r.status, r.error, r.took_ms, r.created_at,
	r.answers::text, r.idempotency_key, r.retry_of::text, r.retried_by::text
	FROM results r JOIN accounts a ON a.id = r.account_id JOIN prisms p ON p.account_id = r.account_id AND p.id = r.prism_id
	WHERE $1::text[] IS NULL OR a.name = ANY ($1) ORDER BY r.id`

// read reads the rows of each account in its database.
func (w *world) read(t *testing.T) (*ledger, error) {
	t.Helper()
	l := &ledger{world: w, rows: map[string]*row{}}
	for _, d := range w.Databases {
		var in []string // nil: all
		if len(w.Databases) > 1 {
			in = collect[string](t, w.Database, "SELECT name FROM directory_accounts WHERE database = $1", d.Name)
		}
		for _, r := range collectRows(t, d, pgx.RowToAddrOfStructByPos[row], listRows, in) {
			if l.rows[r.ID] != nil {
				return nil, fmt.Errorf("result %s exists in two accounts", r.ID)
			}
			l.rows[r.ID], l.all = r, append(l.all, r)
		}
	}
	return l, nil
}

// checkChain holds that each result is retried at most once, that both results of a retry name each other, and that the new
// result keeps the fields, ref, context and version of the old one.
func (l *ledger) checkChain(r *row) error {
	if r.RetriedBy != nil {
		next := l.rows[*r.RetriedBy]
		switch {
		case next == nil:
			return fmt.Errorf("%s was retried by %s, which does not exist", r.ID, *r.RetriedBy)
		case next.RetryOf == nil || *next.RetryOf != r.ID:
			return fmt.Errorf("%s was retried by %s, which does not know", r.ID, next.ID)
		case r.Key != nil || r.Status != history.Failed:
			return fmt.Errorf("%s was retried and holds a key, or is ok", r.ID)
		case next.Account != r.Account || next.Prism != r.Prism || next.Version != r.Version || *next.Ref != *r.Ref:
			return fmt.Errorf("%s was retried as %s with another account, prism, version or ref", r.ID, next.ID)
		}
	}
	if r.RetryOf != nil {
		if old := l.rows[*r.RetryOf]; old == nil || old.RetriedBy == nil || *old.RetriedBy != r.ID {
			return fmt.Errorf("%s retried %s, which does not know", r.ID, *r.RetryOf)
		}
	}
	return nil
}

// checkOrigin holds that a result belongs to a call of the same account, with the same idempotency key or none.
func (l *ledger) checkOrigin(r *row) error {
	if r.Ref == nil {
		return fmt.Errorf("%s has no ref", r.ID)
	}
	race, err := l.race(*r.Ref)
	if err != nil {
		return err
	}
	switch {
	case r.Account != l.names[race.Account]:
		return fmt.Errorf("%s of account %d is in %s", r.ID, race.Account, r.Account)
	case (race.Key != "" && r.RetriedBy == nil) != (r.Key != nil), r.Key != nil && *r.Key != race.Key:
		return fmt.Errorf("%s of key %q holds another, or none", r.ID, race.Key)
	}
	for _, c := range race.Calls() {
		if c.Kind == history.Create && c.Ref == *r.Ref {
			if m := c.Response.Meaning; (m == history.Unknown || m == history.Result) && c.Prism == r.Prism {
				return nil
			}
			return fmt.Errorf("%s was saved for a call that was answered %q", r.ID, c.Response)
		}
	}
	return fmt.Errorf("%s has the ref %q of no call", r.ID, *r.Ref)
}

func (l *ledger) race(ref string) (*load.Race, error) {
	n, err := load.RaceOf(ref)
	if err != nil {
		return nil, err
	}
	race := l.load.Race(n)
	if race == nil {
		return nil, fmt.Errorf("ref %q is of no race", ref)
	}
	return race, nil
}

// checkAnswer holds that a saved answer is one that the model gave to this race.
func (l *ledger) checkAnswer(r *row) error {
	n, err := number(r)
	if err != nil || n < 0 {
		return err
	}
	race, err := l.Model.Race(n)
	if err != nil {
		return fmt.Errorf("%s: %w", r.ID, err)
	}
	if of, err := load.RaceOf(*r.Ref); err != nil || of != race {
		return fmt.Errorf("%s of race %d holds an answer that was given to race %d", r.ID, of, race)
	}
	return nil
}

// number is the number of the model's answer; -1 when the result failed.
func number(r *row) (int, error) {
	if r.Answers == nil {
		return -1, nil
	}
	var answers struct{ Urgent struct{ Probability float64 } }
	if err := json.Unmarshal([]byte(*r.Answers), &answers); err != nil {
		return -1, err
	}
	n, err := upstream.Number(answers.Urgent.Probability)
	if err != nil {
		return -1, fmt.Errorf("%s: %w", r.ID, err)
	}
	return n, nil
}

// checkServed holds that the body of a result in format raw is what Postgres stores, byte by byte.
func (l *ledger) checkServed(id string, served load.Result) error {
	r := l.rows[id]
	if r == nil {
		return fmt.Errorf("result %s was returned and is not stored", id)
	}
	if raw := l.load.Raw(id); raw != nil {
		if want := r.raw(); string(raw) != want {
			return fmt.Errorf("result %s was served as\n%s\nand is stored as\n%s", id, raw, want)
		}
		return nil
	}
	if served.Prism != r.Prism || served.Version != r.Version || served.Status != r.Status || served.TookMS != r.TookMS ||
		*served.Ref != *r.Ref || (served.Error == nil) != (r.Error == nil) || served.Error != nil && *served.Error != *r.Error {
		return fmt.Errorf("result %s was served as %+v and is stored as %+v", id, served, r)
	}
	return nil
}

// raw is the body of a result in format raw (spec: format-raw). The code shares nothing with Prism on purpose.
func (r *row) raw() string {
	quoted := func(s *string) string {
		if s == nil {
			return "null"
		}
		b, _ := json.Marshal(*s)
		return string(b)
	}
	answers := "null"
	if r.Answers != nil {
		answers = *r.Answers
	}
	return fmt.Sprintf(`{"id":%q,"ref":%s,"prism":%q,"version":%d,"status":%q,"error":%s,"took_ms":%d,"created_at":%q,"answers":%s}`,
		r.ID, quoted(r.Ref), r.Prism, r.Version, r.Status, quoted(r.Error), r.TookMS,
		r.CreatedAt.UTC().Format("2006-01-02T15:04:05.000Z"), answers)
}

// upstreamAttempts is how often model-proxy sends one call to the model at most.
const upstreamAttempts = 6

// checkCounts holds that there are at least as many model calls as saved results, and no more than the calls of clients
// explain. Without faults there is one model call for each result.
func (l *ledger) checkCounts(exact bool) (problems []error) {
	saved, failed := map[int]int{}, map[int]int{}
	for _, r := range l.all {
		if race, err := load.RaceOf(*r.Ref); err == nil {
			saved[race]++
			if r.Error != nil && (strings.Contains(*r.Error, "(status 400)") || strings.Contains(*r.Error, "no usable answer")) {
				failed[race]++
			}
		}
	}
	for _, race := range l.load.Races() {
		count, most := l.Model.Count(race.Number), 0
		for _, c := range race.Calls() {
			// A call asks the model again only after another call saved first, at most once for each saved result.
			if c.Kind != history.Read {
				most += upstreamAttempts * (saved[race.Number] + 1)
			}
		}
		switch n := saved[race.Number]; {
		case exact && count.Asked != n:
			problems = append(problems, fmt.Errorf("race %d has %d results of %d model calls", race.Number, n, count.Asked))
		case failed[race.Number] > count.Failed:
			problems = append(problems, fmt.Errorf("race %d has %d failed answers of %d that the model gave", race.Number, failed[race.Number], count.Failed))
		case count.Asked > most:
			problems = append(problems, fmt.Errorf("race %d asked the model %d times, with at most %d attempts", race.Number, count.Asked, most))
		}
	}
	return problems
}

func drop(all []error) (problems []error) {
	for _, err := range all {
		if err != nil {
			problems = append(problems, err)
		}
	}
	return problems
}
