package route

import (
	"context"
	"fmt"
	"slices"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/gateway/internal/execute"
)

// listModels is the list of the configured models, which model-proxy knows.
func (d Deps) listModels(ctx context.Context, key contract.KeyDigest, _ api.ListModelsRequest) (contract.Response, error) {
	found, err := d.authorizedList(ctx, key, api.ListModels)
	if err != nil {
		return contract.Response{}, err
	}
	body, err := strictjson.Marshal(api.ModelList{Data: found})
	return contract.Response{ContentType: httpkit.JSONType, Body: body}, err
}

// listModelStates is how the configured models do, which model-proxy knows.
func (d Deps) listModelStates(ctx context.Context, key contract.KeyDigest, _ api.ListModelStatesRequest) (contract.Response, error) {
	if err := d.Results.Authorize(ctx, key, contract.Operation(api.ListModelStates.Name)); err != nil {
		return contract.Response{}, err
	}
	found, err := d.Models.States(ctx)
	if err != nil {
		return contract.Response{}, err
	}
	body, err := strictjson.Marshal(api.ModelStateList{Data: found})
	return contract.Response{ContentType: httpkit.JSONType, Body: body}, err
}

// authorizedList asks model-proxy for the models only for a key whose role allows the operation, so that nobody else can make
// it work (spec: order-of-checks-model).
func (d Deps) authorizedList(ctx context.Context, key contract.KeyDigest, op api.Operation) ([]api.Model, error) {
	if err := d.Results.Authorize(ctx, key, contract.Operation(op.Declared().Name)); err != nil {
		return nil, err
	}
	return d.Models.List(ctx)
}

// configured checks the models that a definition names, before it is stored or tried. The members of the definition have this prefix in
// paths. The list is not cached: definitions are rarely stored, and a model counts from the moment in which it is configured.
func (d Deps) configured(ctx context.Context, key contract.KeyDigest, op api.Operation, prefix string, definition prism.Definition) error {
	if definition.Model == "" && definition.Escalate == nil {
		return nil
	}
	known, err := execute.LookUp(ctx, func(ctx context.Context) ([]api.Model, error) {
		return d.authorizedList(ctx, key, op)
	})
	if err != nil {
		return err
	}
	if problems := problemsOfModels(prefix, definition, known); len(problems) > 0 {
		return apierr.Invalid(problems...)
	}
	return nil
}

func (d Deps) createPrism(ctx context.Context, key contract.KeyDigest, in api.CreatePrismRequest) (contract.Response, error) {
	if err := d.configured(ctx, key, api.CreatePrism, "", in.Definition); err != nil {
		return contract.Response{}, err
	}
	return contract.Do(ctx, d.Results, key, api.CreatePrism, in)
}

func (d Deps) createVersion(ctx context.Context, key contract.KeyDigest, in api.CreateVersionRequest) (contract.Response, error) {
	if err := d.configured(ctx, key, api.CreateVersion, "", in.Definition); err != nil {
		return contract.Response{}, err
	}
	return contract.Do(ctx, d.Results, key, api.CreateVersion, in)
}

func (d Deps) tryDefinition(ctx context.Context, key contract.KeyDigest, in api.TryDefinitionRequest) (contract.Response, error) {
	if err := d.configured(ctx, key, api.TryDefinition, "definition.", in.Definition); err != nil {
		return contract.Response{}, err
	}
	return d.Executor.Try(ctx, key, in.NewTry)
}

// problemsOfModels is what is wrong with the models that a definition names (spec: model-of-a-version, escalate-of-a-version,
// calls-of-a-result).
// Without a model the definition's is the default one.
func problemsOfModels(prefix string, definition prism.Definition, known []api.Model) (problems []apierr.Problem) {
	find := func(name string) (api.Model, bool) {
		i := slices.IndexFunc(known, func(m api.Model) bool { return m.Name == name })
		if i < 0 {
			return api.Model{}, false
		}
		return known[i], true
	}
	add := func(member, text string) {
		problems = append(problems, apierr.Problem{Path: prefix + member, Text: text})
	}
	fits := func(member string, m api.Model) {
		if n := contract.Calls(m, definition.Questions); n > contract.MaxCalls {
			add(member, fmt.Sprintf("needs %d calls for a result of these questions, and makes at most %d", n, contract.MaxCalls))
		}
	}
	if m, ok := find(definition.Model); ok {
		fits("model", m)
	} else if definition.Model != "" {
		add("model", "No such model")
	}
	if definition.Escalate != nil {
		to, ok := find(definition.Escalate.To)
		switch {
		case !ok:
			add("escalate.to", "No such model")
		case definition.Model == "" && to.Default:
			add("escalate.to", "must be another model than the version's")
		default:
			fits("escalate.to", to)
		}
	}
	return problems
}
