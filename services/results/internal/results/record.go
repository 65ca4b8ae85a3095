package results

import (
	"context"
	"strconv"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/bodies"
	"github.com/prism-results/prism/services/results/internal/labels"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/store"
)

// The body of a record (spec: record-members), which is an api.Record with the order of its objects. What is not known is null.
type (
	recordBody struct {
		ID             prism.ResultID   `json:"id"`
		Prism          string           `json:"prism"`
		Version        int32            `json:"version"`
		Status         prism.Status     `json:"status"`
		Error          *string          `json:"error"`
		ErrorCode      *string          `json:"error_code"`
		CreatedAt      string           `json:"created_at"`
		TookMS         int64            `json:"took_ms"`
		Ref            *string          `json:"ref"`
		Context        *string          `json:"context"`
		Fields         strictjson.Value `json:"fields"`
		IdempotencyKey *string          `json:"idempotency_key"`
		RetryOf        *prism.ResultID  `json:"retry_of"`
		RetriedBy      *prism.ResultID  `json:"retried_by"`
		KeyID          *prism.KeyID     `json:"key_id"`
		RunID          *prism.RunID     `json:"run_id"`
		RunRow         *int64           `json:"run_row"`
		callBody
		Labels strictjson.Value `json:"labels"`
	}
	// callBody is what is known of the call of the model.
	callBody struct {
		Model        *api.RecordModel `json:"model"`
		Usage        *usageBody       `json:"usage"`
		LabelMass    strictjson.Value `json:"label_mass"`
		Absent       strictjson.Value `json:"absent"`
		Disagreement strictjson.Value `json:"order_disagreement"`
		Rounds       strictjson.Value `json:"rounds"`
		Escalation   *escalationBody  `json:"escalation"`
	}
	// escalationBody has both models of an ask that was escalated.
	escalationBody struct {
		Questions []string     `json:"questions"`
		ErrorCode *string      `json:"error_code"`
		First     answeredBody `json:"first"`
		Second    answeredBody `json:"second"`
	}
	answeredBody struct {
		Name     *string          `json:"name"`
		Provider *string          `json:"provider"`
		Model    *string          `json:"model"`
		FellBack bool             `json:"fell_back"`
		Answers  strictjson.Value `json:"answers"`
	}
	usageBody struct {
		InputTokens       *int64      `json:"input_tokens"`
		OutputTokens      *int64      `json:"output_tokens"`
		CachedInputTokens *int64      `json:"cached_input_tokens"`
		Cost              *prism.Cost `json:"cost"`
		Currency          *string     `json:"currency"`
	}
)

func newRecordBody(r store.Record) recordBody {
	body := recordBody{
		ID: r.Result.ID, Prism: r.Prism.Slug, Version: r.Result.Version, Status: r.Result.Status, Error: bodies.Optional(r.Result.Error),
		CreatedAt: prism.FormatTime(r.Result.CreatedAt), TookMS: r.Result.TookMS, Ref: r.Result.Ref,
		Context: bodies.Optional(r.Result.Context), Fields: bodies.Fields(r.Result.Fields),
		IdempotencyKey: bodies.Optional(r.Result.IdempotencyKey), RetryOf: r.RetryOf, RetriedBy: r.Result.RetriedBy, RunID: r.Run,
	}
	if r.Run != nil {
		body.RunRow = &r.RunRow
	}
	if !r.Result.Key.IsZero() {
		body.KeyID = &r.Result.Key
	}
	if c := r.Result.Call; c != nil {
		body.ErrorCode, body.callBody = bodies.Optional(string(c.ErrorCode)), newCallBody(*c, r.Result.Answers)
	}
	return body
}

// newCallBody is what is known of the call that had these answers, the bytes of `raw`.
func newCallBody(c prism.ModelCall, answers []byte) callBody {
	body := callBody{
		Model: &api.RecordModel{
			Name: bodies.Optional(c.Name), Provider: bodies.Optional(c.Provider), Model: bodies.Optional(c.Model),
			Probabilities: (*api.ProbabilitySource)(bodies.Optional(c.Probabilities)), Tries: int(c.Tries), FellBack: c.FellBack,
		},
		Usage: &usageBody{
			InputTokens: c.Usage.InputTokens, OutputTokens: c.Usage.OutputTokens, CachedInputTokens: c.Usage.CachedInputTokens,
			Currency: bodies.Optional(c.Usage.Currency),
		},
	}
	if c.Usage.Cost != nil {
		body.Usage.Cost = &prism.Cost{Rest: *c.Usage.Cost}
	}
	if c.LabelMass != nil {
		body.LabelMass = bodies.Object(c.LabelMass, func(b []byte, m prism.LabelMass) []byte {
			return prism.AppendNumber(append(strictjson.AppendString(b, m.Question), ':'), m.Mass)
		})
	}
	if c.Absent != nil {
		body.Absent = bodies.Object(c.Absent, func(b []byte, a prism.Absent) []byte {
			b = append(strictjson.AppendString(b, a.Question), ':')
			for i, key := range a.Keys {
				b = strictjson.AppendString(append(b, "[,"[min(i, 1)]), key)
			}
			return append(b, ']')
		})
	}
	if c.Disagreement != nil {
		body.Disagreement = bodies.Object(c.Disagreement, func(b []byte, d prism.Disagreement) []byte {
			return prism.AppendNumber(append(strictjson.AppendString(b, d.Question), ':'), d.Distance)
		})
	}
	if c.Rounds != nil {
		body.Rounds = bodies.Object(c.Rounds, func(b []byte, q prism.Rounds) []byte {
			b = append(strictjson.AppendString(b, q.Question), ':')
			for i, r := range q.Rounds {
				b = append(b, "[,"[min(i, 1)])
				b = strconv.AppendInt(append(b, `{"groups":`...), int64(r.Groups), 10)
				b = append(strconv.AppendInt(append(b, `,"options":`...), int64(r.Options), 10), '}')
			}
			return append(b, ']')
		})
	}
	if e := c.Escalation; e != nil {
		other := answeredBody{bodies.Optional(e.Name), bodies.Optional(e.Provider), bodies.Optional(e.Model), e.FellBack, e.Answers}
		of := answeredBody{body.Model.Name, body.Model.Provider, body.Model.Model, c.FellBack, answers}
		body.Escalation = &escalationBody{e.Questions, bodies.Optional(string(e.ErrorCode)), of, other}
		if e.ErrorCode == "" { // the result is the second model's
			body.Escalation.First, body.Escalation.Second = other, of
		}
	}
	return body
}

// appendSent appends what was sent with the call of a result to its object (spec: result-list-fields).
func appendSent(object []byte, r prism.Result) []byte {
	b := append(append(object[:len(object)-1], `,"fields":`...), bodies.Fields(r.Fields)...)
	b = append(b, `,"context":`...)
	if r.Context == "" {
		return append(b, "null}"...)
	}
	return append(strictjson.AppendString(b, r.Context), '}')
}

func (h *Handlers) readRecord(ctx context.Context, c store.Caller, in api.ResultRequest) ([]byte, error) {
	record, err := h.deps.Store.Record(ctx, c.Account, in.Result)
	if err != nil {
		return nil, err
	}
	body := newRecordBody(record)
	known, err := h.deps.Store.LabelsOf(ctx, c.Account, record.Prism.ID, []prism.ResultID{in.Result})
	if err != nil {
		return nil, err
	}
	v, err := h.deps.Versions.Version(ctx, c.Account, prisms.VersionOf(record.Prism, record.Result.Version))
	if err != nil {
		return nil, err
	}
	if body.Labels, err = labels.Object(v.Definition, known); err != nil {
		return nil, err
	}
	return strictjson.Marshal(body)
}
