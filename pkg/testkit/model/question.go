package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Questions are a request's questions in the order sent.
type Questions []Question

// Question is one question as it came over the wire.
type Question struct {
	ID           string
	Type         string // choice, noul or score
	Instructions string
	// Criteria as sent.
	Criteria json.RawMessage
	// Names are the options of a choice or the levels of a score in the order sent.
	Names []string
}

// UnmarshalJSON keeps the order of the questions and, like vLLM, refuses unknown members.
func (qs *Questions) UnmarshalJSON(b []byte) error {
	return eachMember(b, func(id string, raw json.RawMessage) error {
		q := Question{ID: id}
		if err := eachMember(raw, q.member); err != nil {
			return fmt.Errorf("question %q: %w", id, err)
		}
		if id == "" || q.Type == "" {
			return errors.New("a question has an id and a type")
		}
		*qs = append(*qs, q)
		return nil
	})
}

func (q *Question) member(name string, v json.RawMessage) error {
	switch name {
	case "type":
		return json.Unmarshal(v, &q.Type)
	case "instructions":
		return json.Unmarshal(v, &q.Instructions)
	case "criteria":
		q.Criteria = v
		if len(v) > 0 && v[0] == '[' {
			return json.Unmarshal(v, &q.Names)
		}
		if len(v) > 0 && v[0] == '{' {
			return eachMember(v, func(option string, _ json.RawMessage) error {
				q.Names = append(q.Names, option)
				return nil
			})
		}
		return nil
	default:
		return fmt.Errorf("unknown member %q", name)
	}
}

func eachMember(b []byte, fn func(name string, v json.RawMessage) error) error {
	d := json.NewDecoder(bytes.NewReader(b))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.Join(errors.New("not an object"), err)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return err
		}
		if err := fn(name.(string), v); err != nil { //nolint:forcetypeassert // a member name is a string
			return err
		}
	}
	return nil
}
