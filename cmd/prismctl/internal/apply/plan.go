// Package apply creates and changes the prisms of an account as files define them.
//
// A plan is made first and changes nothing. For each file the plan creates the prism, adds a version if fields, questions or
// instructions changed, replaces the Lens if only the Lens changed, or does nothing. The plan unarchives an archived prism
// that a file defines. With prune it archives the prisms that no file defines.
package apply

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/cmd/prismctl/internal/definition"
	"github.com/prism-results/prism/cmd/prismctl/internal/diff"
)

// Change is the change of one prism.
type Change struct {
	Slug string
	// The steps of the change, in this order.
	Create, Unarchive, Version, Lens, Archive bool
	// Diff is the change of the definition as YAML.
	Diff []diff.Line

	file   definition.File
	before client.Prism // when the plan was made; empty for a new prism
}

// None tells that the prism does not change.
func (c Change) None() bool { return !c.Create && !c.Unarchive && !c.Version && !c.Lens && !c.Archive }

// Summary lists the steps in words.
func (c Change) Summary() string {
	var does []string
	for _, step := range []struct {
		is   bool
		text string
	}{
		{c.Create, "create"},
		{c.Unarchive, "unarchive"},
		{c.Version, fmt.Sprintf("add version %d", c.before.LatestVersion+1)},
		{c.Lens, "edit the Lens"},
		{c.Archive, "archive"},
		{c.None(), "unchanged"},
	} {
		if step.is {
			does = append(does, step.text)
		}
	}
	return strings.Join(does, ", ")
}

// FileError is a definition that can't be applied, and its place in the file.
type FileError struct{ At, Problem string }

func (e *FileError) Error() string { return e.At + ": " + e.Problem }

// Plan compares files with the account's prisms.
func Plan(ctx context.Context, c *client.Client, files []definition.File, prune bool) ([]Change, error) {
	var changes []Change
	var problems []error
	defined := map[string]string{}
	for _, f := range files {
		slug := f.Prism.Slug
		if other, twice := defined[slug]; twice {
			problems = append(problems, &FileError{f.At("slug"), slug + " is defined in " + other + " too"})
			continue
		}
		defined[slug] = f.At("slug")
		change, err := plan(ctx, c, f)
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

func plan(ctx context.Context, c *client.Client, f definition.File) (Change, error) {
	change := Change{Slug: f.Prism.Slug, file: f}
	after := definition.Normal(f.Prism)
	p, err := c.ReadPrism(ctx, f.Prism.Slug)
	// ReadPrism also takes an id. An id is no valid slug, which creating the prism will report.
	if errors.Is(err, client.ErrNotFound) || err == nil && p.Slug != f.Prism.Slug {
		change.Create = true
		change.Diff = diff.Lines("", definition.YAML(after))
		return change, nil
	}
	if err != nil {
		return change, err
	}
	before := definition.Normal(definition.Of(p))
	if before.Name != after.Name {
		return change, &FileError{f.At("name"), "the name of " + p.Slug + " can't change after it was created"}
	}
	change.before = p
	change.Unarchive = p.ArchivedAt != nil
	change.Version = !definition.SameVersion(before, after)
	change.Lens = !definition.SameLens(before, after)
	if change.Version || change.Lens {
		change.Diff = diff.Lines(definition.YAML(before), definition.YAML(after))
	}
	return change, nil
}

// ErrChanged tells that somebody else changed the prism after the plan was made.
var ErrChanged = errors.New("it changed after the plan was made: run apply again")

// Do makes the change.
func (c Change) Do(ctx context.Context, to *client.Client) error { return c.located(c.do(ctx, to)) }

// Check returns the error that Do would return, and changes nothing.
func (c Change) Check(ctx context.Context, with *client.Client) error {
	return c.located(c.check(ctx, with))
}

func (c Change) check(ctx context.Context, with *client.Client) (err error) {
	p := c.file.Prism
	if !c.Version && c.Lens {
		p = definition.Of(c.before)
		p.Lens = definition.Normal(c.file.Prism).Lens
	}
	switch {
	case c.Create:
		_, err = with.CheckPrism(ctx, p)
	case c.Unarchive && (c.Version || c.Lens):
		// An archived prism takes no change before it is unarchived: check the definition as one of a new prism.
		p.Slug = "check-" + strings.ToLower(rand.Text())
		_, err = with.CheckPrism(ctx, p)
	case c.Version:
		_, err = with.CheckVersion(ctx, c.before.ID, p.NewVersion)
	case c.Lens:
		_, err = with.CheckLens(ctx, c.before.ID, *p.Lens)
	}
	return err
}

// located gives a definition that the server refuses its lines in the file.
func (c Change) located(err error) error {
	var refused *client.Error
	if errors.As(err, &refused) && refused.Code == client.CodeValidationFailed {
		return &InvalidError{c.file, refused}
	}
	return err
}

func (c Change) do(ctx context.Context, to *client.Client) error {
	if c.Create {
		_, err := to.CreatePrism(ctx, c.file.Prism)
		return err
	}
	now, err := to.ReadPrism(ctx, c.before.ID)
	if err != nil {
		return err
	}
	if now.LatestVersion != c.before.LatestVersion || !reflect.DeepEqual(now.Lens, c.before.Lens) || (now.ArchivedAt == nil) != (c.before.ArchivedAt == nil) {
		return ErrChanged
	}
	if c.Archive {
		_, err := to.ArchivePrism(ctx, c.before.ID)
		return err
	}
	if c.Unarchive {
		if _, err := to.UnarchivePrism(ctx, c.before.ID); err != nil {
			return err
		}
	}
	switch {
	case c.Version:
		// The version brings the file's Lens, or else the derived Lens.
		_, err = to.CreateVersion(ctx, c.before.ID, c.file.Prism.NewVersion)
	case c.Lens:
		_, err = to.ReplaceLens(ctx, c.before.ID, *definition.Normal(c.file.Prism).Lens)
	}
	return err
}

// InvalidError is a definition that the server refuses, with the place of each problem in the file.
type InvalidError struct {
	file definition.File
	err  *client.Error
}

func (e *InvalidError) Unwrap() error { return e.err }

// Error adds file and line to each problem of the server's message. A message of another form stays as it is.
func (e *InvalidError) Error() string {
	listed, ok := strings.CutPrefix(e.err.Message, "Invalid request: ")
	if !ok {
		return e.file.At("") + ": " + e.err.Message
	}
	var lines []string
	for _, problem := range strings.Split(listed, "; ") {
		path, _, _ := strings.Cut(problem, ": ")
		if strings.HasPrefix(path, "columns") {
			path = "lens." + path // the body of PUT lens is the Lens
		}
		lines = append(lines, e.file.At(path)+": "+problem)
	}
	return strings.Join(lines, "\n")
}
