package answerjson

import (
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
)

// parseAny reads answers with white space, escapes, unknown members, or members in another order.
func parseAny(raw []byte) (prism.Answers, error) {
	var answers anyAnswers
	err := strictjson.Unmarshal(raw, &answers)
	return prism.Answers(answers), err
}

type (
	anyAnswers       prism.Answers
	anyProbabilities []prism.KeyProbability
	// anyAnswer has the members of all types of answers. A member that is absent or null is nil.
	anyAnswer struct {
		Type          prism.QuestionType `json:"type"`
		Value         *string            `json:"value"`
		Level         *string            `json:"level"`
		Values        strictjson.Value   `json:"values"`
		Probabilities anyProbabilities   `json:"probabilities"`
		Confidence    *float64           `json:"confidence"`
		Probability   *float64           `json:"probability"`
	}
)

// UnmarshalJSONFrom decodes the object of all answers.
func (as *anyAnswers) UnmarshalJSONFrom(d *strictjson.Decoder) error {
	return eachMember(d, func(question string, value strictjson.Value) error {
		var m anyAnswer
		if err := strictjson.Unmarshal(value, &m); err != nil {
			return err
		}
		a, ok := m.answer(question)
		if !ok {
			return ErrShape
		}
		*as = append(*as, a)
		return nil
	})
}

// answer is the answer with the members of its type; others are unknown members. It is false if the answer lacks one.
func (m anyAnswer) answer(question string) (prism.Answer, bool) {
	a, shape := prism.Answer{Question: question, Type: m.Type}, m.Type.Shape()
	ok := m.Type != ""
	if shape.Chosen != "" {
		chosen := map[string]*string{"value": m.Value, "level": m.Level}[shape.Chosen]
		if shape.Several {
			var keys []string // which the probabilities say too
			ok = ok && strictjson.Unmarshal(m.Values, &keys) == nil && keys != nil
		} else {
			ok = ok && readMember(chosen, &a.Chosen)
		}
		ok = ok && m.Probabilities != nil
		a.Probabilities = m.Probabilities
	}
	if shape.Confidence {
		ok = ok && readMember(m.Confidence, &a.Confidence)
	}
	if shape.Probability {
		ok = ok && readMember(m.Probability, &a.Probability)
	}
	return a, ok
}

// readMember reads a member, and is false if it is absent or null.
func readMember[T any](member, to *T) bool {
	if member != nil {
		*to = *member
	}
	return member != nil
}

// UnmarshalJSONFrom decodes the object of one answer's probabilities.
func (ps *anyProbabilities) UnmarshalJSONFrom(d *strictjson.Decoder) error {
	*ps = anyProbabilities{}
	return eachMember(d, func(key string, value strictjson.Value) error {
		p := prism.KeyProbability{Key: key}
		if value.Kind() != '0' {
			return ErrShape
		}
		err := strictjson.Unmarshal(value, &p.Probability)
		*ps = append(*ps, p)
		return err
	})
}

// eachMember decodes an object and calls member for each of its members in order. The decoder rejects duplicate names.
func eachMember(d *strictjson.Decoder, member func(name string, value strictjson.Value) error) error {
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return ErrShape
	}
	for d.PeekKind() != '}' {
		t, err := d.ReadToken()
		if err != nil {
			return err
		}
		name := t.String() // t is valid until the next read
		value, err := d.ReadValue()
		if err != nil {
			return err
		}
		if err := member(name, value); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}
