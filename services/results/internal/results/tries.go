package results

import (
	"context"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/lens"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/access"
	"github.com/prism-results/prism/services/results/internal/bodies"
	"github.com/prism-results/prism/services/results/internal/format"
	"github.com/prism-results/prism/services/results/internal/usage"
)

// tryBody is the body of a try (spec: try-members).
type tryBody struct {
	Status    prism.Status     `json:"status"`
	Error     *string          `json:"error"`
	ErrorCode *string          `json:"error_code"`
	TookMS    int64            `json:"took_ms"`
	Raw       strictjson.Value `json:"raw"`
	JSON      strictjson.Value `json:"json"`
	callBody
}

// TryFacts implements contract.Tries.
func (h *Handlers) TryFacts(ctx context.Context, key contract.KeyDigest) (contract.TryFacts, error) {
	caller, err := h.deps.Access.Authenticate(ctx, key, contract.Operation(api.TryDefinition.Name))
	if err != nil {
		return contract.TryFacts{}, err
	}
	return contract.TryFacts{Account: caller.Account, Key: caller.Key, Unwritable: h.Refuses()}, nil
}

// FinishTry implements contract.Tries. The body is made first, so that nothing is counted for one that cannot be made.
func (h *Handlers) FinishTry(ctx context.Context, t contract.Try) (contract.Response, error) {
	body, err := newTryBody(t)
	if err != nil {
		return contract.Response{}, err
	}
	encoded, err := strictjson.Marshal(body)
	if err != nil {
		return contract.Response{}, err
	}
	err = h.deps.Store.CountUse(ctx, t.Account, usage.Use{
		Day: prism.DayOf(h.deps.Now()), Key: t.Key, Failed: t.Outcome.Failed(), Call: t.Outcome.Call,
	})
	h.saves.note(err)
	if err != nil {
		return contract.Response{}, access.Translate(err, nil)
	}
	return contract.Response{ContentType: format.ContentType(contract.JSON), Body: encoded, Failed: t.Outcome.Failed()}, nil
}

func newTryBody(t contract.Try) (tryBody, error) {
	body := tryBody{Status: prism.OK, Error: bodies.Optional(t.Outcome.Error), TookMS: t.Outcome.TookMS}
	if c := t.Outcome.Call; c != nil {
		body.ErrorCode, body.callBody = bodies.Optional(string(c.ErrorCode)), newCallBody(*c, t.Outcome.Answers)
	}
	if t.Outcome.Failed() {
		body.Status = prism.Failed
		return body, nil
	}
	l := lens.Derive(t.Definition)
	if t.Lens != nil {
		l = *t.Lens
	}
	var err error
	body.Raw = t.Outcome.Answers
	body.JSON, err = format.Answers(format.NewPlan(l, t.Definition, nil), t.Outcome.Answers)
	return body, err
}
