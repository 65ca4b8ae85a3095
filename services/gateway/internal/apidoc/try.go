package apidoc

import (
	"fmt"
	"slices"
	"strings"
)

// try is a form that sends the operation to the server that the page comes from.
type try struct {
	Method, Path, Summary string
	Key                   bool // the operation needs an API key
	Inputs                []input
	Bodies                []filling
	Rows                  int // as many as the longest body has
}

// input is a parameter to fill in, or to choose where its values are known.
type input struct {
	Name, In    string
	Required    bool
	Value, Hint string
	Choices     []string
}

// filling is an example to begin a body with.
type filling struct{ Summary, Body string }

func (d *document) viewTry(method, path string, op operation) (t try, err error) {
	t = try{Method: method, Path: path, Summary: op.Summary}
	if t.Key, err = d.needsKey(op); err != nil {
		return t, err
	}
	for _, p := range op.Parameters {
		in, err := viewInput(p, d.deref(p.Schema))
		if err != nil {
			return t, err
		}
		t.Inputs = append(t.Inputs, in)
	}
	if op.RequestBody == nil {
		return t, nil
	}
	for _, e := range op.RequestBody.Content[0].Value.Examples {
		body, err := layout(e.Value.Value, "")
		if err != nil {
			return t, err
		}
		t.Bodies = append(t.Bodies, filling{strings.ReplaceAll(e.Value.Summary, "`", ""), body})
		t.Rows = max(t.Rows, strings.Count(body, "\n")+1)
	}
	return t, nil
}

func viewInput(p parameter, s schema) (input, error) {
	in := input{Name: p.Name, In: p.In, Required: p.Required, Choices: s.Enum}
	if !slices.Contains([]string{"path", "query", "header"}, p.In) {
		return in, fmt.Errorf("the page's script can't send %s in a %s", p.Name, p.In)
	}
	if slices.Contains(s.Type, "boolean") {
		in.Choices = []string{"true", "false"}
	}
	// An id of an example names nothing that a server has.
	if p.Example != nil && s.Format != "uuid" {
		in.Value = fmt.Sprint(p.Example)
	}
	switch {
	case s.Default != nil:
		in.Hint = fmt.Sprintf("%v (default)", s.Default)
	case len(in.Choices) > 0:
		in.Hint = "not sent"
	case s.Format == "date-time":
		in.Hint = "2026-12-31T23:59:59Z"
	default:
		in.Hint = s.Format
	}
	return in, nil
}

// needsKey tells whether a call has to show an API key, the one kind of security that the page's script knows.
func (d *document) needsKey(op operation) (bool, error) {
	asked := d.Security
	if op.Security != nil {
		asked = *op.Security
	}
	for _, together := range asked {
		for name := range together {
			if s, ok := d.Components.SecuritySchemes.find(name); !ok || s.Type != "http" || s.Scheme != "bearer" {
				return false, fmt.Errorf("the page's script can't send security scheme %s", name)
			}
		}
	}
	return len(asked) > 0, nil
}
