package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
)

// TestAnAnswerWithoutItsMembersIsAnError holds that no operation takes the answer of any server for one of Prism, and that the error
// names the server and what is lacking.
func TestAnAnswerWithoutItsMembersIsAnError(t *testing.T) {
	t.Parallel()
	status := map[string]int{}
	for _, methods := range openAPI(t).Paths {
		for _, o := range methods {
			for code, number := range map[string]int{"200": 200, "201": 201, "202": 202} {
				if _, ok := o.Responses[code]; ok {
					status[o.OperationID] = max(status[o.OperationID], number)
				}
			}
		}
	}
	check := func(t *testing.T, status int, call func(context.Context, *Client) error) {
		t.Helper()
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer(w, status, jsonType, "{}") }))
		defer s.Close()
		err := call(t.Context(), calling(t, s.URL))
		var refused *Error
		if !errors.As(err, &refused) || refused.Code != CodeUnexpected || !strings.HasPrefix(refused.Message, s.URL+" sent a response") {
			t.Errorf("got %v", err)
		}
	}
	for operation, call := range everything {
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			check(t, max(status[operation], http.StatusOK), call)
		})
	}
	for operation, call := range dryRuns {
		t.Run(operation+" as a dry run", func(t *testing.T) {
			t.Parallel()
			check(t, http.StatusOK, call)
		})
	}
}

func TestWhatIsLackingIsNamed(t *testing.T) {
	t.Parallel()
	prism := func(from, to string) string { return strings.Replace(prismJSON, from, to, 1) }
	page := func(items ...string) string { return `{"data":[` + strings.Join(items, ",") + `],"next_cursor":null}` }
	raw := func(answers string) string {
		return strings.Replace(okJSON, `{"z":"yes","a":0.5,"n":null}`, answers, 1)
	}
	for name, test := range map[string]struct {
		text string
		into any
		want string
	}{
		"nothing":                               {prismJSON, new(Prism), ""},
		"members that only newer Prisms have":   {prism(`"slug"`, `"new":{"a":[{}]},"slug"`), new(Prism), ""},
		"pointers, which older Prisms may lack": {prism(`"name":null,"archived_at":null,`, ""), new(Prism), ""},
		"one member":                            {prism(`"slug":"a",`, ""), new(Prism), "slug"},
		"a null where there is none":            {prism(`"latest_version":1`, `"latest_version":null`), new(Prism), "latest_version"},
		"an object of an object":                {prism(`"questions":[],`, ""), new(Prism), "version.questions"},
		"an object":                             {prism(`{"columns":[]}`, "null"), new(Prism), "lens"},
		"many":                                  {"{}", new(Prism), "id, slug, created_at, latest_version, lens and 1 more"},
		"a list":                                {`{"next_cursor":null}`, new(Page[Prism]), "data"},
		"members of items":                      {page(prismJSON, prism(`"slug":"a",`, "")), new(Page[Prism]), "data.1.slug"},
		"members of a map":                      {`{"result_id":"a","ref":null,"labels":{"q":{}}}`, new(LabelledResult), "labels.q.value, labels.q.origin, labels.q.key_id, labels.q.labelled_at, version"},
		"answers of the format json":            {okJSON, new(Result), ""},
		"answers":                               {strings.Replace(okJSON, `,"answers":{"z":"yes","a":0.5,"n":null}`, "", 1), new(Result), "answers"},
		"members of answers": {
			raw(`{"c":{"type":"choice"},"y":{"type":"yes_no"},"s":{"type":"scale","probabilities":{}}}`), new(Result),
			"answers.c.confidence, answers.c.probabilities, answers.c.value",
		},
		"the type of an answer":        {raw(`{"c":{}}`), new(Result), "answers.c.type"},
		"an answer of an unknown type": {raw(`{"c":{"type":"newer"}}`), new(Result), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var lacking *api.LackingError
			switch err := decode([]byte(test.text), test.into); {
			case test.want == "" && err != nil:
				t.Error(err)
			case test.want != "" && (!errors.As(err, &lacking) || lacking.Error() != test.want):
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

// TestTheClientRequiresWhatEveryPrismSends compares what decode requires with the document.
func TestTheClientRequiresWhatEveryPrismSends(t *testing.T) {
	t.Parallel()
	d := openAPI(t)
	shared := []string{"Field", "Option", "Level", "Column", "Lens", "Escalate", "ChoiceQuestion", "YesNoQuestion", "ScaleQuestion"}
	for typ, schemas := range schemasByType(slices.Concat(received, shared)) {
		for _, f := range membersOf(typ) {
			member, always := nameOf(f), true
			for _, name := range schemas {
				always = always && slices.Contains(d.Components.Schemas[name].Required, member)
			}
			if want := always && f.Type.Kind() != reflect.Pointer; required(f) != want {
				t.Errorf("%s.%s is required: %t; the document says %t", typ, f.Name, required(f), want)
			}
		}
	}
}

func schemasByType(names []string) map[reflect.Type][]string {
	types := map[reflect.Type][]string{}
	for _, name := range names {
		types[shapes[name]] = append(types[shapes[name]], name)
	}
	return types
}

func TestRowsOfAnotherTypeAreAnError(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]func(context.Context, *Client) (io.ReadCloser, error){
		"text/csv": func(ctx context.Context, c *Client) (io.ReadCloser, error) {
			return c.ExportResults(ctx, "a", Export{})
		},
		"application/jsonl": func(ctx context.Context, c *Client) (io.ReadCloser, error) {
			return c.ListRunRows(ctx, "a", RunRows{Format: RowsJSONL})
		},
		"text/event-stream": func(ctx context.Context, c *Client) (io.ReadCloser, error) { return c.FollowRun(ctx, "a") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := call(t.Context(), answering(t, 200, "text/html", "<h1>Sign in</h1>"))
			if !errors.Is(err, ErrUnexpected) || !strings.HasSuffix(err.Error(), " sent a response body that is not "+name) {
				t.Error(err)
			}
		})
	}
}
