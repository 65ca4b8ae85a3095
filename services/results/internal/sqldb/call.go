package sqldb

import (
	"math"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
)

// ModelCall reads what encodeCall wrote. The call of a result without one is nil.
func (r *Row) ModelCall() *prism.ModelCall {
	c := prism.ModelCall{Name: r.Text()}
	c.Usage.InputTokens, c.Usage.OutputTokens, c.Usage.Cost = r.OptionalInt(), r.OptionalInt(), r.OptionalInt()
	c.Usage.Currency = r.Text()
	stored := Decode[*storedCall](r)
	if stored == nil {
		return nil
	}
	c.ErrorCode, c.Provider, c.Model, c.Tries, c.FellBack = stored.ErrorCode, stored.Provider, stored.Model, stored.Tries, stored.FellBack
	c.Probabilities = stored.Probabilities
	c.Usage.CachedInputTokens, c.LabelMass, c.Absent, c.Disagreement = stored.CachedInputTokens, stored.LabelMass, stored.Absent, stored.Disagreement
	for _, r := range stored.Rounds {
		c.Rounds = append(c.Rounds, prism.Rounds(r))
	}
	if e := stored.Escalation; e != nil {
		c.Escalation = &prism.Escalation{
			Questions: e.Questions, ErrorCode: e.ErrorCode, Name: e.Name, Provider: e.Provider, Model: e.Model, FellBack: e.FellBack,
			Answers: e.Answers,
		}
	}
	return &c
}

// call has the arguments of the columns that describe a model call. Everything that no statement filters or adds up is in one
// column of JSON.
type call struct {
	key   *prism.UUID
	model *string
	usage prism.Usage
	other []byte
}

// storedCall is the JSON of the column call.
type storedCall struct {
	ErrorCode         prism.ErrorCode      `json:"error_code,omitzero"`
	Provider          string               `json:"provider,omitzero"`
	Model             string               `json:"model,omitzero"`
	Probabilities     string               `json:"probabilities,omitzero"`
	Tries             int32                `json:"tries,omitzero"`
	FellBack          bool                 `json:"fell_back,omitzero"`
	CachedInputTokens *int64               `json:"cached_input_tokens,omitzero"`
	LabelMass         []prism.LabelMass    `json:"label_mass,omitzero"`
	Absent            []prism.Absent       `json:"absent,omitzero"`
	Disagreement      []prism.Disagreement `json:"order_disagreement,omitzero"`
	Rounds            []storedRounds       `json:"rounds,omitzero"`
	Escalation        *storedEscalation    `json:"escalation,omitzero"`
}

// storedRounds is prism.Rounds.
type storedRounds struct {
	Question string        `json:"question"`
	Rounds   []prism.Round `json:"rounds"`
}

// storedEscalation is prism.Escalation with its answers as JSON.
type storedEscalation struct {
	Questions []string         `json:"questions"`
	ErrorCode prism.ErrorCode  `json:"error_code,omitzero"`
	Name      string           `json:"name"`
	Provider  string           `json:"provider,omitzero"`
	Model     string           `json:"model,omitzero"`
	FellBack  bool             `json:"fell_back,omitzero"`
	Answers   strictjson.Value `json:"answers,omitzero"`
}

// mostTokens bounds the tokens of a call, so that the sums over all results fit into 64 bits, whatever an upstream reports
// (spec: usage-is-exact).
const mostTokens = 1 << 40

// upTo returns n, or nil if it is negative or greater than most.
func upTo(most int64, n *int64) *int64 {
	if n == nil || *n < 0 || *n > most {
		return nil
	}
	return n
}

// PlausibleUsage returns the usage without impossible numbers.
func PlausibleUsage(u prism.Usage) prism.Usage {
	u.InputTokens, u.OutputTokens = upTo(mostTokens, u.InputTokens), upTo(mostTokens, u.OutputTokens)
	u.Cost = upTo(math.MaxInt64, u.Cost)
	return u
}

// encodeCall returns the arguments of a result's model call, with null for everything that was not recorded.
func encodeCall(r prism.Result) (c call, err error) {
	if !r.Key.IsZero() {
		c.key = &r.Key.UUID
	}
	if r.Call == nil {
		return c, nil
	}
	c.model, c.usage = Nullable(r.Call.Name), PlausibleUsage(r.Call.Usage)
	var escalation *storedEscalation
	if e := r.Call.Escalation; e != nil {
		escalation = &storedEscalation{e.Questions, e.ErrorCode, e.Name, e.Provider, e.Model, e.FellBack, e.Answers}
	}
	var rounds []storedRounds
	for _, q := range r.Call.Rounds {
		rounds = append(rounds, storedRounds(q))
	}
	c.other, err = Encode(storedCall{
		ErrorCode: r.Call.ErrorCode, Provider: r.Call.Provider, Model: r.Call.Model, Tries: r.Call.Tries,
		Probabilities: r.Call.Probabilities, FellBack: r.Call.FellBack, CachedInputTokens: r.Call.Usage.CachedInputTokens, LabelMass: r.Call.LabelMass,
		Absent: r.Call.Absent, Disagreement: r.Call.Disagreement, Rounds: rounds, Escalation: escalation,
	})
	return c, err
}

// CostUnit is how many of the units of prism.Usage.Cost are one unit of the currency.
const CostUnit = 1_000_000_000_000
