package apidoc

import (
	"slices"
	"strings"
	"testing"
)

func TestEveryOperationHasAFormThatAsksForAllOfItsPath(t *testing.T) {
	t.Parallel()
	d := mustParse(source)
	operations(t, func(t *testing.T, method, path string, op operation) {
		form, err := d.viewTry(strings.ToUpper(method), path, op)
		if err != nil {
			t.Fatal(err)
		}
		if !form.Key {
			t.Error("it asks for no key")
		}
		for _, part := range splitPath(path) {
			asked := slices.ContainsFunc(form.Inputs, func(in input) bool {
				return in.In == "path" && in.Required && "{"+in.Name+"}" == part.Text
			})
			if part.Param && !asked {
				t.Errorf("it does not ask for %s", part.Text)
			}
		}
		if (op.RequestBody != nil) != (len(form.Bodies) > 0) {
			t.Errorf("it begins with %d bodies", len(form.Bodies))
		}
	})
}

func TestTheInputFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		param  parameter
		schema schema
		want   input
	}{
		{"an example that may exist is filled in", parameter{Example: "triage"}, schema{}, input{Value: "triage"}},
		{"an id of an example is not", parameter{Example: "0199f3a2"}, schema{Format: "uuid"}, input{Hint: "uuid"}},
		{"a default is a hint", parameter{}, schema{Default: 50}, input{Hint: "50 (default)"}},
		{"known values are chosen from", parameter{}, schema{Enum: []string{"ok", "failed"}}, input{Hint: "not sent", Choices: []string{"ok", "failed"}}},
		{"so are true and false", parameter{}, schema{Type: types{"boolean"}, Default: false}, input{Hint: "false (default)", Choices: []string{"true", "false"}}},
		{"a time has a form", parameter{}, schema{Format: "date-time"}, input{Hint: "2026-12-31T23:59:59Z"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.param.In, c.want.In = "query", "query"
			got, err := viewInput(c.param, c.schema)
			if err != nil || got.Value != c.want.Value || got.Hint != c.want.Hint || !slices.Equal(got.Choices, c.want.Choices) || got.In != c.want.In {
				t.Errorf("got %+v (%v), want %+v", got, err, c.want)
			}
		})
	}
}

func TestWhatThePageCannotSendIsNoPage(t *testing.T) {
	t.Parallel()
	d := mustParse(source)
	d.Components.SecuritySchemes = append(d.Components.SecuritySchemes, member[struct{ Type, Scheme string }]{"basic", struct{ Type, Scheme string }{"http", "basic"}})
	for _, c := range []struct {
		name string
		op   operation
	}{
		{"a parameter in a cookie", operation{Parameters: []parameter{{Name: "session", In: "cookie"}}}},
		{"another scheme", operation{Security: &[]security{{"basic": nil}}}},
		{"a scheme that is not described", operation{Security: &[]security{{"elsewhere": nil}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if _, err := d.viewTry("GET", "/", c.op); err == nil {
				t.Error("it has a form")
			}
		})
	}
}

func TestAnOperationWithoutSecurityAsksForNoKey(t *testing.T) {
	t.Parallel()
	form, err := mustParse(source).viewTry("GET", "/", operation{Security: &[]security{}})
	if err != nil || form.Key {
		t.Errorf("it asks for a key (%v)", err)
	}
}
