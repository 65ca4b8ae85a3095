package e2e

import (
	"context"
	crand "crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/prism-results/prism/pkg/prism"
)

// copies stores results like the one with a ref, without asking a model for them. Their ids begin with a time, and their answers to
// a yes_no question have probabilities around one.
func (s *stack) copies(t *testing.T, ref, question string, n int, at time.Time, around float64) {
	t.Helper()
	s.copiesOf(t, ref, n, at, around, func(p float64) string { return fmt.Sprintf(`{"%s":{"type":"yes_no","probability":%.6f}}`, question, p) })
}

// copiesOf is copies with the answers that a probability makes.
func (s *stack) copiesOf(t *testing.T, ref string, n int, at time.Time, around float64, answers func(p float64) string) {
	t.Helper()
	id, stored := `'%s'::uuid`, `'%s'::json`
	if s.topology == standalone {
		id, stored = `x'%s'`, `CAST('%s' AS BLOB)`
	}
	random := rand.New(rand.NewPCG(1, 2))
	var values []string
	for i := range n {
		u, err := prism.NewUUID(at.Add(time.Duration(i)*time.Millisecond), crand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		odds := math.Log(around/(1-around)) + random.NormFloat64()/2
		values = append(values, fmt.Sprintf("("+id+", "+stored+")", hex.EncodeToString(u[:]), answers(1/(1+math.Exp(-odds)))))
	}
	const columns = `account_id, %s, prism_id, version, context, fields, status, took_ms, created_at, %s, call`
	from := fmt.Sprintf("SELECT "+columns+" FROM results, (VALUES %s) AS v WHERE ref = '%s'", "v.column1", "v.column2", strings.Join(values, ", "), ref)
	statement := fmt.Sprintf("INSERT INTO results ("+columns+") ", "id", "answers") + from
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if s.topology == standalone {
		cmd := exec.CommandContext(ctx, "sqlite3", "-cmd", ".timeout 30000", filepath.Join(s.options.Dir, "prism.db"))
		cmd.Stdin = strings.NewReader(statement + ";")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	for _, url := range s.databases {
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(ctx, statement); err != nil {
			t.Fatal(err)
		}
		_ = conn.Close(ctx)
	}
}

// driftOf is a part of the response of a drift.
type driftOf struct {
	Reference struct {
		Kind    string `json:"kind"`
		Results int    `json:"results"`
	} `json:"reference"`
	Questions []struct {
		Question, Option string
		Hour, Day        struct {
			Results     int  `json:"results"`
			Alarm       bool `json:"alarm"`
			Probability *struct {
				PSI, Limit float64
			}
		}
	} `json:"questions"`
}

func TestDrift(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		// spec: drift-set, drift-read, drift-reference, drift-alarm, drift-counting
		t.Run("a prism that is watched tells when its texts change", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			slug, other := own.triage(t), own.triage(t)
			path := "/v1/prisms/" + slug + "/drift"
			own.get(t, path).wantBody(t, `{"version":1,"watched":false,"counted_to":null,"reference":null,"questions":[]}`)
			const question = "urgent"
			hourAgo := time.Now().Add(-time.Hour)
			for _, each := range []struct {
				slug   string
				around float64
			}{{slug, 0.4}, {other, 0.8}} {
				ref := "drift-" + each.slug
				own.create(t, each.slug, text("x", "ref", ref)).ok(t)
				s.copies(t, ref, question, 2000, hourAgo.Add(-20*time.Hour), 0.8)
				s.copies(t, ref, question, 400, hourAgo.Add(30*time.Minute), each.around)
				own.put(t, "/v1/prisms/"+each.slug+"/drift", `{"watched":true}`).wantStatus(t, 200)
			}
			for _, each := range []struct {
				slug  string
				alarm bool
			}{{slug, true}, {other, false}} {
				d := own.awaitDrift(t, each.slug, func(d driftOf) bool { return len(d.Questions) == 3 && d.Questions[1].Day.Results == 400 })
				q := d.Questions[1]
				if d.Reference.Kind != "first" || d.Reference.Results != 2000 || q.Hour.Results != 400 || q.Hour.Alarm != each.alarm || q.Day.Alarm != each.alarm ||
					(q.Day.Probability.PSI > q.Day.Probability.Limit) != each.alarm {
					t.Errorf("%s: %+v", each.slug, d)
				}
			}
			// The changed texts become the reference.
			from := hourAgo.Add(30 * time.Minute).UTC().Truncate(time.Hour)
			own.put(t, path, fmt.Sprintf(`{"watched":true,"reference":{"from":%q,"to":%q}}`,
				prism.FormatTime(from.Add(-24*time.Hour)), prism.FormatTime(from))).wantStatus(t, 200)
			if entries, _ := own.audit(t, "limit=1"); entries[0].Action != "prism.drift" {
				t.Errorf("got %+v", entries)
			}
			own.put(t, path, `{"watched":false}`).wantBody(t, `{"version":1,"watched":false,"counted_to":null,"reference":null,"questions":[]}`)
		})
		// spec: drift-read, drift-reference-set
		t.Run("what is no version and no period is refused", func(t *testing.T) {
			t.Parallel()
			path := "/v1/prisms/" + s.main.triage(t) + "/drift"
			s.main.get(t, path+"?version=2").wantStatus(t, 404)
			s.main.get(t, path+"?version=x").wantStatus(t, 400)
			s.main.put(t, path, `{"watched":true,"reference":{"from":"2026-10-05T00:30:00Z","to":"2026-10-12T00:00:00Z"}}`).wantStatus(t, 400)
			s.main.put(t, path, `{"watched":true,"version":2}`).wantStatus(t, 404)
		})
	})
}

// awaitDrift reads the drift of a prism until it is as a test wants it.
func (c *client) awaitDrift(t *testing.T, slug string, is func(driftOf) bool) (d driftOf) {
	t.Helper()
	tick, deadline := time.NewTicker(50*time.Millisecond), time.NewTimer(patience)
	defer tick.Stop()
	defer deadline.Stop()
	for {
		r := c.get(t, "/v1/prisms/"+slug+"/drift")
		r.wantStatus(t, 200)
		d = driftOf{}
		if err := json.Unmarshal(r.body, &d); err != nil {
			t.Fatal(err)
		}
		if is(d) {
			return d
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("the drift stays %s", r.body)
		}
	}
}
