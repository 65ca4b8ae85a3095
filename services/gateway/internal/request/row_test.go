package request_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

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
		body := map[string]any{"fields": sent, "context": context}
		var ref *string
		if rapid.Bool().Draw(t, "has a ref") {
			ref = new(texts().Draw(t, "ref"))
			body["ref"] = *ref
		}
		bytes, err := json.Marshal(body) // keys sorted, as the fields are
		if err != nil {
			t.Fatal(err)
		}
		call, want := request.ParseCreate("tickets", nil, httpkit.Body{Kind: httpkit.JSON, Bytes: bytes})
		row, got := request.Row(fields, ref, context)
		if (got == nil) != (want == nil) || got != nil && got.Error() != want.Error() {
			t.Fatalf("got %v, a call gets %v", got, want)
		}
		if got == nil && (!reflect.DeepEqual(row.Fields, call.Fields) || !reflect.DeepEqual(row.Ref, call.Ref) || row.Context != call.Context) {
			t.Fatalf("got %+v, a call is %+v", row, call)
		}
	})
}
