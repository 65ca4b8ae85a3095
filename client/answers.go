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

func (a *Answer) member() (*string, any) { return &a.Name, &a.Value }

// UnmarshalJSON keeps the order.
func (a *Answers) UnmarshalJSON(b []byte) (err error) {
	*a, err = readMembers[Answer](b)
	return err
}

// MarshalJSON writes an object in order, or null when there are no answers.
func (a Answers) MarshalJSON() ([]byte, error) { return writeMembers(a) }

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

func (a *RawAnswer) member() (*string, any) { return &a.Question, a }

// UnmarshalJSON keeps the order.
func (a *RawAnswers) UnmarshalJSON(b []byte) (err error) {
	*a, err = readMembers[RawAnswer](b)
	return err
}

// MarshalJSON writes an object in order, or null when there are no answers.
func (a RawAnswers) MarshalJSON() ([]byte, error) { return writeMembers(a) }

// Probabilities are probabilities by option or level key, in definition order.
type Probabilities []Probability

// Probability is that of one option or level.
type Probability struct {
	Key string
	P   float64
}

func (p *Probability) member() (*string, any) { return &p.Key, &p.P }

// UnmarshalJSON keeps the order.
func (p *Probabilities) UnmarshalJSON(b []byte) (err error) {
	*p, err = readMembers[Probability](b)
	return err
}

// MarshalJSON writes an object in order.
func (p Probabilities) MarshalJSON() ([]byte, error) { return writeMembers(p) }

// member is one member of an object whose order counts.
type member[T any] interface {
	*T
	member() (name *string, value any)
}

// readMembers reads an object in the order of its members; null is a nil list.
func readMembers[T any, P member[T]](b []byte) (list []T, err error) {
	d := json.NewDecoder(bytes.NewReader(b))
	switch t, err := d.Token(); {
	case err != nil || t == nil: // t is nil for null
		return nil, err
	case t != json.Delim('{'):
		return nil, errors.New("client: not an object")
	}
	for d.More() {
		var one T
		name, value := P(&one).member()
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		*name, _ = t.(string)
		if err := d.Decode(value); err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

// writeMembers writes an object in the order of the list; a nil list is null.
func writeMembers[T any, P member[T]](list []T) ([]byte, error) {
	if list == nil {
		return []byte("null"), nil
	}
	b := bytes.NewBufferString("{")
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	for i := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		name, value := P(&list[i]).member()
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
