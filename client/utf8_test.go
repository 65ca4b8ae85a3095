package client

import (
	"strconv"
	"strings"
	"testing"
)

func TestWhatIsNotUTF8IsNotSent(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	c, err := New(Config{URL: "https://host", Key: testKey, Transport: r})
	if err != nil {
		t.Fatal(err)
	}
	ctx, bad := t.Context(), "\xff"
	create := func(n NewResult) func() error {
		return func() error { _, err := c.CreateResult(ctx, "a", n); return err }
	}
	for _, test := range []struct {
		path string
		call func() error
	}{
		{"text", create(NewResult{Text: bad})},
		{"fields.a", create(NewResult{Fields: map[string]string{"a": bad}})},
		{"fields." + bad, create(NewResult{Fields: map[string]string{bad: "a"}})},
		{"ref", create(NewResult{Text: "a", Ref: bad})},
		{"ref", func() error { _, err := c.DeleteResults(ctx, "a", ResultDeletion{Ref: &bad}); return err }},
		{"name", func() error { _, err := c.RenamePrism(ctx, "a", bad); return err }},
		{"name", func() error { _, err := c.CreateKey(ctx, NewKey{Name: bad}); return err }},
		{"questions.1.text", func() error {
			_, err := c.CreatePrism(ctx, NewPrism{NewVersion: NewVersion{Definition: Definition{Questions: []Question{{}, {Text: bad}}}}})
			return err
		}},
		{"labels.1.ref", func() error {
			_, err := c.AddLabels(ctx, "a", ManyLabels{Labels: []NewLabel{{}, {Ref: &bad}}})
			return err
		}},
		{"labels.topic", func() error {
			_, err := c.PutLabels(ctx, "a", NewLabels{Labels: map[string]LabelValue{"topic": LabelValue(bad)}})
			return err
		}},
	} {
		err := test.call()
		if want := strconv.Quote(test.path) + " is not UTF-8"; err == nil || !strings.HasSuffix(err.Error(), want) || r.request != nil {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
