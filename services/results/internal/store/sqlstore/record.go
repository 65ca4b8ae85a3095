package sqlstore

import "github.com/prism-results/prism/pkg/prism"

// call is the columns of a result that its record has, as arguments. What nothing filters or adds up is one column of JSON.
type call struct {
	key   *prism.UUID
	model *string
	usage prism.Usage
	rest  []byte
}

// storedCall is the JSON of the column call.
type storedCall struct {
	ErrorCode         prism.ErrorCode   `json:"error_code,omitzero"`
	Provider          string            `json:"provider,omitzero"`
	Model             string            `json:"model,omitzero"`
	Tries             int32             `json:"tries,omitzero"`
	FellBack          bool              `json:"fell_back,omitzero"`
	CachedInputTokens *int64            `json:"cached_input_tokens,omitzero"`
	LabelMass         []prism.LabelMass `json:"label_mass,omitzero"`
}

// encodeCall is nulls for what was not recorded.
func encodeCall(r prism.Result) (c call, err error) {
	if !r.Key.IsZero() {
		c.key = &r.Key.UUID
	}
	if r.Call == nil {
		return c, nil
	}
	c.model, c.usage = Nullable(r.Call.Name), r.Call.Usage
	c.rest, err = encode(storedCall{
		ErrorCode: r.Call.ErrorCode, Provider: r.Call.Provider, Model: r.Call.Model, Tries: r.Call.Tries,
		FellBack: r.Call.FellBack, CachedInputTokens: r.Call.Usage.CachedInputTokens, LabelMass: r.Call.LabelMass,
	})
	return c, err
}
