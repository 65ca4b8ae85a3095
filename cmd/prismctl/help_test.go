package main

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestEveryCommandExplainsItself walks the tree of commands: each has a short text in one form, and examples that are commands
// which prismctl takes.
func TestEveryCommandExplainsItself(t *testing.T) {
	t.Parallel()
	root := newApp().root()
	visit := func(c *cobra.Command) {
		path := c.CommandPath()
		if first, _ := utf8.DecodeRuneInString(c.Short); !unicode.IsUpper(first) || strings.HasSuffix(c.Short, ".") {
			t.Errorf("%s: the text %q does not begin with a capital letter, or ends with a period", path, c.Short)
		}
		lines := 0
		for line := range strings.Lines(c.Example) {
			args, ok := prismctlOf(line)
			if !ok {
				t.Errorf("%s: the example %q does not call prismctl", path, line)
				continue
			}
			lines++
			if got, err := parsed(args); err != nil {
				t.Errorf("%s: the example %q: %v", path, line, err)
			} else if !strings.HasPrefix(got+" ", path+" ") && !shortOf(got, c) {
				t.Errorf("%s: the example %q is of %s", path, line, got)
			}
		}
		if lines == 0 {
			t.Errorf("%s has no example", path)
		}
	}
	visit(root)
	eachCommand(root, visit)
}

// shortOf tells that a path is short for a command or one of its subcommands, as "prismctl retry" is for "prismctl results retry".
func shortOf(path string, c *cobra.Command) bool {
	name := path[strings.LastIndexByte(path, ' ')+1:]
	sub, _, err := c.Find([]string{name})
	return err == nil && sub.Name() == name || c.Name() == name
}

// parsed reads a command line as prismctl does, without running the command, and returns the command.
func parsed(args []string) (string, error) {
	c, rest, err := newApp().root().Find(args)
	if err != nil {
		return "", err
	}
	if err := c.ParseFlags(rest); err != nil {
		return "", err
	}
	for _, check := range []func() error{
		func() error { return c.ValidateArgs(c.Flags().Args()) }, c.ValidateRequiredFlags, c.ValidateFlagGroups, outputOf(c).check,
	} {
		if err := check(); err != nil {
			return "", err
		}
	}
	return c.CommandPath(), nil
}

// prismctlOf are the arguments of prismctl in a line of a shell: behind the last pipe that leads to it, with quotes removed, and
// without redirections.
func prismctlOf(line string) (args []string, ok bool) {
	var words []string
	word, open, quote := "", false, rune(0)
	end := func() {
		if open {
			words = append(words, word)
		}
		word, open = "", false
	}
	for _, r := range line {
		switch {
		case r == quote:
			quote = 0
		case quote != 0:
			word += string(r)
		case r == '\'' || r == '"':
			quote, open = r, true
		case unicode.IsSpace(r):
			end()
		case r == '|' || r == '<' || r == '>' || r == '(' || r == ')':
			end()
			words = append(words, string(r))
		default:
			word, open = word+string(r), true
		}
	}
	end()
	for i := 0; i < len(words); i++ {
		switch {
		case words[i] == "prismctl":
			args, ok = nil, true
		case !ok:
		case words[i] == "|" || words[i] == ")":
			if i+1 == len(words) || words[i+1] != "prismctl" {
				return args, ok
			}
		case words[i] == "<" || words[i] == ">":
			i++
		default:
			args = append(args, words[i])
		}
	}
	return args, ok && quote == 0
}

// TestOutputIsTheFormatEverywhere holds that -o is the output format in every command that has it, and that no command has another
// flag of that name.
func TestOutputIsTheFormatEverywhere(t *testing.T) {
	t.Parallel()
	eachCommand(newApp().root(), func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			o, is := f.Value.(*output)
			if is != (f.Name == "output") || is != (f.Shorthand == "o") {
				t.Errorf("%s has --%s, -%s, which is an output: %t", c.CommandPath(), f.Name, f.Shorthand, is)
			}
			if is && o.format != o.known[0] && (o.format != "" || o.file == nil) { // the format of a download is that of its file
				t.Errorf("%s writes %s", c.CommandPath(), o.format)
			}
			if first, _ := utf8.DecodeRuneInString(f.Usage); unicode.IsUpper(first) {
				t.Errorf("%s --%s: the text %q begins with a capital letter", c.CommandPath(), f.Name, f.Usage)
			}
		})
		if o := outputOf(c); o != nil && (c.Flags().Lookup("jq") != nil) != o.knows("json") {
			t.Errorf("%s has --jq without json, or json without --jq", c.CommandPath())
		}
	})
}
