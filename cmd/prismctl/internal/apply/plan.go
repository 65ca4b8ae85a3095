// Package apply creates and changes the prisms of an account as files define them.
//
// A plan is made first and changes nothing. For each file the plan creates the prism, adds a version if fields, questions,
// instructions or model changed, replaces the Lens if only the Lens changed, renames it, leaves it out of searches or no longer, or does
// nothing. The plan unarchives an archived prism that a file defines. With prune it archives the prisms that no file defines.
package apply

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/pkg/definition"
)

// Change is the change of one prism.
type Change struct {
	Slug string
	// The steps of the change, in this order.
	Create, Unarchive, Version, Lens, Rename, Search, Archive bool
	// Diff is the change of the definition as YAML in the unified format; empty without a change.
	Diff string

	file   client.NewPrism
	lens   client.Lens  // of the file, or derived from its questions
	before client.Prism // when the plan was made; empty for a new prism
}

// None tells that the prism does not change.
func (c Change) None() bool {
	return !c.Create && !c.Unarchive && !c.Version && !c.Lens && !c.Rename && !c.Search && !c.Archive
}

// Summary lists the steps in words.
func (c Change) Summary() string {
	var steps []string
	add := func(is bool, step string) {
		if is {
			steps = append(steps, step)
		}
	}
	add(c.Create, "create")
	add(c.Unarchive, "unarchive")
	add(c.Version, fmt.Sprintf("add version %d", c.before.LatestVersion+1))
	add(c.Lens, "edit the Lens")
	add(c.Rename, "rename")
	add(c.Search && *c.file.Searchable, "make searchable")
	add(c.Search && !*c.file.Searchable, "leave out of searches")
	add(c.Archive, "archive")
	return cmp.Or(strings.Join(steps, ", "), "unchanged")
}

// FileError is a definition that can't be applied: each problem with its place in the file.
type FileError struct{ text string }

func (e *FileError) Error() string { return e.text }

// Plan compares files with the account's prisms. Prism checks each definition, so Plan refuses what Do would refuse. With taken, which may
// be nil, the definitions have the examples that Prism takes from labels of their prisms: those are part of the plan.
func Plan(ctx context.Context, c *client.Client, files []definition.File, prune bool, taken *client.ExamplesFromLabels) ([]Change, error) {
	var changes []Change
	var problems []error
	defined := map[string]string{}
	for _, f := range files {
		slug := f.Prism.Slug
		if other, twice := defined[slug]; twice {
			problems = append(problems, &FileError{f.At("slug") + ": " + slug + " is defined in " + other + " too"})
			continue
		}
		defined[slug] = f.At("slug")
		change, err := plan(ctx, c, f, taken)
		var wrong *FileError
		if errors.As(err, &wrong) {
			problems = append(problems, err)
			continue
		}
		if err != nil {
			return nil, err
		}
		changes = append(changes, change)
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	if prune {
		for p, err := range c.Prisms(ctx, client.PrismFilter{}) {
			if err != nil {
				return nil, err
			}
			if defined[p.Slug] == "" {
				changes = append(changes, Change{Slug: p.Slug, Archive: true, before: p})
			}
		}
	}
	slices.SortStableFunc(changes, func(a, b Change) int { return strings.Compare(a.Slug, b.Slug) })
	return changes, nil
}

func plan(ctx context.Context, c *client.Client, f definition.File, taken *client.ExamplesFromLabels) (Change, error) {
	change := Change{Slug: f.Prism.Slug, file: f.Prism}
	p, err := c.ReadPrism(ctx, f.Prism.Slug)
	// ReadPrism also takes an id. If the file's slug is an id, the check of the new prism reports the invalid slug.
	change.Create = errors.Is(err, client.ErrNotFound) || err == nil && p.Slug != f.Prism.Slug
	if err != nil && !change.Create {
		return change, err
	}
	if taken != nil {
		if f, err = withExamples(ctx, c, f, change.Create, *taken); err != nil {
			return change, err
		}
		change.file = f.Prism
	}
	check := f.Prism
	if !change.Create {
		check.Slug = "check-" + strings.ToLower(rand.Text()) // the slug of an existing prism would be a conflict
	}
	checked, err := c.CreatePrism(ctx, check, client.WithDryRun())
	if err != nil {
		return change, located(f, err)
	}
	checked.Slug = f.Prism.Slug
	after := definition.FromPrism(checked)
	change.lens = *after.Lens
	if change.Create {
		change.Diff = udiff.Unified("", "", "", definition.YAML(after))
		return change, nil
	}
	before := definition.FromPrism(p)
	change.before = p
	change.Rename = before.Name != after.Name
	change.Search = f.Prism.Searchable != nil && *f.Prism.Searchable != (p.Searchable == nil)
	if !change.Search { // a file that does not say it leaves it as it is
		after.Searchable = before.Searchable
	}
	change.Unarchive = p.ArchivedAt != nil
	change.Lens = !reflect.DeepEqual(before.Lens, after.Lens)
	change.Diff = udiff.Unified("", "", definition.YAML(before), definition.YAML(after))
	before.Lens, after.Lens = nil, nil
	before.Name, before.Searchable = after.Name, after.Searchable
	change.Version = !reflect.DeepEqual(before, after)
	return change, nil
}

// withExamples is a file with the examples that Prism takes from labels of its prism for its definition.
func withExamples(
	ctx context.Context, c *client.Client, f definition.File, isNew bool, taken client.ExamplesFromLabels,
) (definition.File, error) {
	switch {
	case isNew:
		return f, &FileError{f.At("slug") + ": there is no prism " + f.Prism.Slug + " yet, whose labels could be taken"}
	case len(f.Prism.Examples) > 0:
		return f, &FileError{f.At("examples") + ": the file has examples already"}
	}
	v, err := c.CreateVersion(ctx, f.Prism.Slug, f.Prism.NewVersion, client.WithDryRun(), client.WithExamplesFromLabels(taken))
	if err != nil {
		return f, located(f, err)
	}
	f.Prism.Examples = v.Examples
	return f, nil
}

// ErrChanged tells that somebody else changed the prism after the plan was made.
var ErrChanged = errors.New("it changed after the plan was made: run apply again")

// Do makes the change.
func (c Change) Do(ctx context.Context, to *client.Client) error {
	if c.Create {
		_, err := to.CreatePrism(ctx, c.file)
		return err
	}
	now, err := to.ReadPrism(ctx, c.before.ID)
	if err != nil {
		return err
	}
	if (now.ArchivedAt == nil) != (c.before.ArchivedAt == nil) || c.changed(now) {
		return ErrChanged
	}
	if c.Archive {
		_, err := to.ArchivePrism(ctx, c.before.ID)
		return err
	}
	if c.Unarchive {
		if now, err = to.UnarchivePrism(ctx, c.before.ID); err != nil {
			return err
		}
		if c.changed(now) {
			return ErrChanged
		}
	}
	// With IfUnchanged, Prism refuses the change if the prism changed since it was read, so that no other change is overwritten.
	switch {
	case c.Version:
		// The version brings the file's Lens, or else the derived Lens.
		_, err = to.CreateVersion(ctx, now.ID, c.file.NewVersion, client.IfUnchanged(now))
	case c.Lens:
		_, err = to.ReplaceLens(ctx, c.before.ID, c.lens, client.IfUnchanged(now))
	}
	if err == nil && c.Rename {
		_, err = to.RenamePrism(ctx, c.before.ID, c.file.Name)
	}
	if err == nil && c.Search {
		_, err = to.SetSearchable(ctx, c.before.ID, *c.file.Searchable)
	}
	return err
}

// changed tells whether somebody else changed what the plan changes.
func (c Change) changed(now client.Prism) bool {
	return now.LatestVersion != c.before.LatestVersion || !reflect.DeepEqual(now.Lens, c.before.Lens) ||
		(now.Searchable == nil) != (c.before.Searchable == nil) || !reflect.DeepEqual(now.Name, c.before.Name)
}

// located gives each problem of a refused definition its file and line. Other errors stay as they are.
func located(f definition.File, err error) error {
	var refused *client.Error
	if !errors.As(err, &refused) || refused.Code != client.CodeValidationFailed {
		return err
	}
	listed, ok := strings.CutPrefix(refused.Message, "Invalid request: ")
	if !ok {
		return &FileError{f.At("") + ": " + refused.Message}
	}
	var lines []string
	for problem := range strings.SplitSeq(listed, "; ") {
		path, _, _ := strings.Cut(problem, ": ")
		lines = append(lines, f.At(path)+": "+problem)
	}
	return &FileError{strings.Join(lines, "\n")}
}
