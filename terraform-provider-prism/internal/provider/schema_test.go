package provider

import (
	"context"
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/terraform-provider-prism/internal/shape"
)

// Each schema is one that the framework takes, each attribute that can be set is described, and the guide names all.
//
// spec: terraform-resources
func TestEverySchemaIsValidAndDescribed(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	page, err := os.ReadFile("../../../docs/terraform.md")
	if err != nil {
		t.Fatal(err)
	}
	guide := string(page)
	p := New("test")
	var of provider.SchemaResponse
	p.Schema(ctx, provider.SchemaRequest{}, &of)
	if problems := of.Schema.ValidateImplementation(ctx); problems.HasError() {
		t.Error(problems)
	}
	for _, made := range p.Resources(ctx) {
		var name resource.MetadataResponse
		var s resource.SchemaResponse
		r := made()
		r.Metadata(ctx, resource.MetadataRequest{}, &name)
		r.Schema(ctx, resource.SchemaRequest{}, &s)
		if problems := s.Schema.ValidateImplementation(ctx); problems.HasError() {
			t.Error(name.TypeName, problems)
		}
		if !strings.Contains(guide, "| `"+name.TypeName+"` |") {
			t.Errorf("the guide has no %s", name.TypeName)
		}
		for attribute, a := range s.Schema.Attributes {
			if a.GetMarkdownDescription() == "" {
				t.Errorf("%s.%s is not described", name.TypeName, attribute)
			}
		}
		if _, ok := r.(resource.ResourceWithImportState); !ok {
			t.Errorf("%s cannot be imported", name.TypeName)
		}
	}
	for _, made := range p.DataSources(ctx) {
		var name datasource.MetadataResponse
		var s datasource.SchemaResponse
		d := made()
		d.Metadata(ctx, datasource.MetadataRequest{ProviderTypeName: "prism"}, &name)
		d.Schema(ctx, datasource.SchemaRequest{}, &s)
		if problems := s.Schema.ValidateImplementation(ctx); problems.HasError() {
			t.Error(name.TypeName, problems)
		}
		if !strings.Contains(guide, "`"+name.TypeName+"`") {
			t.Errorf("the guide has no data source %s", name.TypeName)
		}
	}
}

// What can be sent to make a prism is an attribute of it, or a resource of its own.
//
// spec: terraform-resources
func TestAPrismHasAllThatCanBeSent(t *testing.T) {
	t.Parallel()
	has := settable[prismSettings]()
	for _, p := range api.Properties(reflect.TypeFor[api.NewPrism]()) {
		if _, ok := has.Find(p.Name); !ok && p.Name != "lens" {
			t.Errorf("prism_prism has no %s", p.Name)
		}
	}
}

// What means the same is no difference, and so no version.
//
// spec: terraform-plan
func TestDefinitionsThatMeanTheSameAreNoDifference(t *testing.T) {
	t.Parallel()
	const written = `{"slug": "a", "fields": [{"key": "x", "label": ""}, {"key": "y"}], "questions": [
		{"key": "q", "type": "yes_no", "text": "?", "insufficient_information": false},
		{"key": "s", "type": "scale", "text": "?", "levels": [{"key": "a", "label": "A"}, {"key": "b", "label": "B"}]},
		{"key": "t", "type": "tags", "text": "?", "options": [{"key": "a", "label": "A"}, {"key": "b", "label": "B"}]}],
		"examples": [{"fields": {"y": "2", "x": "1"}, "answers": {"t": "[\"b\", \"a\"]", "q": "yes"}}], "searchable": true}`
	const stored = `{"slug": "a", "fields": [{"key": "x"}, {"key": "y"}], "questions": [
		{"key": "q", "type": "yes_no", "text": "?"},
		{"key": "s", "type": "scale", "text": "?", "levels": [{"key": "a", "label": "A", "value": 1}, {"key": "b", "label": "B", "value": 2}]},
		{"key": "t", "type": "tags", "text": "?", "options": [{"key": "a", "label": "A"}, {"key": "b", "label": "B"}]}],
		"examples": [{"fields": {"x": "1", "y": "2"}, "answers": {"q": true, "t": ["a", "b"]}}], "searchable": true}`
	for _, tt := range []struct {
		name  string
		other string
		want  []string
	}{
		{"as it is stored", stored, nil},
		{"another text", strings.Replace(stored, `"text": "?"`, `"text": "!"`, 1), []string{"questions"}},
		{"other values of levels", strings.Replace(stored, `"value": 2`, `"value": 3`, 1), []string{"questions"}},
		{"another right answer", strings.Replace(stored, `"q": true`, `"q": false`, 1), []string{"examples"}},
		{"not searchable", strings.Replace(stored, `"searchable": true`, `"searchable": false`, 1), []string{"searchable"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			k := prisms()
			got, err := k.different(decoded(t, k, written), decoded(t, k, tt.other))
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}

func decoded(t *testing.T, k kind[prismSettings, client.Prism], text string) prismSettings {
	t.Helper()
	s, err := k.decode(json.RawMessage(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A value of an attribute is the same after it was JSON.
//
// spec: terraform-resources
func TestValuesAreTheSameAsJSON(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	p := settingsOfPrism(client.Prism{Slug: "a", Version: client.Version{
		Fields: []api.Field{{Key: "x"}}, Escalate: &api.Escalate{To: "strong", Below: 0.6, Questions: []string{"q"}},
		Questions: []api.Question{{Key: "q", Type: "choice", Text: "?", Options: []api.Option{{Key: "a", Label: "A"}, {Key: "b", Label: "B"}}}},
	}})
	tree, err := shape.JSON(p)
	if err != nil {
		t.Fatal(err)
	}
	of, ok := prisms().schema().Type().TerraformType(ctx).(tftypes.Object)
	if !ok {
		t.Fatal("a schema is no object")
	}
	value, err := shape.Value(tree, of)
	if err != nil {
		t.Fatal(err)
	}
	back, err := shape.Tree(value)
	if err != nil {
		t.Fatal(err)
	}
	all := settable[prismSettings]()
	if got, want := all.Prune(back), all.Prune(tree); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
