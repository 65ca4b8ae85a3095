package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/cmd/prismctl/internal/apply"
	"github.com/prism-results/prism/pkg/definition"
)

func (a *app) apply() *cobra.Command {
	var (
		files                       []string
		yes, dryRun, prune, exitSet bool
		taken                       client.ExamplesFromLabels
	)
	cmd := a.calling(description{
		use: "apply -f FILE|FOLDER", short: "Create and change prisms as files define them",
		example: `prismctl prisms apply -f prisms/ --dry-run
prismctl prisms apply -f tickets.yaml --yes
prismctl prisms apply -f tickets.yaml --examples-from-labels topic --examples 12
prismctl prisms get tickets | prismctl --context staging prisms apply -f - --yes`,
	}, func(cmd *cobra.Command, c *client.Client, _ []string) error {
		if exitSet && !dryRun {
			return usage(errors.New("--exit-code goes with --dry-run"))
		}
		read, err := a.definitions(cmd.Context(), files)
		if err != nil {
			return err
		}
		var from *client.ExamplesFromLabels
		if taken.Question != "" {
			if from = &taken; len(read) > 1 {
				return usage(errors.New("--examples-from-labels goes with a file of one prism"))
			}
		} else if cmd.Flags().Changed("examples") || cmd.Flags().Changed("examples-seed") {
			return usage(errors.New("--examples and --examples-seed go with --examples-from-labels"))
		}
		changes, err := apply.Plan(cmd.Context(), c, read, prune, from)
		if err != nil {
			return err
		}
		todo := a.showPlan(changes)
		switch {
		case todo == 0:
			return nil
		case exitSet:
			return &codeError{exitChanges, errTold}
		case dryRun:
			return nil
		case !yes:
			if err := a.confirm(cmd.Context(), todo); err != nil {
				return err
			}
		}
		for _, change := range changes {
			if change.None() {
				continue
			}
			if err := change.Do(cmd.Context(), c); err != nil {
				return &aboutError{change.Slug, err}
			}
			_, _ = fmt.Fprintf(a.out, "%s: %s: done\n", change.Slug, change.Summary())
		}
		return nil
	})
	cmd.Long = `Create and change prisms as files define them: create missing prisms, add a version if fields, questions,
instructions or model changed, replace the Lens if only the Lens changed, rename prisms, unarchive archived ones, and leave out of
searches those with searchable: false. The changes are shown first.

A folder stands for every .yaml, .yml and .json file in it and below, and - for standard input. A file can
hold several prisms, separated by lines of ---. Without a lens in the file, a prism has the Lens derived from
its questions.

With --examples-from-labels QUESTION the version has examples that Prism takes from labels of the question, as many of each value as of
any other. They are shown before they are applied; prisms get prints a file with them.`
	cmd.Flags().StringArrayVarP(&files, "file", "f", nil, "file or folder with definitions; may be repeated")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask before changing anything")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show what would change and check it, but change nothing")
	cmd.Flags().BoolVar(&exitSet, "exit-code", false, fmt.Sprintf("with --dry-run, exit with %d when something would change", exitChanges))
	cmd.Flags().BoolVar(&prune, "prune", false, "archive the account's prisms that no file defines")
	cmd.Flags().StringVar(&taken.Question, "examples-from-labels", "", "key of a question, from whose labels the examples are taken")
	cmd.Flags().IntVar(&taken.N, "examples", 12, "how many examples are taken, 40 at most")
	cmd.Flags().Int32Var(&taken.Seed, "examples-seed", 0, "which labels are taken: one seed and the same labels are always the same examples")
	completeFlag(cmd, "examples-from-labels", cobra.NoFileCompletions)
	mustExist("file", cmd.MarkFlagFilename("file", "yaml", "yml", "json"))
	return cmd
}

// definitions reads the named files and folders.
func (a *app) definitions(ctx context.Context, names []string) ([]definition.File, error) {
	if len(names) == 0 {
		return nil, usage(errors.New("name files or folders with -f"))
	}
	var files []definition.File
	var problems []error
	for _, name := range names {
		found, err := definitionFiles(name)
		if err != nil {
			return nil, usage(err)
		}
		for _, name := range found {
			text, err := a.read(ctx, name)
			if name == "-" {
				name = "standard input"
			}
			read, decodeErr := definition.Decode(name, text)
			files, problems = append(files, read...), append(problems, cmp.Or(err, decodeErr))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, invalid(err)
	}
	if len(files) == 0 {
		return nil, usage(errors.New("there is no prism in " + strings.Join(names, ", ")))
	}
	return files, nil
}

// definitionFiles returns the definition files of a folder, or the file itself. Names that begin with a dot are skipped.
func definitionFiles(name string) (paths []string, err error) {
	if name == "-" {
		return []string{name}, nil
	}
	err = filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == name && !entry.IsDir():
			paths = append(paths, path)
		case path != name && strings.HasPrefix(entry.Name(), "."):
			if entry.IsDir() {
				return filepath.SkipDir
			}
		case !entry.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path)):
			paths = append(paths, path)
		}
		return nil
	})
	return paths, err
}

// showPlan prints the plan and counts the changes.
func (a *app) showPlan(changes []apply.Change) (todo int) {
	for _, change := range changes {
		if change.None() {
			_, _ = fmt.Fprintf(a.out, "%s: %s\n", change.Slug, change.Summary())
			continue
		}
		todo++
		_, _ = fmt.Fprintln(a.out, a.out.paint(bold, change.Slug+": "+change.Summary()))
		for i, line := range strings.Split(strings.TrimSpace(change.Diff), "\n") {
			switch {
			case i < 3: // the header, and the place of the first hunk
			case strings.HasPrefix(line, "@@"):
				_, _ = fmt.Fprintln(a.out, "    ...")
			default:
				text := strings.TrimRight(line[:1]+" "+printable(line[1:]), " ")
				_, _ = fmt.Fprintln(a.out, "  "+a.out.paint(diffColors[line[0]], text))
			}
		}
	}
	return todo
}

var diffColors = map[byte]color{'+': green, '-': red}

// confirm asks whether to make changes.
func (a *app) confirm(ctx context.Context, todo int) error {
	subject := "this change"
	if todo > 1 {
		subject = fmt.Sprintf("these %d changes", todo)
	}
	return a.ask(ctx, "Make "+subject+"?")
}

// ask asks a question on a terminal, and returns an error unless the answer is yes. Without a terminal, --yes is required.
func (a *app) ask(ctx context.Context, question string) error {
	if !isTerminal(a.in) {
		return usage(errors.New("there is no terminal to ask on: add --yes, or --dry-run"))
	}
	_, _ = fmt.Fprintf(a.err, "%s [y/N] ", question)
	answer, err := readLine(ctx, bufio.NewReader(a.in))
	if err != nil {
		return err
	}
	if answer := strings.ToLower(answer); answer != "y" && answer != "yes" {
		return &codeError{exitError, errors.New("nothing was changed")}
	}
	return nil
}
