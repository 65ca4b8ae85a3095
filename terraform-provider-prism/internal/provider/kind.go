package provider

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/terraform-provider-prism/internal/shape"
)

// kind is a kind of resource. The JSON of S is what of it is set, and that of R what the API tells of it.
type kind[S, R any] struct {
	name        string // without "prism_"
	description string
	// identity is the attribute that names one: to import it, and to read it.
	identity string
	// texts describe the attributes, and name the members of R that are attributes.
	texts map[string]string
	// Attributes of S: those that make another resource when they change, those that the API does not tell, those that must be set beside
	// what pkg/api says, and lists without an order.
	replaced, local, required, unordered []string
	defaults                             map[string]string // of those that are booleans
	sensitive                            []string
	// changing are computed attributes by the attributes of S with whose change they change. All others stay.
	changing map[string][]string
	// uses are the operations that it calls.
	uses []api.Operation

	// settings is what of R is set. normal writes what means the same alike; nil: there is nothing to do.
	settings func(R) S
	normal   func(*S)
	create   func(ctx context.Context, c *client.Client, want S) (R, error)
	// read is ErrNotFound of what is not there.
	read   func(ctx context.Context, c *client.Client, id string, was S) (R, error)
	update func(ctx context.Context, c *client.Client, id string, was, want S) (R, error)
	// remove may be ErrNotFound.
	remove func(ctx context.Context, c *client.Client, id string, was S) error
	// check finds what the API would refuse, and what else to tell of a plan. was is nil of what is not there yet. Nil: nothing.
	check func(ctx context.Context, c *client.Client, id string, was *S, want S) diag.Diagnostics
}

// operations are what a resource calls.
func (k kind[S, R]) operations() []api.Operation { return k.uses }

func settable[S any]() shape.Shape { return shape.Derive(reflect.TypeFor[S]()) }

// computed are the members of R that are attributes but not settings, by their names.
func (k kind[S, R]) computed() map[string]shape.Member {
	set, all := settable[S](), map[string]shape.Member{}
	for _, m := range shape.Derive(reflect.TypeFor[R]()).Members {
		if _, told := k.texts[m.Name]; told {
			if _, isSet := set.Find(m.Name); !isSet {
				all[m.Name] = m
			}
		}
	}
	return all
}

func (k kind[S, R]) schema() schema.Schema {
	all := map[string]schema.Attribute{}
	for _, m := range settable[S]().Members {
		all[m.Name] = m.Attribute(shape.Use{
			About: k.texts[m.Name], Required: m.Required || slices.Contains(k.required, m.Name), Replaced: slices.Contains(k.replaced, m.Name),
			Untold: slices.Contains(k.local, m.Name) && m.Name != k.identity, Unordered: slices.Contains(k.unordered, m.Name), Default: defaultOf(k.defaults, m),
		}, shape.Validate(m))
	}
	for name, m := range k.computed() {
		all[name] = m.Attribute(shape.Use{
			About: k.texts[name], Computed: true, Kept: true, Sensitive: slices.Contains(k.sensitive, name),
		}, shape.Validator{})
	}
	return schema.Schema{MarkdownDescription: k.description, Attributes: all}
}

func defaultOf(defaults map[string]string, m shape.Member) string {
	if d, ok := defaults[m.Name]; ok {
		return d
	}
	return m.Limits.Default
}

// decode reads settings.
func (k kind[S, R]) decode(tree any) (s S, err error) {
	text, err := json.Marshal(tree)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, err
	}
	if k.normal != nil {
		k.normal(&s)
	}
	return s, nil
}

// different are the names of the attributes in which settings differ.
func (k kind[S, R]) different(a, b S) (names []string, err error) {
	first, err := k.pruned(a)
	if err != nil {
		return nil, err
	}
	second, err := k.pruned(b)
	if err != nil {
		return nil, err
	}
	for _, m := range settable[S]().Members {
		if !reflect.DeepEqual(first[m.Name], second[m.Name]) {
			names = append(names, m.Name)
		}
	}
	return names, nil
}

func (k kind[S, R]) pruned(s S) (map[string]any, error) {
	if k.normal != nil {
		k.normal(&s)
	}
	tree, err := shape.JSON(s)
	if err != nil {
		return nil, err
	}
	pruned, _ := settable[S]().Prune(tree).(map[string]any)
	for _, name := range k.unordered {
		if list, ok := pruned[name].([]any); ok {
			list = slices.Clone(list)
			slices.SortFunc(list, func(a, b any) int {
				x, _ := a.(string)
				y, _ := b.(string)
				return strings.Compare(x, y)
			})
			pruned[name] = list
		}
	}
	return pruned, nil
}

// response is what the API told as a tree: what is set of it, and the rest.
func (k kind[S, R]) response(r R) (map[string]any, error) {
	told, err := shape.JSON(r)
	if err != nil {
		return nil, err
	}
	settings := k.settings(r)
	if k.normal != nil {
		k.normal(&settings)
	}
	set, err := shape.JSON(settings)
	if err != nil {
		return nil, err
	}
	all, _ := told.(map[string]any)
	members, _ := set.(map[string]any)
	for _, m := range settable[S]().Members {
		delete(all, m.Name)
	}
	maps.Copy(all, members)
	return all, nil
}
