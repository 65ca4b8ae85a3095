package providertest

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/model-proxy/internal/ask"
	"github.com/prism-results/prism/services/model-proxy/internal/failure"
)

// Many is a choice with as many options as one may have. The model knows their probabilities, which are known(i).
func Many(insufficient bool) prism.Question {
	q := prism.Question{Key: "intent", Type: prism.Choice, Text: "What is wanted?", InsufficientInformation: insufficient}
	for i := range prism.MaxOptions - len(q.AnswerKeys()) {
		q.Options = append(q.Options, prism.Option{Key: fmt.Sprintf("k%d", i), Label: fmt.Sprintf("Intent %d.", i)})
	}
	return q
}

const (
	// right is the index of the right option, of which the model is rightMass sure.
	right     = 200
	rightMass = 0.6
	// insufficientMass is what a model gives to insufficient_information when it is asked.
	insufficientMass = 0.125
)

// known is what the model knows of an option: the right one, those that are more and more likely, and that all sum to 1.
func known(i, n int) float64 {
	if i == right {
		return rightMass
	}
	rest := 0
	for k := range n {
		if k != right {
			rest += 1 + k
		}
	}
	return (1 - rightMass) * float64(1+i) / float64(rest)
}

var (
	optionAsked       = regexp.MustCompile(`Intent (\d+)\.`)
	noneAsked         = regexp.MustCompile(`none_of_these|None of these`)
	insufficientAsked = regexp.MustCompile(`Insufficient information`)
)

// saysOf is what the model says to a request about options of Many: the probabilities that it knows, of those that are shown to it.
func saysOf(q prism.Question, body string) Say {
	part, n := q, len(q.Options)
	part.Options, part.InsufficientInformation = nil, insufficientAsked.MatchString(body)
	var ps []float64
	sum := 0.0
	for _, m := range optionAsked.FindAllStringSubmatch(body, -1) {
		i, err := strconv.Atoi(m[1])
		if err != nil {
			continue
		}
		part.Options, ps, sum = append(part.Options, q.Options[i]), append(ps, known(i, n)), sum+known(i, n)
	}
	if noneAsked.MatchString(body) {
		part.Options, ps, sum = append(part.Options, prism.Option{Key: "none_of_these"}), append(ps, max(1-sum, 0)), max(sum, 1)
	}
	if part.InsufficientInformation {
		ps, sum = append(ps, insufficientMass*sum/(1-insufficientMass)), sum/(1-insufficientMass)
	}
	s := Say{Question: part}
	for i, key := range part.AnswerKeys() {
		s.Options = append(s.Options, Pair{key, strconv.FormatFloat(ps[i]/sum, 'g', -1, 64)})
	}
	return s
}

// knowing answers the requests about Many.
func knowing(w Wire, q prism.Question) handler {
	return func(rw http.ResponseWriter, _ *http.Request, _ int, body string) {
		_, _ = io.WriteString(rw, w.Render([]Say{saysOf(q, body)}))
	}
}

// manyOptions asks a question with as many options as one may have: at once, or in the groups of the format.
//
// spec: question-choice, option-groups, stated-options, max-options, probabilities-of-an-answer
func manyOptions(t *testing.T, w Wire) {
	formats := map[string]int{"": w.Format.MaxOptions}
	if !w.PerQuestion && w.Format.Probabilities == "native" {
		formats[" of a host that takes 100"], formats[" of a host that takes 2"] = 100, 2
	}
	for name, most := range formats {
		for _, insufficient := range []bool{false, true} {
			w := w
			w.Format = w.Format.UpTo(most)
			q := Many(insufficient)
			t.Run(fmt.Sprintf("255 options%s, insufficient_information %v", name, insufficient), func(t *testing.T) {
				t.Parallel()
				in(t, w, knowing(w, q), func(t *testing.T, e *env) {
					v := e.ask(t, only(q))
					a := parse(t, v)[0]
					valid(t, q, a)
					if a.Chosen != q.Options[right].Key {
						t.Errorf("chose %s", a.Chosen)
					}
					checkKnown(t, w, q, v, a, e.count())
				})
			})
		}
	}
}

// checkKnown compares an answer with what the model knows, and the calls with those of the groups.
func checkKnown(t *testing.T, w Wire, q prism.Question, v ask.Report, a prism.Answer, calls int) {
	t.Helper()
	groups := 0
	if w.Format.GroupOptions > 0 {
		groups = len(q.Groups(w.Format.GroupOptions))
	}
	if calls != groups+1 || int(v.Call.Tries) != calls || (len(v.Call.Rounds) == 1) != (groups > 0) {
		t.Errorf("%d calls, %d tries and rounds %+v for %d groups", calls, v.Call.Tries, v.Call.Rounds, groups)
	}
	last := map[string]bool{}
	if groups > 0 {
		first, second := v.Call.Rounds[0].Rounds[0], v.Call.Rounds[0].Rounds[1]
		if first.Groups != groups || first.Options != len(q.Options) || second.Groups != 1 {
			t.Errorf("rounds %+v", v.Call.Rounds)
		}
		n := second.Options
		if q.InsufficientInformation {
			n--
		}
		last[q.Options[right].Key] = true
		for i := len(q.Options) - 1; len(last) < n; i-- {
			last[q.Options[i].Key] = true
		}
	}
	stated, left, shown := w.Format.Probabilities == "stated", 1.0, 0
	for i := range a.Probabilities {
		if p := a.Probabilities[i]; stated && (i == right || i >= len(a.Probabilities)-10) && shown < 10 {
			left, shown = left-p.Probability, shown+1
		}
	}
	total := 0.0 // of the options of the last round
	for i, o := range q.Options {
		if last[o.Key] {
			total += known(i, len(q.Options))
		}
	}
	for i, p := range a.Probabilities {
		var want float64
		switch {
		case stated:
			continue // below
		case p.Key == prism.InsufficientInformation && groups > 0:
			want = total * insufficientMass
		case p.Key == prism.InsufficientInformation:
			want = insufficientMass
		case !q.InsufficientInformation || groups > 0 && !last[p.Key]:
			want = known(i, len(q.Options))
		default:
			want = known(i, len(q.Options)) * (1 - insufficientMass)
		}
		if math.Abs(p.Probability-want) > 1e-9 {
			t.Errorf("%s has %v, want %v", p.Key, p.Probability, want)
		}
	}
	if stated {
		checkStated(t, a)
	}
}

// checkStated: 10 options have a probability of their own, the others what is left in equal parts.
func checkStated(t *testing.T, a prism.Answer) {
	t.Helper()
	counts := map[string]int{}
	for _, p := range a.Probabilities {
		counts[strconv.FormatFloat(p.Probability, 'g', 12, 64)]++
	}
	if len(counts) != 11 || !strings.Contains(fmt.Sprint(counts), fmt.Sprint(":", len(a.Probabilities)-10)) {
		t.Errorf("%d different probabilities: %v", len(counts), counts)
	}
}

// faultInAGroup has the upstream fail a group of the first round: once, or always.
//
// spec: option-groups, upstream-retries, failure-classes
func faultInAGroup(t *testing.T, w Wire) {
	if w.Format.Probabilities == "native" {
		w.Format = w.Format.UpTo(100)
	}
	if w.Format.GroupOptions == 0 {
		return
	}
	q := Many(false)
	groups := len(q.Groups(w.Format.GroupOptions))
	for name, c := range map[string]struct {
		status int
		again  bool // the fault passes
		class  failure.Class
	}{
		"an error that passes":    {503, true, failure.OK},
		"a limit that passes":     {429, true, failure.OK},
		"a key that is refused":   {401, false, failure.RefusedKey},
		"a model that is unknown": {404, false, failure.NotFound},
	} {
		t.Run(name+" in a group", func(t *testing.T) {
			t.Parallel()
			failed := false
			in(t, w, func(rw http.ResponseWriter, r *http.Request, n int, body string) {
				if strings.Contains(body, "Intent 120.") && noneAsked.MatchString(body) && (!c.again || !failed) {
					failed = true
					rw.WriteHeader(c.status)
					_, _ = io.WriteString(rw, `{"error":{"message":"`+BodySecret+`"}}`)
					return
				}
				knowing(w, q)(rw, r, n, body)
			}, func(t *testing.T, e *env) {
				v := e.ask(t, only(q))
				if v.Class != c.class {
					t.Fatalf("class %s: %s", v.Class, v.Error)
				}
				if !c.again {
					if e.count() > groups || v.Call.Rounds != nil {
						t.Errorf("%d calls of %d groups: %+v", e.count(), groups, v.Call)
					}
					return
				}
				if a := parse(t, v)[0]; a.Chosen != q.Options[right].Key || math.Abs(a.Probabilities[120].Probability-known(120, len(q.Options))) > 1e-9 {
					t.Errorf("chose %s; %+v", a.Chosen, a.Probabilities[120])
				}
				one := w.Format.Decode([]byte(w.Render([]Say{saysOf(q, "Intent 1. Intent 2.")})), []prism.Question{q}).Tokens.Input.N
				if e.count() != groups+2 || int(v.Call.Tries) != groups+2 || *v.Call.Usage.InputTokens != one*int64(groups+1) {
					t.Errorf("%d calls and %d tokens of %d for %d groups", e.count(), *v.Call.Usage.InputTokens, one, groups)
				}
			})
		})
	}
}

// noneEverywhere has a model that says in every group that none of its options is right.
//
// spec: option-groups
func noneEverywhere(t *testing.T, w Wire) {
	if w.Format.Probabilities == "native" {
		w.Format = w.Format.UpTo(100)
	}
	if w.Format.GroupOptions == 0 {
		return
	}
	t.Run("none of the options in every group is no usable answer", func(t *testing.T) {
		t.Parallel()
		q := Many(true)
		in(t, w, func(rw http.ResponseWriter, _ *http.Request, _ int, body string) {
			s := saysOf(q, body)
			for i := range s.Options {
				s.Options[i].P = "0.00025"
			}
			s.Options[len(s.Options)-1].P = strconv.FormatFloat(1-0.00025*float64(len(s.Options)-1), 'g', -1, 64)
			_, _ = io.WriteString(rw, w.Render([]Say{s}))
		}, func(t *testing.T, e *env) {
			noAnswer(t, e.ask(t, only(q)), "intent")
			if n := len(q.Groups(w.Format.GroupOptions)); e.count() != n {
				t.Errorf("%d calls for %d groups", e.count(), n)
			}
		})
	})
}
