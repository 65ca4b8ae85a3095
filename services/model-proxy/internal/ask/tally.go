package ask

import (
	"math"
	"math/bits"
	"sync"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/model-proxy/internal/failure"
	"github.com/prism-results/prism/services/model-proxy/internal/models"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

// tally collects what the record of an ask says, over all its models and attempts (spec: call-of-a-model). It is safe for
// concurrent use: calls run at the same time, and may still run when the wait has ended.
type tally struct {
	mu       sync.Mutex
	model    *models.Model // the last one asked, before that the first to ask; nil: a second model that is not configured
	fellBack bool
	first    *firstAnswers // nil: nothing was escalated
	tries    int32
	tokens   provider.Tokens
	cost     int64
	currency string
	once     bool // no call is tried again
	unpriced bool // the cost of some tokens is not known, or in another currency

	wait       time.Duration // for places
	overloaded bool          // a model showed signs of overload (spec: run-slows-down)
}

// waited adds a wait for a place.
func (t *tally) waited(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wait += d
}

// fault looks for signs of overload in an attempt that failed. Anthropic answers 529 in place of 503.
func (t *tally) fault(f *upstream.Fault) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.overloaded = t.overloaded || f.Class == failure.Limited || f.Status == 503 || f.Status == 529 || f.Cause == upstream.TimedOut
}

// ended looks for signs of overload in the ask of a model.
func (t *tally) ended(took time.Duration, timedOut bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.overloaded = t.overloaded || timedOut || t.wait > max(longWait, took)
}

func (t *tally) begin(m *models.Model, fellBack bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.model, t.fellBack = m, fellBack
}

// attempt counts an attempt when it begins, so an attempt that the end of the wait cuts off counts too.
func (t *tally) attempt(m *models.Model) {
	if m.Remote() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.tries++
	}
}

// used adds the tokens of a reply. It returns their cost, or 0 when it is not known.
func (t *tally) used(m *models.Model, used provider.Tokens) (cost int64) {
	if !m.Remote() {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tokens.Input, t.tokens.Output = t.tokens.Input.Add(used.Input), t.tokens.Output.Add(used.Output)
	t.tokens.Cached = t.tokens.Cached.Add(used.Cached)
	cost, ok := costOf(m.Price, used)
	if !ok || t.currency != "" && t.currency != m.Price.Currency || cost > math.MaxInt64-t.cost {
		t.unpriced = true
		return cost
	}
	t.cost, t.currency = t.cost+cost, m.Price.Currency
	return cost
}

// costOf is what a call cost, in 10⁻¹² of the price's currency (spec: price-of-a-call). ok is false without a price, if a part of the
// cost is not known, and if the cost overflows.
func costOf(p *models.Price, used provider.Tokens) (cost int64, ok bool) {
	switch {
	case p == nil:
		return 0, false
	case p.Reported:
		return used.Cost.N, used.Cost.Known
	}
	input, cached := used.Input, int64(0)
	if p.CachedInput != nil {
		cached, input = *p.CachedInput, provider.Count{N: used.Input.N - used.Cached.N, Known: used.Input.Known && used.Cached.Known}
		if input.N < 0 { // which of the counts is wrong is not known
			return 0, false
		}
	}
	for _, part := range [...]struct {
		price int64
		count provider.Count
	}{{p.Input, input}, {cached, used.Cached}, {p.Output, used.Output}, {p.PerCall, provider.Count{N: 1, Known: true}}} {
		high, low := bits.Mul64(uint64(part.price), uint64(part.count.N)) //nolint:gosec // neither is negative
		if part.price > 0 && !part.count.Known || high > 0 || low > uint64(math.MaxInt64-cost) {
			return 0, false
		}
		cost += int64(low) //nolint:gosec // checked above
	}
	return cost, true
}

// firstAnswers is the end of the first route, whose answers are doubtful.
type firstAnswers struct {
	result
	model    *models.Model
	fellBack bool
	to       string // the name of the second model
}

// escalate notes that the first answers are doubtful and that a second route follows. It returns false if the second model itself
// gave the first answers, as a fallback or as the default model: then it is not asked again.
func (t *tally) escalate(first result, to string, second []*models.Model) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.model.Name == to {
		return false
	}
	t.first = &firstAnswers{first, t.model, t.fellBack, to}
	t.model, t.fellBack = nil, false
	if len(second) > 0 {
		t.model = second[0]
	}
	return true
}

// end returns the Report of an ask whose last route ended with last, and adds the record of the ask. After an escalation the
// answers of the second model are the result, or those of the first when there are no others.
func (t *tally) end(last result) Report {
	t.mu.Lock()
	defer t.mu.Unlock()
	overloaded := t.overloaded || last.Code == prism.CodeTimeout
	var escalation *prism.Escalation
	if t.first != nil {
		escalation = &prism.Escalation{Questions: t.first.doubtful, ErrorCode: last.Code, Name: t.first.to}
		other, fellBack := t.model, t.fellBack
		if last.OK() {
			other, fellBack = t.first.model, t.first.fellBack
			escalation.Answers = t.first.Answers
		} else {
			last, t.model, t.fellBack = t.first.result, t.first.model, t.first.fellBack
		}
		if other != nil {
			escalation.Name, escalation.Provider, escalation.Model = other.Name, other.API.Name, other.Model
			escalation.FellBack = fellBack
		}
	}
	v := last.Report
	v.Call, v.Overloaded = t.record(last), overloaded
	v.Call.Escalation = escalation
	return v
}

// record is the record of an ask that ended with r. The mutex is held.
func (t *tally) record(r result) *prism.ModelCall {
	v := &struct { // one allocation
		call    prism.ModelCall
		numbers [4]int64
	}{}
	v.call = prism.ModelCall{
		ErrorCode: r.Code, Name: t.model.Name, Provider: t.model.API.Name, Model: t.model.Model,
		Probabilities: string(t.model.API.Probabilities), Tries: t.tries, FellBack: t.fellBack, LabelMass: r.labelMass, Absent: r.absent, Disagreement: r.disagreement, Rounds: r.rounds,
	}
	known := func(i int, n int64, known bool) *int64 {
		if !known {
			return nil
		}
		v.numbers[i] = n
		return &v.numbers[i]
	}
	v.call.Usage = prism.Usage{
		InputTokens:       known(0, t.tokens.Input.N, t.tokens.Input.Known),
		OutputTokens:      known(1, t.tokens.Output.N, t.tokens.Output.Known),
		CachedInputTokens: known(2, t.tokens.Cached.N, t.tokens.Cached.Known),
	}
	if t.currency != "" && !t.unpriced {
		v.call.Usage.Cost, v.call.Usage.Currency = known(3, t.cost, true), t.currency
	}
	return &v.call
}
