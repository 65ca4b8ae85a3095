package answerjson

import (
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
)

// ordered is a JSON object in the order of its members.
type ordered[V any] []member[V]

type member[V any] struct {
	name  string
	value V
}

// UnmarshalJSONFrom decodes an object. The decoder rejects duplicate names.
func (o *ordered[V]) UnmarshalJSONFrom(d *strictjson.Decoder) error {
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return ErrShape
	}
	*o = ordered[V]{}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return err
		}
		m := member[V]{name: name.String()} // name is valid until the next read
		value, err := d.ReadValue()
		if err != nil {
			return err
		}
		if err := strictjson.Unmarshal(value, &m.value); err != nil {
			return err
		}
		*o = append(*o, m)
	}
	_, err := d.ReadToken()
	return err
}

// anyAnswer has the members of all types of answers. A member that is absent or null is nil.
type anyAnswer struct {
	Type          *prism.QuestionType `json:"type"`
	Value         *string             `json:"value"`
	Level         *string             `json:"level"`
	Probabilities ordered[*float64]   `json:"probabilities"`
	Confidence    *float64            `json:"confidence"`
	Probability   *float64            `json:"probability"`
}

// parseAny reads answers with white space, escapes, unknown members, or members in another order.
func parseAny(raw []byte) (prism.Answers, error) {
	var stored ordered[anyAnswer]
	if err := strictjson.Unmarshal(raw, &stored); err != nil {
		return nil, err
	}
	answers := make(prism.Answers, len(stored))
	for i, m := range stored {
		if m.value.Type == nil || !m.value.answer(&answers[i]) {
			return nil, ErrShape
		}
		answers[i].Question, answers[i].Type = m.name, *m.value.Type
	}
	return answers, nil
}

// answer copies the members that belong to the type. Members of other types are unknown members.
func (s anyAnswer) answer(to *prism.Answer) bool {
	chosen := s.Value
	switch *s.Type {
	case prism.YesNo:
		return set(&to.Probability, s.Probability)
	case prism.Choice:
		if !set(&to.Confidence, s.Confidence) {
			return false
		}
	case prism.Scale:
		chosen = s.Level
	default:
		return true
	}
	to.Probabilities = make([]prism.KeyProbability, len(s.Probabilities))
	for i, m := range s.Probabilities {
		to.Probabilities[i].Key = m.name
		if !set(&to.Probabilities[i].Probability, m.value) {
			return false
		}
	}
	return s.Probabilities != nil && set(&to.Chosen, chosen)
}

// set copies a member, unless it is absent.
func set[V any](to, from *V) bool {
	if from != nil {
		*to = *from
	}
	return from != nil
}
