package provider

import (
	"context"
	"encoding/json"
	"iter"
	"maps"
	"reflect"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/terraform-provider-prism/internal/shape"
)

// source is a data source: an operation that reads. Its attributes are what is asked, and the response.
type source struct {
	name, description string // the name is without "prism_"
	uses              api.Operation
	asked, told       shape.Shape
	read              func(ctx context.Context, c *client.Client, asked []byte) (any, error)
}

// What is asked of a data source.
type (
	nothing struct{}
	ofPrism struct {
		Prism string `json:"prism" min:"1" max:"200"`
	}
	ofVersion struct {
		ofPrism
		Version int `json:"version" min:"1" max:"2147483647"`
	}
	ofAnyVersion struct {
		ofPrism
		Version int `json:"version,omitzero" min:"1" max:"2147483647"`
	}
	ofPrisms struct {
		Archived bool `json:"archived,omitzero"`
		AdHoc    bool `json:"adhoc,omitzero"`
	}
	ofWebhook struct {
		Webhook string `json:"webhook" min:"1" max:"200"`
	}
)

func sources() []source {
	return []source{
		readSource("prism", "A prism with its latest version and its Lens.", api.ReadPrism,
			func(ctx context.Context, c *client.Client, in ofPrism) (client.Prism, error) {
				return c.ReadPrism(ctx, in.Prism)
			}),
		list("prisms", "The prisms of the account, newest first; with `archived` the archived ones, and with `adhoc` the ad-hoc ones.", api.ListPrisms,
			func(ctx context.Context, c *client.Client, in ofPrisms) iter.Seq2[client.Prism, error] {
				return c.Prisms(ctx, client.PrismFilter{Archived: in.Archived, AdHoc: in.AdHoc})
			}),
		readSource("version", "A version of a prism.", api.ReadVersion,
			func(ctx context.Context, c *client.Client, in ofVersion) (client.Version, error) {
				return c.ReadVersion(ctx, in.Prism, in.Version)
			}),
		list("versions", "The versions of a prism, newest first.", api.ListVersions,
			func(ctx context.Context, c *client.Client, in ofPrism) iter.Seq2[client.Version, error] {
				return c.Versions(ctx, in.Prism)
			}),
		readSource("models", "The configured models, which versions can name.", api.ListModels,
			func(ctx context.Context, c *client.Client, _ nothing) (client.ModelList, error) {
				return c.ListModels(ctx)
			}),
		readSource("account", "The account of the API key, and its limits.", api.ReadAccount,
			func(ctx context.Context, c *client.Client, _ nothing) (api.Account, error) { return c.ReadAccount(ctx) }),
		readSource("drift", "How far the answers of a version, the latest unless given, are from its reference.", api.ReadDrift,
			func(ctx context.Context, c *client.Client, in ofAnyVersion) (client.Drift, error) {
				return c.ReadDrift(ctx, in.Prism, in.Version)
			}),
		list("keys", "The API keys of the account, newest first, without their texts.", api.ListKeys,
			func(ctx context.Context, c *client.Client, _ nothing) iter.Seq2[client.APIKey, error] {
				return c.Keys(ctx)
			}),
		list("members", "The members of the account and its rules, newest first.", api.ListMembers,
			func(ctx context.Context, c *client.Client, _ nothing) iter.Seq2[client.Member, error] {
				return c.Members(ctx)
			}),
		readSource("webhook", "A webhook without its secret.", api.ReadWebhook,
			func(ctx context.Context, c *client.Client, in ofWebhook) (client.Webhook, error) {
				return c.ReadWebhook(ctx, in.Webhook)
			}),
		list("webhooks", "The webhooks of the account, newest first, without their secrets.", api.ListWebhooks,
			func(ctx context.Context, c *client.Client, _ nothing) iter.Seq2[client.Webhook, error] {
				return c.Webhooks(ctx)
			}),
	}
}

func readSource[In, Out any](
	name, description string, op api.Operation, call func(ctx context.Context, c *client.Client, in In) (Out, error),
) source {
	return source{
		name: name, description: description, uses: op, asked: shape.Derive(reflect.TypeFor[In]()), told: shape.Derive(reflect.TypeFor[Out]()),
		read: func(ctx context.Context, c *client.Client, asked []byte) (any, error) {
			var in In
			if err := json.Unmarshal(asked, &in); err != nil {
				return nil, err
			}
			return call(ctx, c, in)
		},
	}
}

// list is a data source whose attribute, named like it, has all pages of a list.
func list[In, Item any](
	name, description string, op api.Operation, call func(ctx context.Context, c *client.Client, in In) iter.Seq2[Item, error],
) source {
	s := readSource(name, description, op, func(ctx context.Context, c *client.Client, in In) (map[string][]Item, error) {
		items := []Item{}
		for item, err := range call(ctx, c, in) {
			if err != nil {
				return nil, err
			}
			items = append(items, item)
		}
		return map[string][]Item{name: items}, nil
	})
	s.told = shape.Shape{Kind: shape.Object, Members: []shape.Member{{Name: name, Shape: shape.Derive(reflect.TypeFor[[]Item]())}}}
	return s
}

func (s source) operations() []api.Operation { return []api.Operation{s.uses} }

// reading is a data source as Terraform calls it.
type reading struct {
	source
	client *client.Client
}

// Metadata implements datasource.DataSource.
func (r *reading) Metadata(_ context.Context, _ datasource.MetadataRequest, out *datasource.MetadataResponse) {
	out.TypeName = "prism_" + r.name
}

// Schema implements datasource.DataSource.
func (r *reading) Schema(_ context.Context, _ datasource.SchemaRequest, out *datasource.SchemaResponse) {
	all := map[string]schema.Attribute{}
	for _, m := range r.told.Members {
		all[m.Name] = m.Source(shape.Use{Computed: true})
	}
	for _, m := range r.asked.Members {
		_, isTold := all[m.Name]
		all[m.Name] = m.Source(shape.Use{Required: m.Required, Optional: !m.Required, Computed: isTold && !m.Required})
	}
	out.Schema = schema.Schema{MarkdownDescription: r.description, Attributes: all}
}

// Configure implements datasource.DataSourceWithConfigure.
func (r *reading) Configure(_ context.Context, in datasource.ConfigureRequest, _ *datasource.ConfigureResponse) {
	r.client, _ = in.ProviderData.(*client.Client) // nil until the provider is configured
}

// Read implements datasource.DataSource.
func (r *reading) Read(ctx context.Context, in datasource.ReadRequest, out *datasource.ReadResponse) {
	if r.client == nil {
		out.Diagnostics.Append(told(errUnset))
		return
	}
	var config values
	err := in.Config.Raw.As(&config)
	var asked any
	if err == nil {
		asked, err = shape.Tree(in.Config.Raw)
	}
	if err != nil {
		out.Diagnostics.AddError("The configuration cannot be read", err.Error())
		return
	}
	answer, err := r.ask(ctx, asked)
	if err != nil {
		out.Diagnostics.Append(told(err))
		return
	}
	all := maps.Clone(config)
	for name, value := range config {
		if _, isTold := answer[name]; !isTold || !value.IsNull() { // what was asked
			continue
		}
		if all[name], err = shape.Value(answer[name], value.Type()); err != nil {
			out.Diagnostics.AddError("What Prism answered does not fit", err.Error())
			return
		}
	}
	out.State.Raw = tftypes.NewValue(in.Config.Raw.Type(), all)
}

func (r *reading) ask(ctx context.Context, asked any) (map[string]any, error) {
	text, err := json.Marshal(asked)
	if err != nil {
		return nil, err
	}
	answer, err := r.read(ctx, r.client, text)
	if err != nil {
		return nil, err
	}
	tree, err := shape.JSON(answer)
	members, _ := tree.(map[string]any)
	return members, err
}
