package request_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/gateway/internal/request"
)

// texts are of lengths around the limits of refs and fields, and of characters that are and are not allowed.
func texts() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		s := strings.Repeat(rapid.SampledFrom([]string{"a", "é", "😀"}).Draw(t, "character"),
			rapid.SampledFrom([]int{0, 1, 200, 201, 100_000, 100_001}).Draw(t, "length"))
		return s + rapid.SampledFrom([]string{"", "", "\x00", "\n", "\""}).Draw(t, "end")
	})
}

// spec: rows-are-calls, row-invalid
func TestARowHasTheProblemsOfTheCallThatSendsItsValues(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		fields := make([]prism.FieldValue, rapid.IntRange(0, 3).Draw(t, "fields"))
		sent := map[string]string{}
		for i := range fields {
			fields[i] = prism.FieldValue{Key: fmt.Sprintf("field_%d", i), Value: texts().Draw(t, "value")}
			sent[fields[i].Key] = fields[i].Value
		}
		context := texts().Draw(t, "context")
		body := map[string]any{"fields": sent}
		if context != "" {
			body["context"] = context
		}
		var ref *string
		if rapid.Bool().Draw(t, "has a ref") {
			ref = new(texts().Draw(t, "ref"))
			body["ref"] = *ref
		}
		bytes, err := json.Marshal(body) // keys sorted, as the fields are
		if err != nil {
			t.Fatal(err)
		}
		call, want := parsedCreate("tickets", nil, httpkit.Body{Kind: httpkit.JSON, Bytes: bytes})
		if len(bytes) > 1<<20 {
			want = apierr.BodyTooLarge()
		}
		row, got := request.Row(fields, ref, context)
		if (got == nil) != (want == nil) || got != nil && got.Error() != want.Error() {
			t.Fatalf("got %v, a call gets %v", got, want)
		}
		if got == nil && (!reflect.DeepEqual(row.Fields, call.Fields) || !reflect.DeepEqual(row.Ref, call.Ref) || row.Context != call.Context) {
			t.Fatalf("got %+v, a call is %+v", row, call)
		}
	})
}

// spec: row-invalid, body-limit
func TestARowIsAsLargeAsTheBodyOfACallAtMost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		character string
		length    int // of the last field
		want      error
	}{
		"the largest body":           {"a", 1<<20 - 11*(90_000+len(`"f00":"",`)) - len(`{"fields":{"f11":""}}`), nil},
		"one byte more":              {"a", 1<<20 - 11*(90_000+len(`"f00":"",`)) - len(`{"fields":{"f11":""}}`) + 1, apierr.BodyTooLarge()},
		"what takes six as one byte": {"\x01", 10_000, apierr.BodyTooLarge()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var fields []prism.FieldValue
			for i := range 12 {
				fields = append(fields, prism.FieldValue{Key: fmt.Sprintf("f%02d", i), Value: strings.Repeat(c.character, 90_000)})
			}
			fields[11].Value = strings.Repeat(c.character, c.length)
			if _, err := request.Row(fields, nil, ""); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			message, invalid := request.RefusesRow(c.want)
			if invalid != (c.want != nil) || invalid && message != "Malformed request" {
				t.Errorf("the row is invalid: %t, %q", invalid, message)
			}
		})
	}
}
