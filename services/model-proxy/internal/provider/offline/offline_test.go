package offline

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/model-proxy/internal/ask"
	"github.com/prism-results/prism/services/model-proxy/internal/models"
	"github.com/prism-results/prism/services/model-proxy/internal/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func ticket(text string) contract.Ask {
	return contract.Ask{
		Definition: prism.Definition{Questions: []prism.Question{
			{
				Key: "team", Type: prism.Choice, Text: "Which team should handle this ticket?", InsufficientInformation: true,
				Options: []prism.Option{
					{Key: "billing", Label: "Billing", Description: "charges, invoices and refunds"},
					{Key: "shipping", Label: "Shipping", Description: "deliveries and parcels"},
					{Key: "technical", Label: "Technical", Description: "errors and crashes"},
				},
			},
			{Key: "refund", Type: prism.YesNo, Text: "Is the customer asking for a refund?"},
			{
				Key: "mood", Type: prism.Scale, Text: "How upset is the customer?",
				Levels: []prism.Level{{Key: "calm", Label: "Calm"}, {Key: "annoyed", Label: "Annoyed"}, {Key: "furious", Label: "Furious"}},
			},
		}},
		Fields: []prism.FieldValue{{Key: "ticket", Value: text}},
	}
}

func TestWordsThatAreSharedDecide(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, team, mood string
		refund           bool
	}{
		{"I was charged twice, please REFUND the second payment.", "billing", "", true},
		{"I want my money back, this is outrageous and unacceptable!", "billing", "furious", true},
		{"My parcel was never delivered.", "shipping", "", false},
		{"The app crashed with an error again", "technical", "", false},
		{"Thanks, everything is great", "insufficient_information", "calm", false},
		{"Lorem ipsum dolor sit amet", "insufficient_information", "annoyed", false},
		{"", "insufficient_information", "annoyed", false},
	} {
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			as := answers(ticket(c.text))
			if as[0].Chosen != c.team {
				t.Errorf("team %s of %+v, want %s", as[0].Chosen, as[0].Probabilities, c.team)
			}
			if got := as[1].Probability >= 0.6; got != c.refund {
				t.Errorf("refund %v, want %v", as[1].Probability, c.refund)
			}
			if c.mood != "" && as[2].Chosen != c.mood {
				t.Errorf("mood %s of %+v, want %s", as[2].Chosen, as[2].Probabilities, c.mood)
			}
		})
	}
}

func TestContextCountsLikeAField(t *testing.T) {
	t.Parallel()
	a := ticket("hello")
	a.Context = "The parcel is late"
	if got := answers(a)[0].Chosen; got != "shipping" {
		t.Errorf("chose %s", got)
	}
}

// spec: provider-offline
func TestTheSameAskHasTheSameAnswerAndKeepsTheRules(t *testing.T) {
	t.Parallel()
	words := rapid.SampledFrom([]string{"refund", "parcel", "crash", "the", "furious", "thanks", "zebra", "请", "été", "🙂", "a-b", "ﬁ"})
	rapid.Check(t, func(t *rapid.T) {
		a := ticket(strings.Join(rapid.SliceOf(words).Draw(t, "text"), " ") + rapid.String().Draw(t, "rest"))
		a.Definition.Questions[0].Options[0].Label = rapid.String().Draw(t, "label")
		a.Definition.Questions[1].Text = rapid.String().Draw(t, "question")
		first := deref(answers(a))
		if again := deref(answers(a)); string(answerjson.Append(nil, first)) != string(answerjson.Append(nil, again)) {
			t.Fatalf("%+v, then %+v", first, again)
		}
		for _, x := range first {
			var sum float64
			for _, p := range x.Probabilities {
				if p.Probability <= 0 {
					t.Fatalf("an impossible option: %+v", x)
				}
				sum += p.Probability
			}
			if len(x.Probabilities) > 0 && (sum < 1-1e-9 || sum > 1+1e-9) || x.Probability < 0 || x.Probability > 1 {
				t.Fatalf("got %+v", x)
			}
		}
	})
}

func deref(as []*prism.Answer) prism.Answers {
	var out prism.Answers
	for _, a := range as {
		out = append(out, *a)
	}
	return out
}

func TestTheLoopTakesTheAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v, err := ask.New(models.NewCurrent(models.New(models.Spec{Name: "offline"}, New(), nil)), ask.Config{}).Ask(t.Context(), providertest.Ask())
		if err != nil || v.Failed() || v.TookMS != 0 {
			t.Fatalf("got %+v, %v", v, err)
		}
		if as, err := answerjson.Parse(v.Answers); err != nil || len(as) != 3 || as[0].Chosen != "billing" {
			t.Errorf("got %+v, %v", as, err)
		}
	})
}

func TestFormsOfAWordMeet(t *testing.T) {
	t.Parallel()
	for _, forms := range []string{
		"refund refunds refunded refunding Refund REFUNDED", "charge charges charged charging", "delivery deliveries",
		"ship ships shipped shipping", "crash crashes crashed", "box boxes", "address addresses",
	} {
		if got := stems(forms); len(got) != 1 {
			t.Errorf("%s: %v", forms, got)
		}
	}
	if got := stems("bus this class status 退款"); !slices.Equal(got, []string{"bus", "this", "class", "status", "退", "款"}) {
		t.Errorf("got %v", got)
	}
}

func TestReadingTheInputAllocatesOneBufferWhateverItsLength(t *testing.T) {
	v := newVocabulary()
	v.learn("refund parcels")
	text := strings.Repeat("refunded parcels été 请 ", 100)
	if n := testing.AllocsPerRun(10, func() { v.read(text) }); n > 1 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkAnswers(b *testing.B) {
	for name, text := range map[string]string{
		"short":      "I was charged twice, please refund the second payment.",
		"words":      strings.Repeat("refund parcel ", 7143),
		"one word":   strings.Repeat("a", 100_000),
		"ideographs": strings.Repeat("请", 100_000),
	} {
		a := ticket(text)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				answers(a)
			}
		})
	}
}

// spec: asked-parts
func TestEachTagIsAnsweredByItsOwnWords(t *testing.T) {
	t.Parallel()
	a := ticket("The parcel came late, and I was charged twice")
	a.Definition.Questions = []prism.Question{{
		Key: "about", Type: prism.Tags, Text: "What is it about?", Options: []prism.Option{
			{Key: "parcels", Label: "Parcels"}, {Key: "crash", Label: "Crashes"}, {Key: "charges", Label: "Charged"}, {Key: "staff", Label: "Staff"},
		},
	}}
	got := answers(a)[0]
	if keys := got.Replies(); got.Question != "about" || got.Type != prism.Tags || !slices.Equal(keys, []string{"parcels", "charges"}) {
		t.Errorf("got %+v", got)
	}
	again := answers(ticket(""))[1].Probability
	if none := got.Probabilities[3].Probability; none != again {
		t.Errorf("an option without a word in the text has %v, a yes_no %v", none, again)
	}
}
