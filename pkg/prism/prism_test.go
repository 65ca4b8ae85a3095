package prism_test

import (
	"slices"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/prism"
)

func TestTimesAreUTCWithMillisecondsAndZ(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		at   time.Time
		want string
	}{
		{"whole second", time.Date(2026, 11, 21, 9, 13, 5, 0, time.UTC), "2026-11-21T09:13:05.000Z"},
		{"milliseconds", time.Date(2026, 1, 2, 3, 4, 5, 7_000_000, time.UTC), "2026-01-02T03:04:05.007Z"},
		{"finer than milliseconds", time.Date(2026, 1, 2, 3, 4, 5, 999_999_999, time.UTC), "2026-01-02T03:04:05.999Z"},
		{"another zone", time.Date(2026, 1, 1, 0, 30, 0, 0, time.FixedZone("CET", 3600)), "2025-12-31T23:30:00.000Z"},
	} {
		if got := prism.FormatTime(c.at); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestTheClockIsReadAsPreciselyAsResultsKeepIt(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("CET", 3600)
	got := prism.Now(func() time.Time { return time.Date(2026, 1, 1, 1, 0, 0, 1_999_999, zone) })
	if want := time.Date(2026, 1, 1, 0, 0, 0, 1_000_000, time.UTC); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	back, err := time.Parse(time.RFC3339, prism.FormatTime(got))
	if err != nil || !back.Equal(got) {
		t.Errorf("reads back as %v, %v", back, err)
	}
}

// spec: insufficient-information
func TestAChoiceOffersInsufficientInformationLast(t *testing.T) {
	t.Parallel()
	options := make([]prism.Option, 1, 2) // room behind it, which must not be written to
	options[0] = prism.Option{Key: "a", Label: "A"}
	q := prism.Question{Type: prism.Choice, Options: options}
	if got := q.AnswerKeys(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("without: %v", got)
	}
	q.InsufficientInformation = true
	want := []prism.Option{options[0], {Key: "insufficient_information", Label: "Insufficient information"}}
	if got := q.Members(); !slices.Equal(got, want) {
		t.Errorf("with: %v", got)
	}
	if got := options[:2][1]; got != (prism.Option{}) {
		t.Errorf("wrote %v into the definition", got)
	}
}

func TestOnlyChoiceAndScaleHaveAnswerKeys(t *testing.T) {
	t.Parallel()
	levels := []prism.Level{{Key: "low"}, {Key: "high"}}
	if got := (prism.Question{Type: prism.Scale, Levels: levels}).AnswerKeys(); !slices.Equal(got, []string{"low", "high"}) {
		t.Errorf("scale: %v", got)
	}
	if got := (prism.Question{Type: prism.YesNo}).AnswerKeys(); len(got) != 0 {
		t.Errorf("yes_no: %v", got)
	}
}

func TestThingsAreFoundByTheirKeys(t *testing.T) {
	t.Parallel()
	d := prism.Definition{Fields: []prism.Field{{Key: "f"}}, Questions: []prism.Question{{Key: "q"}}}
	if q, ok := d.Question("q"); !ok || q.Key != "q" {
		t.Errorf("question: %+v", q)
	}
	if _, ok := d.Question("f"); ok {
		t.Error("a field is no question")
	}
	a := prism.Answer{Question: "q", Probabilities: []prism.KeyProbability{{Key: "a", Probability: 0}, {Key: "b", Probability: 1}}}
	if p, ok := a.ProbabilityOf("a"); !ok || p != 0 {
		t.Errorf("a: %v %v", p, ok)
	}
	if _, ok := a.ProbabilityOf("c"); ok {
		t.Error("c is no option")
	}
}

// spec: tabular-columns
func TestReservedNamesAreTheContractsColumns(t *testing.T) {
	t.Parallel()
	want := []string{"result_id", "ref", "version", "status", "error", "created_at"}
	if got := prism.ReservedNames(); !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}

// spec: roles
func TestARoleIncludesTheRolesBelowIt(t *testing.T) {
	t.Parallel()
	const unknown prism.Role = "of a later release"
	includes := map[prism.Role][]prism.Role{
		prism.Owner:    prism.Roles(),
		prism.Editor:   {prism.Editor, prism.Caller, prism.Labeller, prism.Reader},
		prism.Caller:   {prism.Caller, prism.Reader},
		prism.Labeller: {prism.Labeller, prism.Reader},
		prism.Reader:   {prism.Reader},
	}
	for _, role := range append(prism.Roles(), unknown, "") {
		for _, other := range append(prism.Roles(), unknown, "") {
			if got := role.Includes(other); got != slices.Contains(includes[role], other) {
				t.Errorf("%q includes %q: %v", role, other, got)
			}
		}
	}
}

// spec: escalation
func TestAnswersAreDoubtfulBelowTheBound(t *testing.T) {
	t.Parallel()
	choice := func(key, chosen string, p float64) prism.Answer {
		return prism.Answer{Question: key, Type: prism.Choice, Chosen: chosen, Probabilities: []prism.KeyProbability{
			{Key: "a", Probability: (1 - p) / 2}, {Key: chosen, Probability: p}, {Key: "c", Probability: (1 - p) / 2},
		}}
	}
	level := choice("scale", "b", 0.4)
	level.Type = prism.Scale
	answers := prism.Answers{
		choice("sure", "b", 0.6), choice("unsure", "b", 0.59), choice("nothing", prism.InsufficientInformation, 0.9),
		choice("maybe_nothing", prism.InsufficientInformation, 0.5), level,
		{Question: "yes", Type: prism.YesNo, Probability: 0.6},
		{Question: "no", Type: prism.YesNo, Probability: 0.25},
		{Question: "either", Type: prism.YesNo, Probability: 0.45},
	}
	for name, c := range map[string]struct {
		of   *prism.Escalate
		want []string
	}{
		"no escalation":           {nil, nil},
		"all questions":           {&prism.Escalate{Below: 0.6}, []string{"unsure", "maybe_nothing", "scale", "either"}},
		"some questions":          {&prism.Escalate{Below: 0.6, Questions: []string{"either", "unsure", "yes"}}, []string{"unsure", "either"}},
		"a bound nobody is below": {&prism.Escalate{Below: 0.4}, nil},
	} {
		if got := c.of.Doubtful(answers); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
