package usage

import (
	"context"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/access"
	"github.com/prism-results/prism/services/results/internal/bodies"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Handlers are those of the operations of usage. Their store finds a prism by its name too.
type Handlers struct {
	store interface {
		Store
		Prism(ctx context.Context, account prism.AccountID, ref prism.Ref) (prism.Prism, error)
	}
	now func() time.Time
}

// NewHandlers makes Handlers over a store.
func NewHandlers(s interface {
	Store
	Prism(ctx context.Context, account prism.AccountID, ref prism.Ref) (prism.Prism, error)
}, now func() time.Time,
) *Handlers {
	return &Handlers{store: s, now: now}
}

// Operations are the operations of usage.
func (s *Handlers) Operations() []api.Handler[access.Caller] {
	return []api.Handler[access.Caller]{access.Encoded(api.ReadUsage, s.readUsage)}
}

// sumsBody is the body of usage (spec: usage-members).
type sumsBody struct {
	Data []strictjson.Value `json:"data"`
	More bool               `json:"more"`
	From string             `json:"from"`
	To   string             `json:"to"`
}

// sumBody is the members of a sum behind what it is of.
type sumBody struct {
	Results      int64       `json:"results"`
	Failed       int64       `json:"failed"`
	InputTokens  int64       `json:"input_tokens"`
	OutputTokens int64       `json:"output_tokens"`
	Cost         *prism.Cost `json:"cost"`
	Currency     *string     `json:"currency"`
}

func (s *Handlers) readUsage(ctx context.Context, c store.Caller, in api.ReadUsageRequest) ([]byte, error) {
	from, to, problem := in.Period(prism.DayOf(s.now()))
	if problem != nil {
		return nil, apierr.Invalid(*problem)
	}
	filter := Filter{By: in.By, From: from, To: to, Model: in.Model, Key: in.Key}
	if in.Prism != nil {
		p, err := s.store.Prism(ctx, c.Account, *in.Prism)
		if err != nil {
			return nil, err
		}
		filter.Prism = p.ID
	}
	sums, more, err := s.store.ReadUsage(ctx, c.Account, filter)
	if err != nil {
		return nil, err
	}
	body := sumsBody{More: more, From: from.String(), To: to.String()}
	for _, sum := range joined(sums) {
		row, err := newSumBody(in.By, sum)
		if err != nil {
			return nil, err
		}
		body.Data = append(body.Data, row)
	}
	return strictjson.Marshal(body)
}

// joined adds what has no currency, which comes first in its group, to the first sum of the group that has one
// (spec: usage-currencies).
func joined(sums []Sum) []Sum {
	var rows []Sum
	for _, s := range sums {
		last := len(rows) - 1
		if last < 0 || rows[last].Group() != s.Group() || rows[last].Currency != "" {
			rows = append(rows, s)
			continue
		}
		r := &rows[last]
		r.Currency, r.Cost = s.Currency, r.Cost.Add(s.Cost)
		r.Results, r.Failed = r.Results+s.Results, r.Failed+s.Failed
		r.InputTokens, r.OutputTokens = r.InputTokens+s.InputTokens, r.OutputTokens+s.OutputTokens
	}
	return rows
}

func newSumBody(by api.UsageBy, s Sum) (strictjson.Value, error) {
	sum := sumBody{
		Results: s.Results, Failed: s.Failed, InputTokens: s.InputTokens, OutputTokens: s.OutputTokens, Currency: bodies.Optional(s.Currency),
	}
	if s.Currency != "" {
		sum.Cost = &s.Cost
	}
	switch by {
	case api.ByPrism:
		return strictjson.Marshal(struct {
			Prism *string `json:"prism"`
			sumBody
		}{bodies.Optional(s.Name), sum})
	case api.ByModel:
		return strictjson.Marshal(struct {
			Model *string `json:"model"`
			sumBody
		}{bodies.Optional(s.Name), sum})
	case api.ByKey:
		var key *prism.KeyID
		if !s.Key.IsZero() {
			key = &s.Key
		}
		return strictjson.Marshal(struct {
			KeyID *prism.KeyID `json:"key_id"`
			sumBody
		}{key, sum})
	default:
		return strictjson.Marshal(struct {
			Day string `json:"day"`
			sumBody
		}{s.Day.String(), sum})
	}
}
