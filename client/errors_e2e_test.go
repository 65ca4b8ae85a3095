package client_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/prism-results/prism/client"
)

func TestEveryErrorCode(t *testing.T) {
	t.Parallel()
	c, ctx := account(t), t.Context()
	_, err := c.CreatePrism(ctx, triage("triage"))
	check(t, err)
	ok, err := c.CreateResult(ctx, "triage", client.NewResult{Text: "x"})
	check(t, err)
	large := strings.Repeat("x", 99_999)
	fields := map[string]string{}
	for i := range 12 {
		fields[fmt.Sprint("f", i)] = large
	}
	cases := map[string]struct {
		call    func() error
		is      error
		status  int
		message string
	}{
		"an id that is none": {func() error { _, err := c.ReadResult(ctx, "x"); return err }, client.ErrValidationFailed, 400, "result_id: Invalid uuid"},
		"an unknown field": {func() error {
			_, err := c.CreateResult(ctx, "triage", client.NewResult{Fields: map[string]string{"message": "x", "b": "x"}})
			return err
		}, client.ErrValidationFailed, 400, "Unknown fields"},
		"neither fields nor text": {func() error { _, err := c.CreateResult(ctx, "triage", client.NewResult{}); return err }, client.ErrValidationFailed, 400, "send either"},
		"a body over a mebibyte": {func() error {
			_, err := c.CreateResult(ctx, "triage", client.NewResult{Fields: fields, IdempotencyKey: "k"})
			return err
		}, client.ErrBadRequest, 413, "Malformed"},
		"an unknown key":    {func() error { _, err := connect(t, "prism_x").ListKeys(ctx, client.PageOptions{}); return err }, client.ErrUnauthorized, 401, "Invalid API key"},
		"an unknown prism":  {func() error { _, err := c.ReadPrism(ctx, "none"); return err }, client.ErrNotFound, 404, "Prism not found"},
		"an unknown result": {func() error { _, err := c.RetryResult(ctx, unknownID); return err }, client.ErrNotFound, 404, "Result not found"},
		"a slug twice":      {func() error { _, err := c.CreatePrism(ctx, triage("triage")); return err }, client.ErrConflict, 409, "already exists"},
		"a retry of a good result": {func() error {
			_, err := c.RetryResult(ctx, ok.ID)
			return err
		}, client.ErrConflict, 409, "Only a failed result"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			err := test.call()
			var e *client.Error
			if !errors.As(err, &e) || !errors.Is(err, test.is) || e.Status != test.status || !strings.Contains(e.Message, test.message) || e.RequestID == "" {
				t.Errorf("got %#v", err)
			}
		})
	}
}
