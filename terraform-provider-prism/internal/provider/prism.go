package provider

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/lens"
	"github.com/prism-results/prism/pkg/prism"
)

// prismSettings are those of a prism but for its Lens and its retention, which are resources of their own.
type prismSettings struct {
	Slug string `json:"slug" form:"prism"`
	Name string `json:"name,omitzero" max:"200"`
	api.Definition
	Searchable bool `json:"searchable" default:"true"`
	Archived   bool `json:"archived" default:"false"`
}

// definitionMembers are the attributes whose change is a new version.
var definitionMembers = func() (names []string) {
	for _, p := range api.Properties(reflect.TypeFor[api.Definition]()) {
		names = append(names, p.Name)
	}
	return names
}()

func isOfDefinition(name string) bool { return slices.Contains(definitionMembers, name) }

func prisms() kind[prismSettings, client.Prism] {
	return kind[prismSettings, client.Prism]{
		name:     "prism",
		identity: "id",
		description: "A prism: questions about the fields of a text. A change of its definition (" + "`instructions`, `model`, `escalate`, `fields`, " +
			"`questions` or `examples`) is a new version, for which the plan has `latest_version` as known after apply; no other change is one. " +
			"Prisms are never deleted: `destroy` archives.",
		texts: map[string]string{
			"slug": "Names the prism in paths and configurations, for good. Another slug is another prism.",
			"name": "What people call it.", "instructions": "A text that is sent to the model with every question.",
			"model":    "The name of the configured model that answers. Without it, the default model at the time of the call.",
			"escalate": "A second model for doubtful answers.", "fields": "The inputs of a call, 1 to 50.",
			"questions":  "What is asked about the input, 1 to 64 questions.",
			"examples":   "Inputs with their right answers, which the model sees before each input. `answers` are texts, of a `tags` the JSON of a list.",
			"searchable": "False leaves the results out of searches.", "archived": "True has the prism take no calls.",
			"id": "The id, by which or by the slug a prism is imported.", "latest_version": "The number of the latest version.",
			"created_at": "When the prism was created.",
		},
		replaced: []string{"slug"},
		changing: map[string][]string{"latest_version": definitionMembers},
		uses: []api.Operation{
			api.CreatePrism, api.ReadPrism, api.RenamePrism, api.CreateVersion, api.SetSearchable, api.ArchivePrism, api.UnarchivePrism,
		},
		settings: settingsOfPrism, normal: normalPrism, create: createPrism,
		read: func(ctx context.Context, c *client.Client, id string, _ prismSettings) (client.Prism, error) {
			return c.ReadPrism(ctx, id)
		},
		update: updatePrism,
		remove: func(ctx context.Context, c *client.Client, id string, _ prismSettings) error {
			_, err := c.ArchivePrism(ctx, id)
			return err
		},
		check: checkPrism,
	}
}

func settingsOfPrism(p client.Prism) prismSettings {
	s := prismSettings{
		Slug: p.Slug, Definition: definitionOf(p.Version), Searchable: p.Searchable == nil || *p.Searchable, Archived: p.ArchivedAt != nil,
	}
	if p.Name != nil {
		s.Name = *p.Name
	}
	return s
}

// definitionOf is the definition of a version. An example whose result was deleted is left out, as in a file for prismctl.
func definitionOf(v client.Version) api.Definition {
	d := api.Definition{Escalate: v.Escalate, Fields: v.Fields, Questions: v.Questions}
	if v.Instructions != nil {
		d.Instructions = *v.Instructions
	}
	if v.Model != nil {
		d.Model = *v.Model
	}
	for _, e := range v.Examples {
		if !e.Emptied() {
			d.Examples = append(d.Examples, e)
		}
	}
	return d
}

// normalPrism writes what means the same alike: levels without the values that they have by themselves, and examples as Prism stores them, in
// the order of the version and with the values of labels (spec: question-scale, version-examples).
func normalPrism(s *prismSettings) {
	s.Questions = slices.Clone(s.Questions)
	for i := range s.Questions {
		s.Questions[i].Levels = withoutDefaults(s.Questions[i].Levels)
	}
	s.Examples = slices.Clone(s.Examples)
	for i, e := range s.Examples {
		e.Fields, e.Answers = slices.Clone(e.Fields), slices.Clone(e.Answers)
		slices.SortStableFunc(e.Fields, func(a, b prism.FieldValue) int { return s.field(a.Key) - s.field(b.Key) })
		slices.SortStableFunc(e.Answers, func(a, b prism.ExampleAnswer) int { return s.question(a.Question) - s.question(b.Question) })
		for n, a := range e.Answers {
			if at := s.question(a.Question); at < len(s.Questions) {
				if value, problem := s.Questions[at].ReadLabel(a.Text()); problem == "" {
					e.Answers[n] = prism.NewExampleAnswer(s.Questions[at], value)
				}
			}
		}
		s.Examples[i] = e
	}
}

// withoutDefaults removes the values of levels if they are 1, 2, 3 …
func withoutDefaults(levels []api.Level) []api.Level {
	var bare []api.Level
	for i, l := range levels {
		if l.Value != nil && *l.Value != float64(i+1) {
			return levels
		}
		l.Value = nil
		bare = append(bare, l)
	}
	return bare
}

// field is the place of a field in the version, or behind all.
func (s *prismSettings) field(key string) int {
	if at := slices.IndexFunc(s.Fields, func(f api.Field) bool { return f.Key == key }); at >= 0 {
		return at
	}
	return len(s.Fields)
}

// question is the place of a question in the version, or behind all.
func (s *prismSettings) question(key string) int {
	if at := slices.IndexFunc(s.Questions, func(q api.Question) bool { return q.Key == key }); at >= 0 {
		return at
	}
	return len(s.Questions)
}

func (s *prismSettings) created() client.NewPrism {
	return client.NewPrism{Slug: s.Slug, Name: s.Name, NewVersion: api.NewVersion{Definition: s.Definition}, Searchable: &s.Searchable}
}

func createPrism(ctx context.Context, c *client.Client, want prismSettings) (client.Prism, error) {
	p, err := c.CreatePrism(ctx, want.created())
	if err != nil || !want.Archived {
		return p, hinted(err, want.Slug)
	}
	return c.ArchivePrism(ctx, p.ID)
}

// hinted adds how a prism is taken over whose slug is in use, also by one that was archived.
func hinted(err error, slug string) error {
	if !errors.Is(err, client.ErrConflict) {
		return err
	}
	return fmt.Errorf("%w\n\nIt may be archived. To go on with it: tofu import prism_prism.NAME %s", err, slug)
}

// newVersion is a version with a definition. The Lens stays if it was set and fits; otherwise it is derived from the questions.
func newVersion(now client.Prism, d api.Definition) (v client.NewVersion, replaced []string) {
	v.Definition = d
	if reflect.DeepEqual(now.Lens, lens.Derive(definitionOf(now.Version))) {
		return v, nil
	}
	for _, p := range lens.Validate(now.Lens, d, "lens") {
		replaced = append(replaced, p.Path+": "+p.Text)
	}
	if replaced == nil {
		v.Lens = &now.Lens
	}
	return v, replaced
}

// changing changes a prism while what is changed is the same, whatever else of it other resources of the same apply change meanwhile: its
// entity tag names all of it (spec: prism-etag).
func changing(ctx context.Context, c *client.Client, id string, same func(client.Prism) bool, change func(now client.Prism) error) error {
	var err error
	for tag := ""; ; {
		now, failed := c.ReadPrism(ctx, id)
		switch {
		case failed != nil:
			return failed
		case !same(now):
			return errChanged
		case now.ETag == tag: // it is refused for another reason
			return err
		}
		if err = change(now); !errors.Is(err, client.ErrConflict) {
			return err
		}
		tag = now.ETag
	}
}

// updatePrism changes what differs. A version that somebody else has made since the plan is never overwritten: see client.IfUnchanged.
func updatePrism(ctx context.Context, c *client.Client, id string, was, want prismSettings) (client.Prism, error) {
	now, err := c.ReadPrism(ctx, id)
	if err != nil {
		return now, err
	}
	k := prisms()
	if others, err := k.different(was, settingsOfPrism(now)); err != nil || others != nil {
		return now, errors.Join(err, errChanged)
	}
	changed, err := k.different(was, want)
	if err != nil {
		return now, err
	}
	if now.ArchivedAt != nil && !want.Archived { // an archived prism takes no change
		if now, err = c.UnarchivePrism(ctx, id); err != nil {
			return now, err
		}
	}
	if slices.ContainsFunc(changed, isOfDefinition) {
		same := func(p client.Prism) bool { return p.LatestVersion == now.LatestVersion }
		if err := changing(ctx, c, id, same, func(now client.Prism) error {
			v, _ := newVersion(now, want.Definition)
			_, err := c.CreateVersion(ctx, id, v, client.IfUnchanged(now))
			return err
		}); err != nil {
			return now, err
		}
	}
	if slices.Contains(changed, "name") {
		if _, err := c.RenamePrism(ctx, id, want.Name); err != nil {
			return now, err
		}
	}
	if slices.Contains(changed, "searchable") {
		if _, err := c.SetSearchable(ctx, id, want.Searchable); err != nil {
			return now, err
		}
	}
	if want.Archived && now.ArchivedAt == nil {
		return c.ArchivePrism(ctx, id)
	}
	return c.ReadPrism(ctx, id)
}

// checkPrism asks Prism what it would say of a new prism or version, by a dry run.
func checkPrism(ctx context.Context, c *client.Client, id string, was *prismSettings, want prismSettings) (problems diag.Diagnostics) {
	if was == nil {
		_, err := c.CreatePrism(ctx, want.created(), client.WithDryRun())
		return refusal(hinted(err, want.Slug))
	}
	k := prisms()
	changed, err := k.different(*was, want)
	if err != nil || was.Slug != want.Slug || !slices.ContainsFunc(changed, isOfDefinition) {
		return refusal(err)
	}
	now, err := c.ReadPrism(ctx, id)
	if err != nil || now.ArchivedAt != nil { // an archived prism has no dry run
		return refusal(err)
	}
	v, replaced := newVersion(now, want.Definition)
	if replaced != nil {
		problems.AddWarning("The Lens does not fit the new version",
			fmt.Sprintf("The Lens of %s will be derived from the questions: %q. A prism_lens sets another one.", want.Slug, replaced))
	}
	_, err = c.CreateVersion(ctx, id, v, client.WithDryRun())
	problems.Append(refusal(err)...)
	return problems
}

// refusal is the error of a dry run, but for that of a key whose role may only read: with it a plan is made, and not applied.
func refusal(err error) diag.Diagnostics {
	var refused *client.Error
	if err == nil || errors.As(err, &refused) && refused.Status == http.StatusForbidden {
		return nil
	}
	return diag.Diagnostics{told(err)}
}
