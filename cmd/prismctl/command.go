package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/prism-results/prism/client"
)

// description describes a command without subcommands.
type description struct {
	// use is the name, then the arguments: PRISM is required, ID... is one or more, [DAYS] may be left out. The arguments end at a
	// word that begins with "-". A command with the word "|" checks the number of its arguments itself.
	use     string
	short   string // begins with a capital letter and ends without a period
	example string // a command on each line
	// complete completes arguments. Without it a shell completes nothing.
	complete cobra.CompletionFunc
}

// command is a command without subcommands.
func (a *app) command(d description, do func(cmd *cobra.Command, args []string) error) *cobra.Command {
	if d.complete == nil {
		d.complete = cobra.NoFileCompletions
	}
	return &cobra.Command{
		Use: d.use, Short: d.short, Example: indent(d.example), Args: argumentsOf(d.use),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(givenNothing(cmd), outputOf(cmd).check()); err != nil {
				return err
			}
			a.ran = true
			return do(cmd, args)
		},
		ValidArgsFunction: d.complete,
	}
}

// calling is a command that calls Prism.
func (a *app) calling(d description, do func(cmd *cobra.Command, c *client.Client, args []string) error) *cobra.Command {
	return a.command(d, func(cmd *cobra.Command, args []string) error {
		c, _, err := a.client()
		if err != nil {
			return err
		}
		return unknownPrism(cmd, c, args, do(cmd, c, args))
	})
}

// unknownPrism adds to the error of a prism that the account does not have which one was meant, and which may have been.
func unknownPrism(cmd *cobra.Command, c *client.Client, args []string, err error) error {
	var refused *client.Error
	if !errors.As(err, &refused) || refused.Message != "Prism not found" || errors.As(err, new(*aboutError)) {
		return err
	}
	slug, _ := cmd.Flags().GetString("prism")
	if slug == "" && len(args) > 0 {
		slug = args[0]
	}
	var slugs []string
	for p, failed := range c.Prisms(cmd.Context(), client.PrismFilter{}) {
		if failed != nil {
			break // suggest one of those so far
		}
		slugs = append(slugs, p.Slug)
	}
	if near := closest(slug, slugs); near != "" {
		return &aboutError{slug, &hintError{err, "did you mean " + near + "?"}}
	}
	return &aboutError{slug, &hintError{err, "prismctl prisms list shows those that there are"}}
}

// mayBeEmpty is the annotation of flags for which an empty text is a value of its own.
const mayBeEmpty = "may be empty"

func allowEmpty(cmd *cobra.Command, flags ...string) {
	for _, flag := range flags {
		mustExist(flag, cmd.Flags().SetAnnotation(flag, mayBeEmpty, nil))
	}
}

// mustExist panics if err, of a call on a flag, says that the command has no such flag.
func mustExist(flag string, err error) {
	if err != nil {
		panic("prismctl: no such flag: " + flag)
	}
}

// givenNothing refuses a flag that is given without a value, as with a variable of a script that is not set. The command would
// else do what it does without the flag, such as delete more or make a key with more rights.
func givenNothing(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		_, allowed := f.Annotations[mayBeEmpty]
		switch kind, value := f.Value.Type(), f.Value.String(); {
		case kind == "string" && value == "" && !allowed:
			err = usage(fmt.Errorf("--%s is empty: leave it out", f.Name))
		case kind == "int" && value == "0" && (f.Name == "version" || f.Name == "from-labels-of"):
			err = usage(fmt.Errorf("--%s is at least 1", f.Name))
		}
	})
	return err
}

// required makes flags required.
func required(cmd *cobra.Command, flags ...string) {
	for _, flag := range flags {
		mustExist(flag, cmd.MarkFlagRequired(flag))
	}
}

// group is a command with subcommands.
func group(name, short string) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: short, Args: noSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
}

// useLine is the usage line of a command. That of a group ends with COMMAND.
func useLine(cmd *cobra.Command) string {
	if cmd.HasSubCommands() && !strings.Contains(cmd.Use, " ") {
		return cmd.CommandPath() + " COMMAND"
	}
	return cmd.UseLine()
}

// indent indents examples as help does.
func indent(lines string) string {
	return "  " + strings.ReplaceAll(lines, "\n", "\n  ")
}

// cobrasExamples are the examples of the commands that cobra makes.
var cobrasExamples = map[string]string{
	"help": "prismctl help results list",
	"bash": "prismctl completion bash > ~/.local/share/bash-completion/completions/prismctl",
	"zsh":  `prismctl completion zsh > "${fpath[1]}/_prismctl"`,
	"fish": "prismctl completion fish > ~/.config/fish/completions/prismctl.fish",

	"powershell": "prismctl completion powershell | Out-String | Invoke-Expression",
}

// giveExamples gives each group without examples the first example of each of its commands. That of list comes first.
func giveExamples(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		giveExamples(c)
	}
	if known := cobrasExamples[cmd.Name()]; known != "" {
		cmd.Example = indent(known)
	}
	if cmd.Example != "" {
		return
	}
	var firsts []string
	for _, c := range cmd.Commands() {
		first, _, _ := strings.Cut(c.Example, "\n")
		if c.Name() == "list" {
			firsts = slices.Insert(firsts, 0, first)
			continue
		}
		firsts = append(firsts, first)
	}
	cmd.Example = strings.Join(firsts, "\n")
}

// argumentsOf returns the check of a command's arguments by its use line. The error names the argument that is missing.
func argumentsOf(use string) cobra.PositionalArgs {
	if strings.Contains(use, " | ") {
		return cobra.ArbitraryArgs
	}
	var required []string
	maxArgs := 0
	for _, word := range strings.Fields(use)[1:] {
		if strings.HasPrefix(word, "-") {
			break
		}
		name, many := strings.CutSuffix(word, "...")
		if !strings.HasPrefix(word, "[") {
			required = append(required, name)
		}
		if maxArgs++; many {
			maxArgs = 1 << 30
		}
	}
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) < len(required):
			return fmt.Errorf("missing argument <%s>", strings.ToLower(required[len(args)]))
		case len(args) > maxArgs:
			return fmt.Errorf("unexpected argument %q", args[maxArgs])
		}
		return nil
	}
}

// noSuchCommand is the error for the name of a command that a group does not have.
func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	text := fmt.Sprintf("unknown command %q for %q", args[0], cmd.CommandPath())
	near := closest(args[0], names)
	if near == "" {
		near = alternatives(inGroups(cmd, args[0]))
	}
	if near != "" {
		text += ": did you mean " + near + "?"
	}
	return errors.New(text)
}

// inGroups are the commands with the name in the groups of a group, such as "prisms versions", or none if there are more than four.
func inGroups(cmd *cobra.Command, name string) (paths []string) {
	for _, c := range cmd.Commands() {
		for _, sub := range c.Commands() {
			if sub.Name() == name {
				paths = append(paths, c.Name()+" "+name)
			}
		}
	}
	if len(paths) > 4 {
		return nil
	}
	return paths
}

// flagsElsewhere are flags of other programs, and the flags that do the same here.
var flagsElsewhere = map[string]string{"format": "output", "out": "file"}

// unknownFlag adds to the error about an unknown flag the flag that was probably meant.
func unknownFlag(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	near := flagsElsewhere[unknown.GetSpecifiedName()]
	if !slices.Contains(names, near) {
		near = closest(unknown.GetSpecifiedName(), names)
	}
	if near == "" {
		return err
	}
	return fmt.Errorf("%w: did you mean --%s?", err, near)
}
