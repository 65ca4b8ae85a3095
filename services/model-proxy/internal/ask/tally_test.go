package ask

import (
	"context"
	"encoding/json"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/model-proxy/internal/failure"
	"github.com/prism-results/prism/services/model-proxy/internal/models"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

func count(n int64) provider.Count { return provider.Count{N: n, Known: true} }

// use is an attempt at a model with a price.
type use struct {
	price  *models.Price
	tokens provider.Tokens
}

// spec: call-of-a-model, price-of-a-call
func TestUsageAndCostOverAllTries(t *testing.T) {
	t.Parallel()
	usd := &models.Price{Currency: "USD", Input: 400_000, Output: 1_600_000} // 0.40 and 1.60 for a million
	eur := &models.Price{Currency: "EUR", Input: 1, Output: 1}
	vast := &models.Price{Currency: "USD", Input: 999_999_999_999, Output: 0}
	cached := &models.Price{Currency: "USD", Input: 400_000, Output: 1_600_000, CachedInput: new(int64(50_000))}
	reported := &models.Price{Currency: models.ReportedCurrency, Reported: true}
	none := provider.Tokens{}
	some := provider.Tokens{Input: count(100), Output: count(3)}
	for name, c := range map[string]struct {
		uses []use
		want string // the usage as JSON
	}{
		"nothing was asked":                          {nil, `{}`},
		"the upstream says nothing":                  {[]use{{usd, none}}, `{}`},
		"tokens without a price":                     {[]use{{nil, some}}, `{"InputTokens":100,"OutputTokens":3}`},
		"tokens times the price":                     {[]use{{usd, some}}, `{"InputTokens":100,"OutputTokens":3,"Cost":44800000,"Currency":"USD"}`},
		"the tokens of all tries":                    {[]use{{usd, some}, {usd, some}}, `{"InputTokens":200,"OutputTokens":6,"Cost":89600000,"Currency":"USD"}`},
		"a reply that says nothing":                  {[]use{{usd, some}, {usd, none}, {usd, some}}, `{"InputTokens":200,"OutputTokens":6}`},
		"known to be zero":                           {[]use{{usd, provider.Tokens{Input: count(0), Output: count(0), Cached: count(0)}}}, `{"InputTokens":0,"OutputTokens":0,"CachedInputTokens":0,"Cost":0,"Currency":"USD"}`},
		"only input is said":                         {[]use{{usd, provider.Tokens{Input: count(10)}}}, `{"InputTokens":10}`},
		"only output is said":                        {[]use{{usd, provider.Tokens{Output: count(10)}}}, `{"OutputTokens":10}`},
		"only what has a price is said":              {[]use{{vast, provider.Tokens{Input: count(1)}}}, `{"InputTokens":1,"Cost":999999999999,"Currency":"USD"}`},
		"cached tokens are counted":                  {[]use{{usd, provider.Tokens{Input: count(10), Output: count(1), Cached: count(8)}}}, `{"InputTokens":10,"OutputTokens":1,"CachedInputTokens":8,"Cost":5600000,"Currency":"USD"}`},
		"a model without a price used tokens":        {[]use{{usd, some}, {nil, some}}, `{"InputTokens":200,"OutputTokens":6}`},
		"a model without a price says nothing":       {[]use{{nil, none}, {usd, some}}, `{"InputTokens":100,"OutputTokens":3}`},
		"two currencies are not added":               {[]use{{usd, some}, {eur, some}}, `{"InputTokens":200,"OutputTokens":6}`},
		"each model has its own price":               {[]use{{usd, some}, {&models.Price{Currency: "USD", Input: 1, Output: 2}, some}}, `{"InputTokens":200,"OutputTokens":6,"Cost":44800106,"Currency":"USD"}`},
		"a cost that is too large is not known":      {[]use{{vast, provider.Tokens{Input: count(1e12)}}}, `{"InputTokens":1000000000000}`},
		"a sum that is too large is not known":       {[]use{{vast, provider.Tokens{Input: count(9e6)}}, {vast, provider.Tokens{Input: count(9e6)}}}, `{"InputTokens":18000000}`},
		"cached tokens have a price of their own":    {[]use{{cached, provider.Tokens{Input: count(10), Output: count(1), Cached: count(8)}}}, `{"InputTokens":10,"OutputTokens":1,"CachedInputTokens":8,"Cost":2800000,"Currency":"USD"}`},
		"how many are cached is not said":            {[]use{{cached, some}}, `{"InputTokens":100,"OutputTokens":3}`},
		"more tokens are cached than sent":           {[]use{{cached, provider.Tokens{Input: count(1), Output: count(1), Cached: count(2)}}}, `{"InputTokens":1,"OutputTokens":1,"CachedInputTokens":2}`},
		"cached tokens that cost nothing":            {[]use{{&models.Price{Currency: "USD", CachedInput: new(int64)}, provider.Tokens{Input: count(1)}}}, `{"InputTokens":1,"Cost":0,"Currency":"USD"}`},
		"each call has a price":                      {[]use{{&models.Price{Currency: "USD", Input: 1, PerCall: 1e9}, some}, {&models.Price{Currency: "USD", PerCall: 1e9}, none}}, `{"InputTokens":100,"OutputTokens":3,"Cost":2000000100,"Currency":"USD"}`},
		"the upstream reports the cost":              {[]use{{reported, provider.Tokens{Cost: provider.Cost{N: 7, Known: true}}}, {reported, provider.Tokens{Cost: provider.Cost{N: 0, Known: true}}}}, `{"Cost":7,"Currency":"USD"}`},
		"the upstream reports no cost":               {[]use{{reported, some}}, `{"InputTokens":100,"OutputTokens":3}`},
		"nobody asked for the reported cost":         {[]use{{nil, provider.Tokens{Cost: provider.Cost{N: 7, Known: true}}}}, `{}`},
		"the largest price for many tokens is known": {[]use{{vast, provider.Tokens{Input: count(9e6)}}}, `{"InputTokens":9000000,"Cost":8999999999991000000,"Currency":"USD"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var all tally
			for _, u := range c.uses {
				m := models.New(models.Spec{Name: "m", Price: u.price}, provider.Provider{Name: "fake"}, nil)
				all.begin(m, false)
				all.attempt(m)
				all.used(m, u.tokens)
			}
			if all.model == nil {
				all.model = models.New(models.Spec{}, provider.Provider{}, nil)
			}
			call := all.end(result{Report: Report{}}).Call
			got, err := json.Marshal(call.Usage)
			if err != nil || string(got) != c.want {
				t.Errorf("got %s, %v, want %s", got, err, c.want)
			}
			if int(call.Tries) != len(c.uses) {
				t.Errorf("%d tries", call.Tries)
			}
		})
	}
}

// spec: call-of-a-model
func TestCostsAreExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in, out := rapid.Int64Range(0, 1e6).Draw(t, "in"), rapid.Int64Range(0, 1e6).Draw(t, "out")
		p := models.Price{Currency: "USD", Input: rapid.Int64Range(0, 1e12).Draw(t, "p"), Output: rapid.Int64Range(0, 1e12).Draw(t, "q")}
		got, ok := costOf(&p, provider.Tokens{Input: count(in), Output: count(out)})
		if want := in*p.Input + out*p.Output; !ok || got != want {
			t.Fatalf("got %d, want %d", got, want)
		}
	})
	if _, ok := costOf(&models.Price{Input: math.MaxInt64, Output: math.MaxInt64}, provider.Tokens{Input: count(1), Output: count(1)}); ok {
		t.Error("a sum beyond an int64 is known")
	}
}

// spec: call-of-a-model, error-codes
func TestACallSaysWhichModelAnsweredAndHow(t *testing.T) {
	t.Parallel()
	mass := prism.LabelMass{Question: "q0", Mass: 0.9}
	good := func(context.Context) (provider.Reply, *upstream.Fault) {
		return provider.Reply{Answers: []*prism.Answer{{Type: prism.YesNo, Probability: 1}}, LabelMass: []prism.LabelMass{mass}}, nil
	}
	for _, c := range []struct {
		name   string
		do     do
		source api.ProbabilitySource
		code   prism.ErrorCode
		mass   int
		tries  int32
	}{
		{"log-probabilities", good, api.Logprobs, "", 1, 1},
		{"another source", good, api.Native, "", 0, 1},
		{"offline", good, api.Simulated, "", 0, 0},
		{"refused", fault(0, refused), api.Native, prism.CodeRefusedKey, 0, 1},
		{"unusable", noAnswer(0), api.Native, prism.CodeNoUsableAnswer, 0, 1},
		{"no log-probabilities", noLogProbs, api.Logprobs, prism.CodeNoLogProbabilities, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			api := fake{c.do}.provider()
			api.Probabilities = c.source
			s := New(models.NewCurrent(models.New(models.Spec{Name: "fast", Model: "m-1"}, api, nil)), Config{})
			got := ask(t, s).Call
			if got.Name != "fast" || got.Provider != "fake" || got.Model != "m-1" || got.ErrorCode != c.code ||
				len(got.LabelMass) != c.mass || got.Tries != c.tries || got.FellBack || got.Usage != (prism.Usage{}) {
				t.Errorf("got %+v", got)
			}
			if c.mass > 0 && got.LabelMass[0] != mass {
				t.Errorf("label mass %+v", got.LabelMass)
			}
		})
	}
}

// spec: failure-classes
func TestEveryClassOfAFailureHasACodeOfItsOwn(t *testing.T) {
	t.Parallel()
	classes, codes := map[failure.Class]bool{}, map[prism.ErrorCode]bool{}
	for _, e := range Endings() {
		if codes[e.Code] || (e.Code == "") != (e.Class == failure.OK) {
			t.Errorf("%s has the code %q", e.Class, e.Code)
		}
		classes[e.Class], codes[e.Code] = true, true
	}
	for _, class := range failure.Classes() {
		if !classes[class] {
			t.Errorf("no ask ends with %s", class)
		}
	}
}
