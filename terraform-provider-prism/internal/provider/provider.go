// Package provider is Prism as a provider of Terraform and OpenTofu. What can be set is declared by pkg/api, and reaches Prism by its Go client.
package provider

import (
	"cmp"
	"context"
	"os"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/pkg/api"
)

// Address is the name of the provider in configurations.
const Address = "registry.opentofu.org/prism-results/prism"

// New is the provider at a version of it.
func New(version string) provider.Provider { return &prismProvider{version} }

type prismProvider struct{ version string }

// Metadata implements provider.Provider.
func (p *prismProvider) Metadata(_ context.Context, _ provider.MetadataRequest, out *provider.MetadataResponse) {
	out.TypeName, out.Version = "prism", p.version
}

// Schema implements provider.Provider.
func (p *prismProvider) Schema(_ context.Context, _ provider.SchemaRequest, out *provider.SchemaResponse) {
	out.Schema = schema.Schema{
		MarkdownDescription: "Prisms, keys, members and webhooks of an account of Prism.",
		Attributes: map[string]schema.Attribute{
			"url": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "The address of the API without `/v1`. Without it `PRISM_URL`, or else `" + client.DefaultURL + "`.",
			},
			"api_key": schema.StringAttribute{
				Optional: true, Sensitive: true,
				MarkdownDescription: "An API key of the account. Without it `PRISM_API_KEY`. Its role decides what can be applied.",
			},
		},
	}
}

// Configure implements provider.Provider.
func (p *prismProvider) Configure(ctx context.Context, in provider.ConfigureRequest, out *provider.ConfigureResponse) {
	var set struct {
		URL types.String `tfsdk:"url"`
		Key types.String `tfsdk:"api_key"`
	}
	out.Diagnostics.Append(in.Config.Get(ctx, &set)...)
	if out.Diagnostics.HasError() || set.URL.IsUnknown() || set.Key.IsUnknown() { // known when it is applied
		return
	}
	url := cmp.Or(set.URL.ValueString(), os.Getenv("PRISM_URL"), client.DefaultURL)
	key := cmp.Or(set.Key.ValueString(), os.Getenv("PRISM_API_KEY"))
	if key == "" {
		out.Diagnostics.AddAttributeError(path.Root("api_key"), "There is no API key", "Set api_key of the provider, or PRISM_API_KEY.")
		return
	}
	c, err := client.New(client.Config{URL: url, Key: key, UserAgent: "terraform-provider-prism/" + p.version})
	if err != nil {
		out.Diagnostics.AddError("Prism cannot be reached with these settings", err.Error())
		return
	}
	out.ResourceData, out.DataSourceData = c, c
}

// Resources implements provider.Provider.
func (p *prismProvider) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{
		making(prisms), making(lenses), making(keys), making(members), making(webhooks), making(retentions), making(drifts),
	}
}

func making[S, R any](k func() kind[S, R]) func() resource.Resource {
	return func() resource.Resource { return &managed[S, R]{kind: k()} }
}

// DataSources implements provider.Provider.
func (p *prismProvider) DataSources(context.Context) []func() datasource.DataSource {
	var all []func() datasource.DataSource
	for _, s := range sources() {
		all = append(all, func() datasource.DataSource { return &reading{source: s} })
	}
	return all
}

// Operations are those that the provider calls.
func Operations() (all []api.Operation) {
	for _, k := range []interface{ operations() []api.Operation }{prisms(), lenses(), keys(), members(), webhooks(), retentions(), drifts()} {
		all = append(all, k.operations()...)
	}
	for _, s := range sources() {
		all = append(all, s.operations()...)
	}
	return all
}
