package modelproxy

import (
	"encoding/csv"
	"encoding/json"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/prism"
)

var word = regexp.MustCompile(`[a-z]+`)

// stems are the words of a text without their ends.
func stems(text string) (all map[string]bool) {
	all = map[string]bool{}
	for _, w := range word.FindAllString(strings.ToLower(text), -1) {
		if len(w) > 3 {
			all[w[:min(len(w), 5)]] = true
		}
	}
	return all
}

// overlap is a decision model that knows nothing but words: the rarer a stem is among all options, the more it says. It says the same of an
// option whichever others it is asked with, and of none of them the same whatever they are.
type overlap struct {
	rarity map[string]float64
	none   float64
}

func newOverlap(options []prism.Option) *overlap {
	m := &overlap{rarity: map[string]float64{}, none: 1.5}
	for _, o := range options {
		for s := range stems(o.Key + " " + o.Text()) {
			m.rarity[s]++
		}
	}
	for s, n := range m.rarity {
		m.rarity[s] = math.Log(float64(len(options)) / n)
	}
	return m
}

func (m *overlap) points(text map[string]bool, option string) (points float64) {
	for s := range stems(option) {
		if text[s] {
			points += m.rarity[s]
		}
	}
	return points
}

// ServeHTTP answers a call of the format systemone.
func (m *overlap) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		State     json.RawMessage `json:"state"`
		Questions map[string]struct {
			Criteria map[string]string `json:"criteria"`
		} `json:"questions"`
	}
	if json.NewDecoder(r.Body).Decode(&in) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	answers := map[string]any{}
	for key, q := range in.Questions {
		ps, sum := map[string]float64{}, 0.0
		text := stems(string(in.State))
		for option, shown := range q.Criteria {
			points := m.none
			if shown != "None of these" {
				points = m.points(text, option+" "+shown)
			}
			ps[option] = math.Exp(points)
			sum += ps[option]
		}
		for option := range ps {
			ps[option] /= sum
		}
		answers[key] = map[string]any{"type": "choice", "probabilities": ps}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"answers": answers, "usage": map[string]int{"input_tokens": 1, "output_tokens": 1}})
}

// banking has the question about the intent of the example and the texts with their intents: those of the example, or of the test set in
// the folder that PRISM_BANKING77 names.
func banking(t *testing.T) (q prism.Question, rows [][]string) {
	t.Helper()
	const example = "../../examples/banking77"
	raw, err := os.ReadFile(filepath.Join(example, "prism.json"))
	var p struct{ Questions []prism.Question }
	if err == nil {
		err = json.Unmarshal(raw, &p)
	}
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(example, "questions.csv")
	if dir := os.Getenv("PRISM_BANKING77"); dir != "" {
		path = filepath.Join(dir, "test.csv")
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	rows, err = csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	q = p.Questions[0]
	q.InsufficientInformation = false
	return q, rows[1:]
}

// loss asks a model all rows: the share of right answers, the mean log loss in nats, and calls of the upstream for a result.
func loss(t *testing.T, lines string, q prism.Question, rows [][]string, m http.Handler) (accuracy, logLoss, calls float64) {
	t.Helper()
	server := httptest.NewServer(m)
	defer server.Close()
	text := "default: a\nmodels:\n  - name: a\n" + lines
	s, err := New(Config{ModelsFile: file(t, server.URL, text), Getenv: func(string) string { return "" }}, Deps{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, row := range rows {
		a := question()
		a.Definition.Questions, a.Fields, a.Context = []prism.Question{q}, []prism.FieldValue{{Key: "text", Value: row[0]}}, ""
		out, err := s.Ask(t.Context(), a)
		if err != nil || out.Failed() {
			t.Fatalf("%+v, %v", out, err)
		}
		answers, err := answerjson.Parse(out.Answers)
		if err != nil {
			t.Fatal(err)
		}
		label := strings.ToLower(strings.TrimSuffix(row[1], "?"))
		i := slices.Index(q.AnswerKeys(), label)
		if i < 0 {
			t.Fatalf("no option %s", label)
		}
		logLoss -= math.Log(max(answers[0].Probabilities[i].Probability, 1e-15)) / float64(len(rows))
		if answers[0].Chosen == label {
			accuracy += 1 / float64(len(rows))
		}
		calls += float64(out.Call.Tries) / float64(len(rows))
	}
	return accuracy, logLoss, calls
}

// The same model, asked all intents at once and in groups, is about as right and about as sure: docs/prisms.md has the figures of the whole
// test set.
//
// spec: option-groups
func TestGroupsOfIntentsAreAsGoodAsOneFlatQuestion(t *testing.T) {
	t.Parallel()
	q, rows := banking(t)
	m := newOverlap(q.Options)
	const model = "    provider: systemone\n    base_url: URL\n    model: m\n"
	accuracy, logLoss, calls := loss(t, model, q, rows, m)
	t.Logf("flat: %.1f%% right, log loss %.3f, %.0f call", 100*accuracy, logLoss, calls)
	for _, most := range []string{"17", "41"} {
		a, l, n := loss(t, model+"    max_options: "+most+"\n", q, rows, m)
		t.Logf("max_options %s: %.1f%% right, log loss %.3f, %.0f calls", most, 100*a, l, n)
		if math.Abs(a-accuracy) > 0.03 || l-logLoss > 0.4 || n < calls {
			t.Errorf("max_options %s: %.1f%% right with a log loss of %.3f, and at once %.1f%% with %.3f", most, 100*a, l, 100*accuracy, logLoss)
		}
	}
	a, l, _ := loss(t, "    provider: offline\n", q, rows, m)
	t.Logf("offline: %.1f%% right, log loss %.3f", 100*a, l)
}
