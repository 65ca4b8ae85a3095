package gateway

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/apikey"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/pkg/prism"
)

// configuration is a model-proxy, and a results whose keys may do what they may. It keeps what it was asked.
type configuration struct {
	stored
	contract.Models
	allow map[contract.KeyDigest]error

	mu    sync.Mutex
	away  bool // model-proxy
	names []string
	heard []string
}

func (c *configuration) hear(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heard = append(c.heard, what)
}

// since is what was heard since the last call of since.
func (c *configuration) since() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	heard := strings.Join(c.heard, ", ")
	c.heard = nil
	return heard
}

func (c *configuration) set(away bool, names ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.away, c.names = away, names
}

func (c *configuration) List(context.Context) ([]api.Model, error) {
	c.hear("list")
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.away {
		return nil, contract.ErrUnavailable
	}
	models := []api.Model{{
		Name: "fast", Provider: "openai-chat", Model: "qwen3-8b", Default: true, Probabilities: api.Logprobs,
		Price: &api.Price{Currency: "USD", Input: 0.4, Output: 1.600001}, Fallback: []string{"strong"},
	}}
	for _, name := range c.names {
		models = append(models, api.Model{
			Name: name, Provider: "offline", Model: "offline", Probabilities: api.Simulated,
		})
	}
	return models, nil
}

func (c *configuration) States(context.Context) ([]api.ModelState, error) {
	c.hear("states")
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.away {
		return nil, contract.ErrUnavailable
	}
	return []api.ModelState{{Name: "fast", State: api.ModelOnTrial, Failures: []api.ModelFailure{}}}, nil
}

func (c *configuration) Check(_ context.Context, name string) (contract.ModelCheck, error) {
	c.hear("check " + name)
	return contract.ModelCheck{}, contract.ErrUnavailable
}

func (c *configuration) Authorize(_ context.Context, key contract.KeyDigest, op contract.Operation) error {
	c.hear("authorize " + string(op))
	return c.allow[key]
}

func (c *configuration) Do(_ context.Context, _ contract.KeyDigest, op api.Operation, _ any) (contract.Response, error) {
	c.hear(map[string]string{api.CreatePrism.Name: "create", api.CreateVersion.Name: "add"}[op.Declared().Name])
	return contract.Response{ContentType: httpkit.JSONType, Body: []byte("{}")}, nil
}

func (c *configuration) TryFacts(context.Context, contract.KeyDigest) (contract.TryFacts, error) {
	c.hear("try")
	return contract.TryFacts{}, apierr.RoleNotAllowed()
}

// spec: models-list, order-of-checks-model, order-of-checks-try, model-of-a-version, retry-after-of-a-503
func TestModelsAreListedAndLookedUpForThoseWhoMay(t *testing.T) {
	t.Parallel()
	editor, revoked, reader, unknown := newKey(t), newKey(t), newKey(t), newKey(t)
	account := prism.AccountID{UUID: prism.UUID{15: 1}}
	c := &configuration{
		stored: stored{accounts: map[contract.KeyDigest]prism.AccountID{
			editor.Digest(): account, revoked.Digest(): account, reader.Digest(): account,
		}},
		allow: map[contract.KeyDigest]error{revoked.Digest(): apierr.InvalidAPIKey(), reader.Digest(): apierr.RoleNotAllowed()},
	}
	call := serve(t, httpkit.Config{}, c, c)
	type request struct{ method, path, body string }
	const definition = `"fields":[{"key":"text"}],"questions":[{"key":"q","type":"yes_no","text":"?"}]}`
	list := request{"GET", "/v1/models", ""}
	states := request{"GET", "/v1/models/states", ""}
	check := request{"POST", "/v1/models/fast/check", ""}
	prismOf := func(model string) request {
		return request{"POST", "/v1/prisms", `{"slug":"s","model":` + model + `,` + definition}
	}
	versionOf := func(model string) request {
		return request{"POST", "/v1/prisms/p/versions", `{"model":` + model + `,` + definition}
	}
	tryOf := func(model string) request {
		return request{"POST", "/v1/try", `{"text":"x","definition":{"model":` + model + `,` + definition + `}`}
	}
	escalationOf := func(model, to string) request {
		return request{"POST", "/v1/prisms", `{"slug":"s","model":` + model + `,"escalate":{"to":"` + to + `","below":0.5},` + definition}
	}
	// manyOf has questions of 62 options in 32 groups, of 33 calls each, and some of one.
	manyOf := func(model string, many, single int) request {
		var options, questions []string
		for i := range 62 {
			options = append(options, fmt.Sprintf(`{"key":"o%d","label":"O","group":"g%d"}`, i, i%32))
		}
		for i := range many + single {
			if i < many {
				questions = append(questions, fmt.Sprintf(`{"key":"q%d","type":"choice","text":"?","options":[%s]}`, i, strings.Join(options, ",")))
			} else {
				questions = append(questions, fmt.Sprintf(`{"key":"q%d","type":"yes_no","text":"?"}`, i))
			}
		}
		return request{"POST", "/v1/prisms", `{"slug":"s","model":` + model + `,"fields":[{"key":"text"}],"questions":[` + strings.Join(questions, ",") + `]}`}
	}
	failed := func(status int, code, message string) reply {
		return reply{status, "", `{"error":{"code":"` + code + `","message":"` + message + `"}}`}
	}
	var (
		noSuchModel  = failed(400, "validation_failed", "Invalid request: model: No such model")
		noSuchSecond = failed(400, "validation_failed", "Invalid request: escalate.to: No such model")
		noModels     = failed(400, "validation_failed", "Invalid request: model: No such model; escalate.to: No such model")
		sameModel    = failed(400, "validation_failed", "Invalid request: escalate.to: must be another model than the version's")
		noSuchTried  = failed(400, "validation_failed", "Invalid request: definition.model: No such model")
		notAllowed   = failed(403, "unauthorized", "Your role does not allow this.")
		invalidKey   = failed(401, "unauthorized", "Invalid API key")
		unavailable  = reply{503, "1", `{"error":"Service Unavailable","message":"Service Unavailable","statusCode":503}`}
		created      = reply{201, "", "{}"}
		listed       = reply{200, "", `{"data":[{"name":"fast","provider":"openai-chat","model":"qwen3-8b","default":true,` +
			`"probabilities":"logprobs","price":{"currency":"USD","input":0.4,"output":1.600001,"cached_input":null,"per_call":null},"price_reported":false,"fallback":["strong"],"order":null,"samples":null},` +
			`{"name":"strong","provider":"offline","model":"offline","default":false,"probabilities":"simulated","price":null,"price_reported":false,` +
			`"fallback":[],"order":null,"samples":null}]}`}
	)
	for name, row := range map[string]struct {
		key   apikey.Key
		send  request
		away  bool // model-proxy
		want  reply
		heard string // by results and model-proxy, in this order
	}{
		"the list":                               {editor, list, false, listed, "authorize listModels, list"},
		"the states":                             {editor, states, false, reply{200, "", `{"data":[{"name":"fast","state":"on_trial","running":0,"max_in_flight":null,"failures":[]}]}`}, "authorize listModelStates, states"},
		"the states without model-proxy":         {editor, states, true, unavailable, "authorize listModelStates, states"},
		"the states for a role that may not":     {reader, states, false, notAllowed, "authorize listModelStates"},
		"a check for a role that may not":        {reader, check, false, notAllowed, "authorize checkModel"},
		"a check that may not be counted":        {editor, check, false, notAllowed, "authorize checkModel, try"},
		"the list without model-proxy":           {editor, list, true, unavailable, "authorize listModels, list"},
		"the list for an unknown key":            {unknown, list, false, invalidKey, ""},
		"the list for a key of a known account":  {revoked, list, false, invalidKey, "authorize listModels"},
		"the list for a role that may not":       {reader, list, false, notAllowed, "authorize listModels"},
		"a prism of a configured model":          {editor, prismOf(`"strong"`), false, created, "authorize createPrism, list, create"},
		"a prism of another model":               {editor, prismOf(`"late"`), false, noSuchModel, "authorize createPrism, list"},
		"a prism without a model":                {editor, prismOf(`null`), true, created, "create"},
		"a prism of a model without model-proxy": {editor, prismOf(`"fast"`), true, unavailable, "authorize createPrism, list"},
		"a version of a configured model":        {editor, versionOf(`"fast"`), false, created, "authorize createVersion, list, add"},
		"a version of another model":             {editor, versionOf(`"late"`), false, noSuchModel, "authorize createVersion, list"},
		"a version without a model":              {editor, versionOf(`null`), true, created, "add"},
		// spec: calls-of-a-result
		"a prism that needs 512 calls of its model": {editor, manyOf(`"fast"`, 15, 17), false, created, "authorize createPrism, list, create"},
		"a prism that needs more calls of its model": {
			editor, manyOf(`"fast"`, 15, 18), false,
			failed(400, "validation_failed", "Invalid request: model: needs 513 calls for a result of these questions, and makes at most 512"),
			"authorize createPrism, list",
		},
		"a prism that would, of another model":     {editor, manyOf(`"strong"`, 15, 18), false, created, "authorize createPrism, list, create"},
		"a prism that would, of the default model": {editor, manyOf(`null`, 15, 18), false, created, "create"},
		"a prism that escalates to such a model": {
			editor, manyOf(`"strong","escalate":{"to":"fast","below":0.5}`, 15, 18), false,
			failed(400, "validation_failed", "Invalid request: escalate.to: needs 513 calls for a result of these questions, and makes at most 512"),
			"authorize createPrism, list",
		},
		// spec: dry-run
		"a dry run of a configured model": {
			editor, versionOf(`"fast","dry_run":true`), false, reply{200, "", "{}"}, "authorize createVersion, list, add",
		},
		"a dry run of another model": {editor, prismOf(`"late","dry_run":true`), false, noSuchModel, "authorize createPrism, list"},
		"another problem beside another model": {
			unknown, prismOf(`"late","name":5`), false,
			failed(400, "validation_failed", "Invalid request: name: Expected string, received number"), "",
		},
		// spec: escalate-of-a-version
		"an escalation to a configured model": {editor, escalationOf(`null`, "strong"), false, created, "authorize createPrism, list, create"},
		"an escalation to another model":      {editor, escalationOf(`null`, "late"), false, noSuchSecond, "authorize createPrism, list"},
		"an escalation to the default model":  {editor, escalationOf(`null`, "fast"), false, sameModel, "authorize createPrism, list"},
		"an escalation to the default model from another": {
			editor, escalationOf(`"strong"`, "fast"), false, created, "authorize createPrism, list, create",
		},
		"two other models":                          {editor, escalationOf(`"later"`, "late"), false, noModels, "authorize createPrism, list"},
		"an escalation to the model itself":         {editor, escalationOf(`"late"`, "late"), false, sameModel, ""},
		"an escalation for a role that may do less": {reader, escalationOf(`null`, "late"), false, notAllowed, "authorize createPrism"},
		"an escalation without model-proxy":         {editor, escalationOf(`null`, "strong"), true, unavailable, "authorize createPrism, list"},
		"a version with an escalation to another model": {
			editor,
			request{"POST", "/v1/prisms/p/versions", `{"escalate":{"to":"late","below":0.5},` + definition},
			false, noSuchSecond,
			"authorize createVersion, list",
		},
		"a try of an escalation to another model": {
			editor,
			request{"POST", "/v1/try", `{"text":"x","definition":{"escalate":{"to":"late","below":0.5},` + definition + `}`},
			false,
			failed(400, "validation_failed", "Invalid request: definition.escalate.to: No such model"), "authorize tryDefinition, list",
		},
		"a try of a configured model":               {editor, tryOf(`"fast"`), false, notAllowed, "authorize tryDefinition, list, try"},
		"a try of another model":                    {editor, tryOf(`"late"`), false, noSuchTried, "authorize tryDefinition, list"},
		"a try of a role that may not":              {reader, tryOf(`"late"`), false, notAllowed, "authorize tryDefinition"},
		"a try without a model":                     {editor, tryOf(`null`), true, notAllowed, "try"},
		"another model and an unknown key":          {unknown, prismOf(`"late"`), false, invalidKey, ""},
		"another model and a key that was revoked":  {revoked, prismOf(`"late"`), false, invalidKey, "authorize createPrism"},
		"another model and a role that may do less": {reader, versionOf(`"late"`), false, notAllowed, "authorize createVersion"},
	} {
		c.set(row.away, "strong")
		if got := call(row.key.Reveal(), row.send.method, row.send.path, row.send.body); got != row.want {
			t.Errorf("%s: got %+v\nwant %+v", name, got, row.want)
		}
		if heard := c.since(); heard != row.heard {
			t.Errorf("%s: heard %q, want %q", name, heard, row.heard)
		}
	}
	// A model counts from the moment in which it is configured, and no longer than it is.
	for _, want := range []reply{noSuchModel, created, noSuchModel} {
		c.set(false)
		if want == created {
			c.set(false, "late")
		}
		if got := call(editor.Reveal(), "POST", "/v1/prisms", prismOf(`"late"`).body); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}
