package apidoc

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/services/gateway/internal/request"
)

// TestTheLimitsOfParametersAreTheGateways sends each parameter just inside and just outside of what its schema says.
func TestTheLimitsOfParametersAreTheGateways(t *testing.T) {
	t.Parallel()
	d, err := parse(Document())
	if err != nil {
		t.Fatal(err)
	}
	operations(t, func(t *testing.T, _, _ string, op operation) {
		for _, param := range op.Parameters {
			if (param.Name == "prism" || param.Name == "name") && param.In == "path" || param.In == "header" {
				continue // a slug, a name or an id of any form: one that there can't be is not found
			}
			declared, found := api.Find(op.OperationID)
			if !found {
				t.Fatalf("nothing here reads %s", param.Name)
			}
			body := request.Body{}
			if op.RequestBody != nil {
				body = request.Body{Kind: httpkit.JSON, Bytes: op.RequestBody.Content[0].Value.Examples[0].Value.Value}
			}
			limits, at := d.deref(param.Schema), param.Name
			if limits.Items != nil && limits.Items.Enum != nil { // sent once
				limits, at = d.deref(*limits.Items), at+".0"
			}
			for value, refusal := range probes(t, limits) {
				if param.Name == "cursor" && value != "" && refusal == "" {
					refusal = "Invalid cursor" // the length alone makes no cursor
				}
				err := parseDeclared(declared, param.Name, value, body)
				if refusal == "" && err != nil || refusal != "" && !refused(err, at+": "+refusal) {
					t.Errorf("%s=%.60s: got %v, want %q", param.Name, value, err, refusal)
				}
			}
		}
	})
}

// parseDeclared parses a request of an operation whose parameter with a name has a value; the others that it needs have the values
// of their examples. Without a name, the query is empty.
func parseDeclared(op api.Operation, name, value string, body request.Body) error {
	valid := map[string]string{"prism": "p", "version": "1", "n": "1"}
	in, _ := op.Types()
	query := map[string]string{}
	for _, m := range api.Properties(in) {
		if m.Place == api.InQuery && m.Required && name != "" {
			query[m.Name] = m.Field.Tag.Get("example")
		}
	}
	query[name] = value
	switch name {
	case "where":
		query["prism"] = "p"
	case "raw":
		query["format"] = "parquet"
	}
	_, err := request.NewParser(op).Parse(request.Source{
		Param: func(asked string) string {
			switch {
			case asked == name:
				return value
			case valid[asked] != "":
				return valid[asked]
			}
			return anID
		},
		Query: func(asked string) []string {
			if value, sent := query[asked]; sent {
				return []string{value}
			}
			return nil
		},
		Body: body,
	})
	return err
}

// probes are values just inside and just outside of what a parameter's schema says, with their refusals.
func probes(t *testing.T, s schema) map[string]string {
	t.Helper()
	switch {
	case s.Enum != nil:
		all := map[string]string{"é": "Expected '" + strings.Join(s.Enum, "' | '") + "'"}
		for _, value := range s.Enum {
			all[value] = ""
		}
		return all
	case s.Items != nil && s.Items.MaxLength != nil: // sent once
		return map[string]string{strings.Repeat("é", *s.Items.MaxLength): ""}
	case s.Minimum != nil && s.Maximum != nil:
		most, err := s.Maximum.Int64()
		least, otherErr := s.Minimum.Int64()
		if err != nil || otherErr != nil {
			t.Fatalf("from %s to %s", s.Minimum, s.Maximum)
		}
		between := "Expected integer, received float"
		if slices.Equal(s.Type, types{"number"}) {
			between = ""
		}
		return map[string]string{
			s.Minimum.String(): "", strconv.FormatInt(least-1, 10): "Number must be greater than or equal to " + s.Minimum.String(), "1.5": between,
			s.Maximum.String(): "", strconv.FormatInt(most+1, 10): "Number must be less than or equal to " + s.Maximum.String(),
		}
	case s.Pattern != "": // an actor, or an assignee
		const id = "0199f3a2-6c1e-7b54-9d0a-3f2b8c7e5a10"
		word, refusal := "operator", "Expected 'operator', 'retention', 'webhooks' or the id of a key"
		if strings.Contains(s.Pattern, "none") {
			word, refusal = "none", "Expected 'me', 'none' or the id of a member"
		}
		return map[string]string{word: "", id: "", strings.ToUpper(id): "", strings.ToUpper(word): refusal, id + "0": refusal}
	case s.MaxLength != nil:
		return map[string]string{
			strings.Repeat("é", *s.MaxLength): "", strings.Repeat("é", *s.MaxLength+1): "String must contain at most " + strconv.Itoa(*s.MaxLength) + " character(s)",
		}
	case s.Format == "uuid":
		return map[string]string{"0199f3a2-6c1e-7b54-9d0a-3f2b8c7e5a10": "", "0199f3a26c1e7b549d0a3f2b8c7e5a10": "Invalid uuid"}
	case s.Format == "date-time":
		return map[string]string{"2026-11-20T14:03:27Z": "", "2026-11-20T14:03:27.412+01:00": "", "2026-11-20": "Invalid datetime"}
	case s.Format == "date":
		const refusal = "Expected a day, such as 2026-11-01, or its midnight in UTC"
		return map[string]string{"2026-11-20": "", "2026-11-20T00:00:00Z": "", "2026-11-20T00:00:01Z": refusal, "2026-11-31": refusal}
	case slices.Equal(s.Type, types{"boolean"}):
		return map[string]string{"true": "", "false": "", "1": "Expected 'true' | 'false'"}
	}
	t.Fatalf("the document has no limit: %+v", s)
	return nil
}
