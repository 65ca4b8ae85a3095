package providertest

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/model-proxy/internal/failure"
)

// Themes is a tags with n options. Their labels name them, so that the model sees which one it is asked.
func Themes(n int) prism.Question {
	q := prism.Question{Key: "themes", Type: prism.Tags, Text: "What is it about?"}
	for i := range n {
		q.Options = append(q.Options, prism.Option{Key: fmt.Sprintf("t%d", i), Label: fmt.Sprintf("Theme %d.", i), Description: "Described."})
	}
	return q
}

// holds is what the model knows of an option: 0, 0.25, 0.5 or 0.75, and of the third one 0.75.
func holds(i int) float64 {
	if i == 2 {
		return 0.75
	}
	return float64(i%4) / 4
}

var themeAsked = regexp.MustCompile(`Does this apply: Theme (\d+)\.: Described\.`)

// tagging answers requests about Themes, and about Urgent, by what is in them. refused is an option that it does not answer, or -1.
func tagging(t *testing.T, w Wire, questions []prism.Question, refused int) handler {
	asked := contract.AskedOf(questions)
	return func(rw http.ResponseWriter, _ *http.Request, _ int, body string) {
		var says []Say
		for _, m := range themeAsked.FindAllStringSubmatch(body, -1) {
			i, err := strconv.Atoi(m[1])
			if err != nil {
				t.Error(err)
			}
			part := asked[slices.IndexFunc(asked, func(a contract.Asked) bool { return a.Option == fmt.Sprint("t", i) })]
			says = append(says, Say{Question: part.Question, Yes: strconv.FormatFloat(holds(i), 'g', -1, 64), Refused: i == refused})
		}
		if strings.Contains(body, Urgent().Text) {
			says = append(says, Say{Question: Urgent(), Yes: "0.8"})
		}
		_, _ = io.WriteString(rw, w.Render(says))
	}
}

// tags asks a question of whose options any number can be right, in the parts that it is made of.
//
// spec: question-tags, asked-parts, calls-of-a-result
func tags(t *testing.T, w Wire) {
	calls := func(questions ...prism.Question) int {
		n := len(contract.AskedOf(questions))
		if w.PerQuestion {
			return n
		}
		return (n + contract.MaxAsked - 1) / contract.MaxAsked
	}
	for _, n := range []int{1, 3, 100} {
		t.Run(fmt.Sprintf("%d tags beside another question", n), func(t *testing.T) {
			t.Parallel()
			a := Ask()
			a.Definition.Questions = []prism.Question{Themes(n), Urgent()}
			in(t, w, tagging(t, w, a.Definition.Questions, -1), func(t *testing.T, e *env) {
				v := e.ask(t, a)
				as := parse(t, v)
				if want := calls(a.Definition.Questions...); len(as) != 2 || e.count() != want || int(v.Call.Tries) != want {
					t.Fatalf("%d answers by %d calls and %d tries, want %d", len(as), e.count(), v.Call.Tries, want)
				}
				if as[1].Question != "urgent" || math.Abs(as[1].Probability-0.8) > 1e-9 {
					t.Errorf("the other answer is %+v", as[1])
				}
				checkTags(t, as[0], n)
			})
		})
	}
	t.Run("more parts than a call asks", func(t *testing.T) {
		t.Parallel()
		a := Ask()
		a.Definition.Questions = nil
		for i := range 3 { // of which each has other themes
			q := Themes(300)
			q.Key, q.Options = fmt.Sprint("themes", i), q.Options[100*i:100*(i+1)]
			a.Definition.Questions = append(a.Definition.Questions, q)
		}
		in(t, w, tagging(t, w, a.Definition.Questions, -1), func(t *testing.T, e *env) {
			v := e.ask(t, a)
			as := parse(t, v)
			if want := calls(a.Definition.Questions...); len(as) != 3 || e.count() != want || len(as[2].Probabilities) != 100 {
				t.Fatalf("%d answers by %d calls, want %d", len(as), e.count(), want)
			}
			for i, p := range as[2].Probabilities {
				if math.Abs(p.Probability-holds(200+i)) > 1e-9 {
					t.Errorf("%s has %v", p.Key, p.Probability)
				}
			}
		})
	})
	t.Run("an option without an answer is the question's", func(t *testing.T) {
		t.Parallel()
		q := Themes(5)
		in(t, w, tagging(t, w, []prism.Question{q}, 3), func(t *testing.T, e *env) { noAnswer(t, e.ask(t, only(q)), "themes") })
	})
	t.Run("a doubtful option makes the answer doubtful", func(t *testing.T) {
		t.Parallel()
		q := Themes(5)
		for below, doubtful := range map[float64]bool{0.8: true, 0.75: false} {
			a := only(q)
			a.Definition.Escalate = &prism.Escalate{To: "absent", Below: below}
			in(t, w, tagging(t, w, []prism.Question{q}, -1), func(t *testing.T, e *env) {
				v := e.ask(t, a)
				if got := v.Call.Escalation != nil; got != doubtful || v.Class != failure.OK && !doubtful {
					t.Errorf("below %v: %+v", below, v.Call.Escalation)
				}
			})
		}
	})
}

// checkTags compares an answer to Themes with what the model knows.
func checkTags(t *testing.T, a prism.Answer, n int) {
	t.Helper()
	if a.Question != "themes" || a.Type != prism.Tags || len(a.Probabilities) != n {
		t.Fatalf("got %+v", a)
	}
	for i, p := range a.Probabilities {
		if p.Key != fmt.Sprint("t", i) || math.Abs(p.Probability-holds(i)) > 1e-9 {
			t.Errorf("option %d is %s with %v, want %v", i, p.Key, p.Probability, holds(i))
		}
	}
	var want []string
	for i := range n {
		if holds(i) >= 0.5 {
			want = append(want, fmt.Sprint("t", i))
		}
	}
	got := a.Replies()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("chose %v, want %v", got, want)
	}
}
