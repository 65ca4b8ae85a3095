package request_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/gateway/internal/request"
	"pgregory.net/rapid"
)

func repeat(s string, n int) string { return strings.Repeat(s, n) }

func TestCreateListsEveryProblemOfTheBody(t *testing.T) {
	t.Parallel()
	const either = "fields: send either fields or text"
	for _, c := range []struct{ name, body, want string }{
		{"both fields and text are refused", `{"fields":{"a":"x"},"text":"x"}`, either},
		{"neither fields nor text is refused", `{}`, either},
		{"a field of 100,000 characters passes", `{"fields":{"a":"` + repeat("x", 100_000) + `"}}`, ""},
		{
			"a field of 100,001 characters is too long", `{"fields":{"a":"` + repeat("x", 100_001) + `"}}`,
			"fields.a: String must contain at most 100000 character(s)",
		},
		{"a field that is a number is refused", `{"fields":{"a":1}}`, "fields.a: Expected string, received number"},
		// spec: version-number
		{"a version of 1.5 is a float", `{"text":"x","version":1.5}`, "version: Expected integer, received float"},
		// spec: version-number
		{"a version of 2147483647 passes", `{"text":"x","version":2147483647}`, ""},
		{
			"a version of 2147483648 is too large", `{"text":"x","version":2147483648}`,
			"version: Number must be less than or equal to 2147483647",
		},
		{"an idempotency key of 200 characters passes", `{"text":"x","idempotency_key":"` + repeat("k", 200) + `"}`, ""},
		// spec: string-limits
		{
			"an idempotency key of 201 characters is too long", `{"text":"x","idempotency_key":"` + repeat("k", 201) + `"}`,
			"idempotency_key: String must contain at most 200 character(s)",
		},
		{"NUL in a field is refused", `{"fields":{"a":"x\u0000"}}`, "fields.a: " + unclean},
		{"an unpaired high surrogate in a field is refused", `{"fields":{"a":"\ud800"}}`, "fields.a: " + unclean},
		{"an unpaired low surrogate in a field is refused", `{"fields":{"a":"\uDFFF!"}}`, "fields.a: " + unclean},
		{"two high surrogates are unpaired", `{"fields":{"a":"\ud83d\ud83d"}}`, "fields.a: " + unclean},
		{"surrogates in the wrong order are unpaired", `{"fields":{"a":"\ude00\ud83d"}}`, "fields.a: " + unclean},
		{"a high surrogate before another escape is unpaired", `{"fields":{"a":"\ud83d\n\ude00"}}`, "fields.a: " + unclean},
		{"a pair of surrogates passes", `{"fields":{"a":"\ud83d\ude00"}}`, ""},
		// spec: unknown-members-ignored
		{"unknown members are ignored", `{"text":"x","idempotencyKey":5,"Fields":[],"":null}`, ""},

		// spec: body-not-an-object, wrong-type, javascript-numbers, characters-are-code-points
		{"a body that is an array", `[]`, "body: Expected object, received array"},
		{"a body that is a number", ` 1 `, "body: Expected object, received number"},
		{"a body that is a string", `"x"`, "body: Expected object, received string"},
		{"a body that is null", `null`, "body: Expected object, received null"},
		{"a body that is true", `true`, "body: Expected object, received boolean"},
		{"a body that is false", "\ufeff false", "body: Expected object, received boolean"},
		{"fields of each wrong type", `{"fields":[]}`, "fields: Expected object, received array"},
		{"null fields are sent", `{"fields":null}`, "fields: Expected object, received null"},
		{"text of a wrong type", `{"text":5}`, "text: Expected string, received number"},
		{"null text is sent", `{"text":null}`, "text: Expected string, received null"},
		// spec: fields-or-text
		{"both sent, fields of the wrong type", `{"fields":1,"text":"x"}`, "fields: Expected object, received number"},
		{"both sent, text of the wrong type", `{"fields":{},"text":{}}`, "text: Expected string, received object"},
		{
			"both sent, both of the wrong type", `{"text":1,"fields":1}`,
			"fields: Expected object, received number; text: Expected string, received number",
		},
		{
			"both sent, a field of the wrong type", `{"text":"x","fields":{"a":1}}`,
			either + "; fields.a: Expected string, received number",
		},
		// spec: wrong-type
		{
			"field values of every wrong type", `{"fields":{"a":null,"b":true,"c":[1],"d":{"e":1},"e":-1e9}}`,
			"fields.a: Expected string, received null; fields.b: Expected string, received boolean; " +
				"fields.c: Expected string, received array; fields.d: Expected string, received object; " +
				"fields.e: Expected string, received number",
		},
		{"empty fields are sent", `{"fields":{}}`, ""},
		{"empty strings pass", `{"fields":{"a":""},"ref":"","context":""}`, ""},
		// spec: wrong-type
		{"version of a wrong type", `{"text":"x","version":"1"}`, "version: Expected number, received string"},
		{"a null version is sent", `{"text":"x","version":null}`, "version: Expected number, received null"},
		// spec: version-number
		{"version 0", `{"text":"x","version":0}`, "version: Number must be greater than or equal to 1"},
		{"version -0", `{"text":"x","version":-0}`, "version: Number must be greater than or equal to 1"},
		// spec: version-number
		{
			"version -1.5 has two problems", `{"text":"x","version":-1.5}`,
			"version: Expected integer, received float; version: Number must be greater than or equal to 1",
		},
		{
			"version 2147483647.5 has two problems", `{"text":"x","version":2147483647.5}`,
			"version: Expected integer, received float; version: Number must be less than or equal to 2147483647",
		},
		{
			"version 1e400 is infinite", `{"text":"x","version":1e400}`,
			"version: Expected integer, received float; version: Number must be less than or equal to 2147483647",
		},
		{
			"version -1e400 is infinite", `{"text":"x","version":-1e400}`,
			"version: Expected integer, received float; version: Number must be greater than or equal to 1",
		},
		{"version 1e-400 is 0", `{"text":"x","version":1e-400}`, "version: Number must be greater than or equal to 1"},
		// spec: javascript-numbers
		{"version 1.0 is an integer", `{"text":"x","version":1.0}`, ""},
		// spec: javascript-numbers
		{"version 1e0 is an integer", `{"text":"x","version":1e0}`, ""},
		{"version 10E-1 is an integer", `{"text":"x","version":10E-1}`, ""},
		// spec: javascript-numbers
		{"digits past a float64 round", `{"text":"x","version":1.00000000000000000000001}`, ""},
		// spec: string-limits
		{
			"an empty idempotency key", `{"text":"x","idempotency_key":""}`,
			"idempotency_key: String must contain at least 1 character(s)",
		},
		// spec: null-members
		{
			"a null idempotency key is sent", `{"text":"x","idempotency_key":null}`,
			"idempotency_key: Expected string, received null",
		},
		// spec: null-members
		{"a null ref is not sent", `{"text":"x","ref":null}`, ""},
		{"ref of a wrong type", `{"text":"x","ref":[]}`, "ref: Expected string, received array"},
		// spec: string-limits
		{
			"a ref of 201 characters", `{"text":"x","ref":"` + repeat("r", 201) + `"}`,
			"ref: String must contain at most 200 character(s)",
		},
		// spec: null-members
		{"a null context is sent", `{"text":"x","context":null}`, "context: Expected string, received null"},
		// spec: string-limits
		{
			"a context of 100,001 characters", `{"text":"x","context":"` + repeat("c", 100_001) + `"}`,
			"context: String must contain at most 100000 character(s)",
		},
		// spec: string-limits
		{
			"a text of 100,001 characters", `{"text":"` + repeat("c", 100_001) + `"}`,
			"text: String must contain at most 100000 character(s)",
		},
		{"characters are code points, not bytes", `{"text":"` + repeat("é", 100_000) + `","ref":"` + repeat("語", 200) + `"}`, ""},
		{"characters are code points, not UTF-16 units", `{"text":"x","ref":"` + repeat(`\ud83d\ude00`, 200) + `"}`, ""},
		{
			"201 emoji are too many", `{"text":"x","ref":"` + repeat("😀", 201) + `"}`,
			"ref: String must contain at most 200 character(s)",
		},
		{"an unpaired surrogate counts as one character", `{"text":"x","ref":"` + repeat(`\ud800`, 200) + `"}`, "ref: " + unclean},
		{
			"too long and unclean are both listed", `{"text":"x","ref":"` + repeat(`\u0000`, 201) + `"}`,
			"ref: String must contain at most 200 character(s); ref: " + unclean,
		},
		// spec: nul-and-surrogates
		{
			"every string is checked",
			`{"text":"\u0000","idempotency_key":"\ud800","ref":"\udc00","context":"a\u0000b"}`,
			"text: " + unclean + "; idempotency_key: " + unclean + "; ref: " + unclean + "; context: " + unclean,
		},
		// spec: validation-order
		{
			"problems are listed in the order of the members, not as sent",
			`{"context":1,"ref":1,"idempotency_key":1,"version":"","text":1,"fields":1}`,
			"fields: Expected object, received number; text: Expected string, received number; " +
				"version: Expected number, received string; idempotency_key: Expected string, received number; " +
				"ref: Expected string, received number; context: Expected string, received number",
		},
		// spec: validation-order
		{
			"fields are listed in the order sent", `{"fields":{"z":1,"a":2,"10":3,"2":4}}`,
			"fields.z: Expected string, received number; fields.a: Expected string, received number; " +
				"fields.10: Expected string, received number; fields.2: Expected string, received number",
		},
		// spec: nul-and-surrogates
		{
			"an unclean member name is listed at fields", `{"fields":{"a":"","b\u0000":"x","c":1}}`,
			"fields: " + unclean + "; fields.c: Expected string, received number",
		},
		{
			"unclean member names are listed once", `{"fields":{"a":1,"\ud800":1,"\udc00":1}}`,
			"fields.a: Expected string, received number; fields: " + unclean,
		},
		// spec: nul-and-surrogates
		{"unclean strings that are not read are ignored", `{"text":"x","\ud800":"\u0000","other":{"\u0000":["\udfff"]}}`, ""},
		{"numbers that are not read may be of any size", `{"text":"x","n":1e999999999999,"m":-0.1E+99}`, ""},
		{"the last of duplicate members counts", `{"text":5,"version":0,"text":"x","version":2}`, ""},
		{
			"the last of duplicate members counts when it is the wrong one", `{"text":"x","text":null}`,
			"text: Expected string, received null",
		},
		{"the last of duplicate fields counts", `{"fields":{"a":1,"b":2,"a":"x"}}`, "fields.b: Expected string, received number"},
		{
			"a duplicate keeps the first one's place", `{"fields":{"a":"x","b":2,"a":1}}`,
			"fields.a: Expected string, received number; fields.b: Expected string, received number",
		},
		{"fields sent twice count once", `{"fields":{"a":1},"fields":{"b":"x"}}`, ""},
		{"an escaped member name is the member", `{"\u0074ext":"x","fi\u0065lds":1}`, "fields: Expected object, received number"},
		{
			"a long member name is whole in the path", `{"fields":{"` + repeat("é", 1000) + `":1}}`,
			"fields." + repeat("é", 1000) + ": Expected string, received number",
		},
		{"an empty member name is a key", `{"fields":{"":1}}`, "fields.: Expected string, received number"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := parsedCreate("triage", nil, jsonBody(c.body))
			wantProblems(t, err, c.want)
		})
	}
}

func TestCreateListsPathThenFormatThenBody(t *testing.T) {
	t.Parallel()
	const format = "format: Expected 'json' | 'raw' | 'csv' | 'tsv' | 'jsonl'"
	for _, c := range []struct {
		name    string
		prism   string
		formats []string
		body    request.Body
		want    string
	}{
		{
			"all three", "a\x00",
			[]string{"xml"},
			jsonBody(`{"text":1}`),
			"prism: " + unclean + "; " + format + "; text: Expected string, received number",
		},
		// spec: body-of-create
		{"a body of plain text is a string", "p", nil, textBody(`{"text":"x"}`), "body: Expected object, received string"},
		{"an empty body of plain text is a string", "p", nil, textBody(""), "body: Expected object, received string"},
		{"an absent body is required", "p", []string{"JSON"}, request.Body{}, format + "; body: Required"},
		{"a repeated format", "p", []string{"csv", "csv"}, jsonBody(`{"text":"x"}`), format},
		{"JSON comes before everything", "a\x00", []string{"xml"}, jsonBody(`{`), malformed},
		{"a path that is not UTF-8 is malformed", "\xff", []string{"xml"}, jsonBody(`{"text":1}`), malformed},
		{"a surrogate in the path is not UTF-8", "\xed\xa0\x80", nil, jsonBody(`{"text":"x"}`), malformed},
		{"any other prism is looked up", "No Such Prism/..", []string{""}, jsonBody(`{"text":"x"}`), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := parsedCreate(c.prism, c.formats, c.body)
			wantProblems(t, err, c.want)
		})
	}
}

func TestCreateReadsEveryMember(t *testing.T) {
	t.Parallel()
	got, err := parsedCreate("triage", []string{"tsv"}, jsonBody("\ufeff"+` { "context" : "c\u0041\/\b\f\n\r\t\"\\" ,
		"ref":"r😀\ud83d\ude01","idempotency_key":"k","version":3.0,
		"fields":{"b":"2","a":"é","b":"3","empty":""},"fields2":[[]] } `))
	if err != nil {
		t.Fatal(err)
	}
	ref := "r😀😁"
	want := api.CreateResultRequest{
		PrismRequest: api.PrismRequest{Prism: prism.Ref{Slug: "triage"}},
		Format:       contract.TSV,
		NewResult: api.NewResult{
			Fields:  []prism.FieldValue{{Key: "b", Value: "3"}, {Key: "a", Value: "é"}, {Key: "empty", Value: ""}},
			Version: 3, IdempotencyKey: "k", Ref: &ref, Context: "cA/\b\f\n\r\t\"\\",
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestCreateReadsTextAndDefaults(t *testing.T) {
	t.Parallel()
	got, err := parsedCreate(strings.ToUpper(anID), nil, jsonBody(`{"text":"","ref":null}`))
	if err != nil {
		t.Fatal(err)
	}
	id, _ := prism.ParseUUID(anID)
	if got.Prism != (prism.Ref{ID: prism.PrismID{UUID: id}}) || got.Format != contract.JSON || got.Fields != nil ||
		got.Text == nil || *got.Text != "" || got.Ref != nil || got.Version != 0 || got.IdempotencyKey != "" {
		t.Errorf("got %+v", got)
	}
}

// spec: duplicate-members
func TestManyFieldsKeepOrderAndCountOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfN(rapid.StringMatching(`[a-f]{1,2}`), 0, 60).Draw(t, "keys")
		var members []string
		var want api.FieldValues
		for i, k := range keys {
			v := repeat("v", i)
			members = append(members, `"`+k+`":"`+v+`"`)
			known := false
			for j := range want {
				if want[j].Key == k {
					want[j].Value, known = v, true
				}
			}
			if !known {
				want = append(want, prism.FieldValue{Key: k, Value: v})
			}
		}
		got, err := parsedCreate("p", nil, jsonBody(`{"fields":{`+strings.Join(members, ",")+`}}`))
		if err != nil || len(got.Fields) != len(want) || len(want) > 0 && !reflect.DeepEqual(got.Fields, want) {
			t.Fatalf("got %v, %v\nwant %v", got.Fields, err, want)
		}
	})
}

// spec: values-are-never-repeated
func TestMessagesNeverRepeatAValue(t *testing.T) {
	t.Parallel()
	const secret = "s3cret"
	rapid.Check(t, func(t *rapid.T) {
		value := func(label string) string {
			return rapid.SampledFrom([]string{
				`"s3cret"`, `"s3cret\u0000"`, `["s3cret"]`, `{"s3cret":"s3cret"}`, `null`, `true`, `-7.25`,
				`"` + repeat(secret, 17_000) + `"`, `{"a":"\ud800s3cret","b":["s3cret"]}`,
			}).Draw(t, label)
		}
		body := `{"fields":` + value("fields") + `,"text":` + value("text") + `,"version":` + value("version") +
			`,"ref":` + value("ref") + `,"idempotency_key":` + value("key") + `,"context":` + value("context") + `}`
		_, err := parsedCreate(secret+"\x00", []string{secret}, jsonBody(body))
		// A member name inside fields is a name, not a value.
		message := strings.ReplaceAll(err.Error(), "fields."+secret+":", "")
		if strings.Contains(message, secret) || strings.Contains(message, "7.25") {
			t.Fatalf("repeats: %s", message)
		}
	})
}

func TestResultsOwnTheirMemory(t *testing.T) {
	t.Parallel()
	body := []byte(`{"fields":{"key":"value"},"ref":"reference","idempotency_key":"idem","context":"con"}`)
	got, err := parsedCreate("p", nil, request.Body{Kind: httpkit.JSON, Bytes: body})
	if err != nil {
		t.Fatal(err)
	}
	for i := range body {
		body[i] = '#'
	}
	if got.Fields[0] != (prism.FieldValue{Key: "key", Value: "value"}) || *got.Ref != "reference" ||
		got.IdempotencyKey != "idem" || got.Context != "con" {
		t.Errorf("got %+v", got)
	}
}

// spec: idempotency-header
func TestIdempotencyKeysAreMembersOrHeaders(t *testing.T) {
	t.Parallel()
	const path = "idempotency_key: "
	for _, c := range []struct {
		name, member string // the JSON of the member; "": not sent
		headers      []string
		key, problem string
	}{
		{"a header", ``, []string{"a"}, "a", ""},
		{"quotes are two of its characters", ``, []string{`"a"`}, `"a"`, ""},
		{"200 characters", ``, []string{repeat("é", 200)}, repeat("é", 200), ""},
		{"201 characters", ``, []string{repeat("é", 201)}, "", path + "String must contain at most 200 character(s)"},
		{"an empty header", ``, []string{""}, "", path + "String must contain at least 1 character(s)"},
		{"no UTF-8", ``, []string{"a\xff"}, "", path + unclean},
		{"two headers", ``, []string{"a", "a"}, "", path + "sent more than once"},
		{"two headers beside the member", `"a"`, []string{"a", "a"}, "", path + "sent more than once"},
		{"both alike", `"a"`, []string{"a"}, "a", ""},
		{"alike once the member is decoded", `"\u0061"`, []string{"a"}, "a", ""},
		{"both, not alike", `"a"`, []string{"A"}, "", path + "differs from the Idempotency-Key header"},
		{"a member that is no string", `1`, []string{"a"}, "", path + "Expected string, received number"},
	} {
		body := `{"text":1,"ref":2`
		run := `{"file_id":"` + anID + `","fields":{},"name":1`
		if c.member != "" {
			body += `,"idempotency_key":` + c.member
			run += `,"idempotency_key":` + c.member
		}
		header := request.Header(func(name string) []string {
			if name == "Idempotency-Key" {
				return c.headers
			}
			return nil
		})
		with := func(before, after string) string {
			if c.problem != "" {
				before += "; " + c.problem
			}
			return before + after
		}
		_, err := parsed(api.CreateResult, request.Source{Header: header, Body: jsonBody(body + "}")}, "prism", "p")
		if got, want := problems(t, err), with("text: Expected string, received number", "; ref: Expected string, received number"); got != want {
			t.Errorf("%s:\ngot  %q\nwant %q", c.name, got, want)
		}
		_, err = parsed(api.CreateRun, request.Source{Header: header, Body: jsonBody(run + "}")}, "prism", "p")
		if got, want := problems(t, err), with("name: Expected string, received number", ""); got != want {
			t.Errorf("%s, of a run:\ngot  %q\nwant %q", c.name, got, want)
		}
		if c.problem != "" {
			continue
		}
		valid, err := parsed(api.CreateResult, request.Source{Header: header, Body: jsonBody(strings.Replace(body, `1,"ref":2`, `"x"`, 1) + "}")}, "prism", "p")
		if err != nil || valid.IdempotencyKey != c.key {
			t.Errorf("%s: %q, %v", c.name, valid.IdempotencyKey, err)
		}
		made, err := parsed(api.CreateRun, request.Source{Header: header, Body: jsonBody(strings.Replace(run, `"name":1`, `"name":""`, 1) + "}")}, "prism", "p")
		if err != nil || made.IdempotencyKey != c.key {
			t.Errorf("%s, of a run: %q, %v", c.name, made.IdempotencyKey, err)
		}
	}
	nothing, err := parsed(api.CreateRun, request.Source{
		Header: request.Header(query("Idempotency-Key", "a")), Body: jsonBody(`{"file_id":"` + anID + `","fields":{},"idempotency_key":null}`),
	}, "prism", "p")
	if err != nil || nothing.IdempotencyKey != "a" {
		t.Errorf("null beside a header: %q, %v", nothing.IdempotencyKey, err)
	}
}
