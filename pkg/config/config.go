// Package config reads the settings of a binary from environment variables (spec: settings-are-listed, required-settings). The
// settings are typed. All problems are reported at once, each with the variable, the problem and an example, and no secret.
package config

import (
	"cmp"
	"encoding"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"reflect"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/prism-results/prism/pkg/build"
)

// ErrHelp means that --help or --version was printed and the program ends.
var ErrHelp = flag.ErrHelp

// Environment is where settings come from.
type Environment struct {
	// Name is the name of the binary, for --help.
	Name string
	// Called is how the user called the binary, such as bin/prism, for commands in what it prints.
	Called string
	// Commands is the text of --help about commands other than serve. Optional.
	Commands string
	// Get reads a variable and tells whether it is set.
	Get func(string) (string, bool)
	// Unset removes a secret, or a URL that may hold one, after it was read, so that no child process and no dump has it.
	// Optional.
	Unset func(string) error
}

// OS is the process environment of the binary that is called name.
func OS(name string) Environment {
	return Environment{Name: name, Called: os.Args[0], Get: os.LookupEnv, Unset: os.Unsetenv}
}

// Getenv reads a variable as os.Getenv does.
func (e Environment) Getenv(name string) string {
	v, _ := e.Get(name)
	return v
}

// Problem is one setting that is wrong.
type Problem struct{ Variable, Text, Example string }

// Invalid is settings that are wrong, all of them.
type Invalid []Problem //nolint:errname // config.Invalid reads as what it is

func (p Invalid) Error() string {
	lines := []string{"the settings are wrong:"}
	for _, problem := range p {
		line := "  " + problem.Variable + ": " + problem.Text
		if problem.Example != "" {
			line += " (for example " + problem.Variable + "=" + problem.Example + ")"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// variable is a field of a settings struct, by its tags:
//
//	Listen config.Address `env:"PRISM_LISTEN" default:"127.0.0.1:8080" help:"address of the API"`
//
// Further tags:
//   - required:"true" refuses a variable that is not set or empty; unless:"A B" does so only when neither A nor B is set;
//   - oneof:"a b" lists the values that are allowed, schemes:"a b" the schemes of a URL;
//   - least:"1" is the smallest number that is allowed, else 0;
//   - example:"…" is what an error shows.
type variable struct {
	name  string
	tag   reflect.StructTag
	value reflect.Value
}

// Parse fills a settings struct from the environment. The only command is serve, which can be left out. --help prints every
// variable, --version prints the version, and both return ErrHelp. Wrong settings are an Invalid.
func Parse[T any](args []string, env Environment, stdout io.Writer) (settings T, err error) {
	variables := walk(reflect.ValueOf(&settings).Elem())
	if len(args) > 0 && args[0] == "serve" {
		args = args[1:]
	}
	if len(args) > 0 {
		switch args[0] {
		case "--help", "-help", "-h":
			return settings, errors.Join(ErrHelp, help(stdout, env, variables))
		case "--version", "-version":
			_, err := fmt.Fprintln(stdout, env.Name, build.Read(debug.ReadBuildInfo))
			return settings, errors.Join(ErrHelp, err)
		}
		return settings, fmt.Errorf("unexpected argument %q; --help lists what there is", args[0])
	}
	var problems Invalid
	for _, v := range variables {
		if problem := v.read(env); problem != "" {
			allowed, _, _ := strings.Cut(v.tag.Get("oneof"), " ")
			problems = append(problems, Problem{v.name, problem, cmp.Or(v.tag.Get("example"), allowed, v.tag.Get("default"))})
		}
	}
	if len(problems) > 0 {
		return settings, problems
	}
	return settings, nil
}

func walk(s reflect.Value) (variables []variable) {
	for i := range s.NumField() {
		field, value := s.Type().Field(i), s.Field(i)
		if name, ok := field.Tag.Lookup("env"); ok {
			variables = append(variables, variable{name, field.Tag, value})
		} else if value.Kind() == reflect.Struct {
			variables = append(variables, walk(value)...)
		}
	}
	return variables
}

func (v variable) words(key string) []string { return strings.Fields(v.tag.Get(key)) }

// read sets the field of the variable and returns the problem with the value, without repeating the value.
func (v variable) read(env Environment) (problem string) {
	text := env.Getenv(v.name)
	if env.Unset != nil && v.holdsSecret(text) {
		_ = env.Unset(v.name) // on failure the variable stays set
	}
	text = cmp.Or(text, v.tag.Get("default")) // empty counts as unset: a manifest can empty a variable, not unset it
	allowed := v.words("oneof")
	switch {
	case text == "" && (v.tag.Get("required") == "true" || v.missing(env)):
		return "is required: " + v.tag.Get("help")
	case text == "":
		return ""
	case len(allowed) > 0 && !slices.Contains(allowed, text):
		return "must be one of " + strings.Join(allowed, ", ")
	}
	return v.set(text)
}

// missing is true when no variable of the tag unless is set. Those variables have to follow in the struct: reading a secret
// unsets its variable.
func (v variable) missing(env Environment) bool {
	names := v.words("unless")
	return len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool { return env.Getenv(name) != "" })
}

// holdsSecret is true for a Secret, for Tokens, and for a URL with a user or with parameters, which may hold one.
func (v variable) holdsSecret(text string) bool {
	switch v.value.Interface().(type) {
	case Secret, Tokens:
		return true
	case URL:
		return strings.ContainsAny(text, "@?")
	}
	return false
}

func (v variable) set(text string) (problem string) {
	switch field := v.value.Addr().Interface().(type) {
	case *string:
		*field = text
	case *Secret:
		*field = Secret(text)
	case *URL:
		return field.set(text, v.words("schemes"))
	case *int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return "must be a whole number"
		}
		*field = n
		return v.tooSmall(int64(n))
	case *time.Duration:
		d, err := time.ParseDuration(text)
		if err != nil {
			return "must be a duration such as 500ms, 10s or 2m"
		}
		*field = d
		return v.tooSmall(int64(d))
	case encoding.TextUnmarshaler:
		if err := field.UnmarshalText([]byte(text)); err != nil {
			return err.Error()
		}
	default:
		return "has a type that settings can't have: " + v.value.Type().String()
	}
	return ""
}

func (v variable) tooSmall(n int64) (problem string) {
	switch least, _ := strconv.ParseInt(v.tag.Get("least"), 10, 64); {
	case n >= least:
		return ""
	case least == 0:
		return "must not be negative"
	default:
		return fmt.Sprintf("must be %d or more", least)
	}
}

func help(w io.Writer, env Environment, variables []variable) error {
	if _, err := fmt.Fprintf(w, "Usage: %s [serve] [--version]\n\nSettings are environment variables:\n\n", env.Name); err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, v := range variables {
		fallback, text := cmp.Or(v.tag.Get("default"), "none"), v.tag.Get("help")
		if v.tag.Get("required") == "true" || v.tag.Get("unless") != "" {
			fallback = "required"
		}
		if allowed := v.words("oneof"); len(allowed) > 0 {
			text += ": " + strings.Join(allowed, ", ")
		}
		_, _ = fmt.Fprintf(t, "  %s\t%s\t%s\n", v.name, fallback, text)
	}
	if env.Commands != "" {
		_, _ = fmt.Fprintf(t, "\nCommands:\n%s", env.Commands)
	}
	return t.Flush()
}
