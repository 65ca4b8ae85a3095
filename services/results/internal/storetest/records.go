package storetest

import (
	"math"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// called is a result with all that its record has.
func called(r prism.Result, key prism.KeyID, model string, tokens, cost int64, currency string) prism.Result {
	r.Key, r.Call = key, &prism.ModelCall{
		Name: model, Provider: "openai-chat", Model: "the " + model, Probabilities: "logprobs", Tries: 3, FellBack: true,
		Usage:     prism.Usage{InputTokens: &tokens, OutputTokens: new(2 * tokens), CachedInputTokens: new(int64(1)), Currency: currency},
		LabelMass: []prism.LabelMass{{Question: "urgent", Mass: 0.1}, {Question: "topic", Mass: 1}},
		Absent:    []prism.Absent{{Question: "urgent", Keys: []string{"no"}}, {Question: "topic", Keys: []string{"a", "b"}}},
	}
	if currency != "" {
		r.Call.Usage.Cost = &cost
	}
	return r
}

// spec: record-members
func recordTests() []test {
	return []test{
		{"a record is everything that was saved", func(t *testing.T, f *fixture) {
			r := keyed(called(f.failed(f.mine.prism), f.mine.keyID, "fast", 1<<39, math.MaxInt64, "USD"), "a key")
			r.Ref, r.Call.ErrorCode = new("a ref"), prism.CodeTimeout
			f.save(t, r)
			retry := called(f.ok(f.mine.prism), f.mine.keyID, "strong", 0, 0, "USD")
			f.retry(t, retry, r)
			old, by := r, retry.ID
			old.IdempotencyKey, old.RetriedBy = "", &by
			same(t, f.record(t, r.ID), store.Record{Saved: store.Saved{Result: old, Prism: state(f.mine.prism)}})
			same(t, f.record(t, retry.ID), store.Record{
				Saved: store.Saved{Result: keyed(retry, "a key"), Prism: state(f.mine.prism)}, RetryOf: &r.ID,
			})
		}},
		{"what was not recorded is not known", func(t *testing.T, f *fixture) {
			r := f.ok(f.mine.prism)
			f.save(t, r)
			same(t, f.record(t, r.ID).Result, r)
			r = f.ok(f.mine.prism)
			r.Call = &prism.ModelCall{}
			f.save(t, r)
			same(t, f.record(t, r.ID).Result, r)
		}},
		// spec: record-of-an-escalation, order-disagreement, option-groups
		{"both models of an escalation are kept", func(t *testing.T, f *fixture) {
			for _, e := range []prism.Escalation{
				{
					Questions: []string{"urgent", "topic"}, Name: "fast", Provider: "openai-chat", Model: "m", FellBack: true,
					Answers: []byte(`{"z":{"type":"yes_no","probability":0.55},"a":{"type":"yes_no","probability":1e-9}}`),
				},
				{Questions: []string{"urgent"}, Name: "gone", ErrorCode: prism.CodeModelNotConfigured},
			} {
				r := called(f.ok(f.mine.prism), f.mine.keyID, "strong", 3, 4, "USD")
				r.Call.Escalation, r.Call.Disagreement = &e, []prism.Disagreement{{Question: "topic", Distance: 0.125}, {Question: "urgent"}}
				r.Call.Rounds = []prism.Rounds{{Question: "topic", Rounds: []prism.Round{{Groups: 5, Options: 77}, {Groups: 1, Options: 16}}}}
				f.save(t, r)
				same(t, f.record(t, r.ID).Result, r)
			}
		}},
		{"what can be no number of tokens and no cost is not known", func(t *testing.T, f *fixture) {
			for _, tokens := range []int64{-1, math.MinInt64, 1<<40 + 1, math.MaxInt64} {
				r := called(f.ok(f.mine.prism), f.mine.keyID, "fast", tokens, -1, "USD")
				r.Call.Usage.OutputTokens = &tokens
				f.save(t, r)
				call := *r.Call
				call.Usage.InputTokens, call.Usage.OutputTokens, call.Usage.Cost = nil, nil, nil
				r.Call = &call
				same(t, f.record(t, r.ID).Result, r)
			}
		}},
		{"an account has no record of another's result", func(t *testing.T, f *fixture) {
			theirs := f.ok(f.theirs.prism)
			_, err := f.SaveResult(t.Context(), f.theirs.account, theirs)
			succeeds(t, err)
			for _, id := range []prism.ResultID{theirs.ID, f.resultID()} {
				_, err := f.Record(t.Context(), f.mine.account, id)
				failsWith(t, err, store.ErrNotFound)
			}
		}},
	}
}

func (f *fixture) record(t *testing.T, id prism.ResultID) store.Record {
	t.Helper()
	r, err := f.Record(t.Context(), f.mine.account, id)
	succeeds(t, err)
	return r
}
