package provider

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/terraform-provider-prism/internal/shape"
)

// managed is a kind of resource as Terraform calls it.
type managed[S, R any] struct {
	kind[S, R]
	client *client.Client
}

// values are attributes by their names.
type values = map[string]tftypes.Value

// Metadata implements resource.Resource.
func (m *managed[S, R]) Metadata(_ context.Context, _ resource.MetadataRequest, out *resource.MetadataResponse) {
	out.TypeName = "prism_" + m.name
}

// Schema implements resource.Resource.
func (m *managed[S, R]) Schema(_ context.Context, _ resource.SchemaRequest, out *resource.SchemaResponse) {
	out.Schema = m.schema()
}

// Configure implements resource.ResourceWithConfigure.
func (m *managed[S, R]) Configure(_ context.Context, in resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	m.client, _ = in.ProviderData.(*client.Client) // nil until the provider is configured
}

// ImportState implements resource.ResourceWithImportState.
func (m *managed[S, R]) ImportState(ctx context.Context, in resource.ImportStateRequest, out *resource.ImportStateResponse) {
	resource.ImportStatePassthroughID(ctx, path.Root(m.identity), in, out)
}

// Create implements resource.Resource.
func (m *managed[S, R]) Create(ctx context.Context, in resource.CreateRequest, out *resource.CreateResponse) {
	if m.client == nil {
		out.Diagnostics.Append(told(errUnset))
		return
	}
	want, plan := m.settingsOf(in.Plan.Raw, &out.Diagnostics)
	if out.Diagnostics.HasError() {
		return
	}
	r, err := m.create(ctx, m.client, want)
	if err != nil {
		out.Diagnostics.Append(told(err))
		return
	}
	out.State.Raw = m.filled(r, plan, nil, in.Plan.Raw.Type(), &out.Diagnostics)
}

// Read implements resource.Resource.
func (m *managed[S, R]) Read(ctx context.Context, in resource.ReadRequest, out *resource.ReadResponse) {
	if m.client == nil {
		out.Diagnostics.Append(told(errUnset))
		return
	}
	was, state := m.settingsOf(in.State.Raw, &out.Diagnostics)
	if out.Diagnostics.HasError() {
		return
	}
	r, err := m.read(ctx, m.client, m.id(state), was)
	switch {
	case errors.Is(err, client.ErrNotFound):
		out.State.RemoveResource(ctx)
	case err != nil:
		out.Diagnostics.Append(told(err))
	default:
		out.State.Raw = m.refreshed(r, was, state, in.State.Raw.Type(), &out.Diagnostics)
	}
}

// Update implements resource.Resource.
func (m *managed[S, R]) Update(ctx context.Context, in resource.UpdateRequest, out *resource.UpdateResponse) {
	if m.client == nil {
		out.Diagnostics.Append(told(errUnset))
		return
	}
	was, state := m.settingsOf(in.State.Raw, &out.Diagnostics)
	want, plan := m.settingsOf(in.Plan.Raw, &out.Diagnostics)
	if out.Diagnostics.HasError() {
		return
	}
	r, err := m.update(ctx, m.client, m.id(state), was, want)
	if err != nil {
		out.Diagnostics.Append(told(err))
		return
	}
	out.State.Raw = m.filled(r, plan, state, in.Plan.Raw.Type(), &out.Diagnostics)
}

// Delete implements resource.Resource.
func (m *managed[S, R]) Delete(ctx context.Context, in resource.DeleteRequest, out *resource.DeleteResponse) {
	if m.client == nil {
		out.Diagnostics.Append(told(errUnset))
		return
	}
	was, state := m.settingsOf(in.State.Raw, &out.Diagnostics)
	if out.Diagnostics.HasError() {
		return
	}
	if err := m.remove(ctx, m.client, m.id(state), was); err != nil && !errors.Is(err, client.ErrNotFound) {
		out.Diagnostics.Append(told(err))
	}
}

// ModifyPlan implements resource.ResourceWithModifyPlan: what changes with a change is not known until it is applied, and what the API would
// refuse is told now.
func (m *managed[S, R]) ModifyPlan(ctx context.Context, in resource.ModifyPlanRequest, out *resource.ModifyPlanResponse) {
	if in.Plan.Raw.IsNull() { // it is destroyed
		return
	}
	want, plan := m.settingsOf(in.Plan.Raw, &out.Diagnostics)
	if out.Diagnostics.HasError() {
		return
	}
	var was *S
	var id string
	if !in.State.Raw.IsNull() {
		before, state := m.settingsOf(in.State.Raw, &out.Diagnostics)
		changed, err := m.different(before, want)
		if err != nil {
			out.Diagnostics.Append(told(err))
		}
		if out.Diagnostics.HasError() {
			return
		}
		was, id = &before, m.id(state)
		for name, when := range m.changing {
			if slices.ContainsFunc(when, func(n string) bool { return slices.Contains(changed, n) || !plan[n].IsFullyKnown() }) {
				plan[name] = tftypes.NewValue(plan[name].Type(), tftypes.UnknownValue)
			}
		}
		out.Plan.Raw = tftypes.NewValue(in.Plan.Raw.Type(), plan)
	}
	for _, a := range settable[S]().Members {
		if !plan[a.Name].IsFullyKnown() {
			return
		}
	}
	if m.check != nil && m.client != nil {
		out.Diagnostics.Append(m.check(ctx, m.client, id, was, want)...)
	}
}

// settingsOf reads the settings of a plan or a state, and its attributes.
func (m *managed[S, R]) settingsOf(raw tftypes.Value, problems *diag.Diagnostics) (set S, all values) {
	err := raw.As(&all)
	var tree any
	if err == nil {
		tree, err = shape.Tree(raw)
	}
	if err == nil {
		set, err = m.decode(tree)
	}
	if err != nil {
		problems.AddError("The configuration cannot be read", err.Error())
	}
	return set, all
}

func (m *managed[S, R]) id(state values) (id string) {
	_ = state[m.identity].As(&id) // a text, by the schema
	return id
}

// filled is the state after a change: the plan, and what was not known in it.
func (m *managed[S, R]) filled(r R, plan, state values, t tftypes.Type, problems *diag.Diagnostics) tftypes.Value {
	tree, err := m.response(r)
	all := maps.Clone(plan)
	for name, value := range plan {
		if err != nil || value.IsFullyKnown() {
			continue
		}
		told, isTold := tree[name]
		if was, ok := state[name]; ok && !isTold {
			all[name] = was
			continue
		}
		all[name], err = shape.Value(told, value.Type())
	}
	return m.made(all, t, err, problems)
}

// refreshed is the state as the API tells it. What means the same stays as it is written.
func (m *managed[S, R]) refreshed(r R, was S, state values, t tftypes.Type, problems *diag.Diagnostics) tftypes.Value {
	tree, err := m.response(r)
	if err != nil {
		return m.made(state, t, err, problems)
	}
	changed, err := m.different(was, m.settings(r))
	all, set := maps.Clone(state), settable[S]()
	for name, value := range state {
		told, isTold := tree[name]
		_, isSet := set.Find(name)
		_, isFlag := told.(bool)
		same := !slices.Contains(changed, name) && (!isFlag || !value.IsNull()) // a flag that has a default is null after an import
		stays := isSet && (same || slices.Contains(m.local, name)) || !isSet && !isTold
		if err != nil || stays {
			continue
		}
		all[name], err = shape.Value(told, value.Type())
	}
	return m.made(all, t, err, problems)
}

func (m *managed[S, R]) made(all values, t tftypes.Type, err error, problems *diag.Diagnostics) tftypes.Value {
	if err == nil {
		err = tftypes.ValidateValue(t, all)
	}
	if err != nil {
		problems.AddError("What Prism answered does not fit", err.Error())
		return tftypes.NewValue(t, nil)
	}
	return tftypes.NewValue(t, all)
}
