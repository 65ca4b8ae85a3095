package client

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Answers are the columns of a result, in Lens order.
type Answers []Answer

// Answer is one column.
type Answer struct {
	Name string
	// Value is a string, a float64, or nil if the stored answers have no value for the column.
	Value any
}

// Get returns the value of the column with this name, and false if there is no such column.
func (a Answers) Get(name string) (any, bool) {
	for _, one := range a {
		if one.Name == name {
			return one.Value, true
		}
	}
	return nil, false
}

// UnmarshalJSON keeps the order.
func (a *Answers) UnmarshalJSON(b []byte) error {
	*a = nil
	return eachMember(b, func(name string, raw json.RawMessage) error {
		one := Answer{Name: name}
		err := json.Unmarshal(raw, &one.Value)
		*a = append(*a, one)
		return err
	})
}

// MarshalJSON writes an object in order, or null when there are no answers.
func (a Answers) MarshalJSON() ([]byte, error) {
	return object(a, func(one Answer) (string, any) { return one.Name, one.Value })
}

// RawAnswers are the stored answers, in the version's order.
type RawAnswers []RawAnswer

// RawAnswer is the stored answer to one question. The members of other question types are empty.
type RawAnswer struct {
	Question string       `json:"-"`
	Type     QuestionType `json:"type"`
	// Value is the key of the chosen option (choice), Level that of the chosen level (scale).
	Value string `json:"value,omitempty"`
	Level string `json:"level,omitempty"`
	// Probability is that of yes (yes_no).
	Probability *float64 `json:"probability,omitempty"`
	// Probabilities are those of the options or levels, in definition order (choice, scale).
	Probabilities Probabilities `json:"probabilities,omitempty"`
	// Confidence is 1 when the choice is certain and 0 when it is a guess (choice).
	Confidence *float64 `json:"confidence,omitempty"`
}

// Get returns the answer to the question with this key, and false if there is none.
func (a RawAnswers) Get(question string) (RawAnswer, bool) {
	for _, one := range a {
		if one.Question == question {
			return one, true
		}
	}
	return RawAnswer{}, false
}

// UnmarshalJSON keeps the order.
func (a *RawAnswers) UnmarshalJSON(b []byte) error {
	*a = nil
	return eachMember(b, func(name string, raw json.RawMessage) error {
		one := RawAnswer{Question: name}
		err := json.Unmarshal(raw, &one)
		*a = append(*a, one)
		return err
	})
}

// MarshalJSON writes an object in order, or null when there are no answers.
func (a RawAnswers) MarshalJSON() ([]byte, error) {
	return object(a, func(one RawAnswer) (string, any) { return one.Question, one })
}

// Probabilities are probabilities by option or level key, in definition order.
type Probabilities []Probability

// Probability is that of one option or level.
type Probability struct {
	Key string
	P   float64
}

// UnmarshalJSON keeps the order.
func (p *Probabilities) UnmarshalJSON(b []byte) error {
	*p = nil
	return eachMember(b, func(key string, raw json.RawMessage) error {
		one := Probability{Key: key}
		err := json.Unmarshal(raw, &one.P)
		*p = append(*p, one)
		return err
	})
}

// MarshalJSON writes an object in order.
func (p Probabilities) MarshalJSON() ([]byte, error) {
	return object(p, func(one Probability) (string, any) { return one.Key, one.P })
}

// eachMember reads an object in the order of its members; null has none.
func eachMember(b []byte, fn func(name string, value json.RawMessage) error) error {
	if string(b) == "null" {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(b))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.Join(errors.New("client: not an object"), err)
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := t.(string)
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		if err := fn(name, value); err != nil {
			return err
		}
	}
	return nil
}

// object writes an object in the order of the list; a nil list is null.
func object[T any](list []T, member func(T) (string, any)) ([]byte, error) {
	if list == nil {
		return []byte("null"), nil
	}
	var b bytes.Buffer
	b.WriteByte('{')
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for i, one := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		name, value := member(one)
		if err := e.Encode(name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := e.Encode(value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
