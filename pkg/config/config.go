// Package config reads the settings of a binary from environment variables (spec: settings-are-listed, required-settings). The
// settings are typed. All problems are reported at once, each with the variable, the problem and an example, and no secret.
package config

import (
	"encoding"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
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

// ErrHelp means that --help was printed and the program ends.
var ErrHelp = flag.ErrHelp

// Environment is where settings come from.
type Environment struct {
	// Name is the name of the binary, for --help.
	Name string
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
	return Environment{Name: name, Get: os.LookupEnv, Unset: os.Unsetenv}
}

// Getenv reads a variable as os.Getenv does.
func (e Environment) Getenv(name string) string {
	v, _ := e.Get(name)
	return v
}

// Problem is one setting that is wrong.
type Problem struct{ Variable, What, Example string }

// Invalid is settings that are wrong, all of them.
type Invalid []Problem //nolint:errname // config.Invalid reads as what it is

func (p Invalid) Error() string {
	lines := []string{"the settings are wrong:"}
	for _, one := range p {
		line := "  " + one.Variable + ": " + one.What
		if one.Example != "" {
			line += " (for example " + one.Variable + "=" + one.Example + ")"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// validator is a settings struct with cross checks.
type validator interface{ Validate() []Problem }

// variable is a field of a settings struct, by its tags:
//
//	Listen config.Address `env:"PRISM_LISTEN" default:"127.0.0.1:8080" help:"address of the API"`
//
// required:"true" refuses a variable that is not set or empty, oneof:"a b" lists the values that are allowed, schemes:"a b"
// those of a URL, and example:"…" is what an error shows.
type variable struct {
	name, fallback, help, example string
	required                      bool
	oneof, schemes                []string
	value                         reflect.Value
}

// Parse fills a settings struct from the environment. The only command is serve, which a bare start is too. --help, also
// behind the command, prints every variable and returns ErrHelp; --version does so for the version. Wrong settings are an Invalid.
func Parse[T any](args []string, env Environment, stdout io.Writer) (settings T, err error) {
	variables := walk(reflect.ValueOf(&settings).Elem())
	flags := flag.NewFlagSet(env.Name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	version := flags.Bool("version", false, "")
	if len(args) > 0 && args[0] == "serve" {
		args = args[1:]
	}
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return settings, errors.Join(ErrHelp, help(stdout, env, variables))
	case err != nil:
		return settings, fmt.Errorf("%w; settings are environment variables, --help lists them", err)
	case flags.NArg() > 0:
		return settings, fmt.Errorf("unexpected argument %q; --help lists what there is", flags.Arg(0))
	case *version:
		_, err := fmt.Fprintln(stdout, env.Name, build.Read(debug.ReadBuildInfo))
		return settings, errors.Join(ErrHelp, err)
	}
	var problems Invalid
	for _, v := range variables {
		if what := v.read(env); what != "" {
			problems = append(problems, Problem{v.name, what, v.shown()})
		}
	}
	for _, cross := range validate(reflect.ValueOf(&settings).Elem()) {
		// A variable that could not be read is its zero value, which is not validated.
		if !slices.ContainsFunc(problems, func(p Problem) bool { return p.Variable == cross.Variable }) {
			problems = append(problems, cross)
		}
	}
	if len(problems) > 0 {
		return settings, problems
	}
	return settings, nil
}

func walk(s reflect.Value) (found []variable) {
	for i := range s.NumField() {
		field, value := s.Type().Field(i), s.Field(i)
		name, ok := field.Tag.Lookup("env")
		if !ok {
			if value.Kind() == reflect.Struct {
				found = append(found, walk(value)...)
			}
			continue
		}
		found = append(found, variable{
			name: name, fallback: field.Tag.Get("default"), help: field.Tag.Get("help"), example: field.Tag.Get("example"),
			required: field.Tag.Get("required") == "true", oneof: strings.Fields(field.Tag.Get("oneof")),
			schemes: strings.Fields(field.Tag.Get("schemes")), value: value,
		})
	}
	return found
}

func validate(s reflect.Value) (problems []Problem) {
	if v, ok := s.Addr().Interface().(validator); ok {
		problems = v.Validate()
	}
	for i := range s.NumField() {
		if f := s.Field(i); f.Kind() == reflect.Struct && f.CanAddr() && s.Type().Field(i).IsExported() {
			if _, isURL := f.Interface().(URL); !isURL {
				problems = append(problems, validate(f)...)
			}
		}
	}
	return problems
}

// read sets the field of the variable and returns the problem with the value, without repeating the value.
func (v variable) read(env Environment) (what string) {
	text, _ := env.Get(v.name)
	if text == "" { // an empty variable is an unset one: a manifest can empty a variable, not unset it
		text = v.fallback
	}
	if env.Unset != nil && v.holdsSecret(text) {
		_ = env.Unset(v.name) // on failure the variable stays set
	}
	if text == "" {
		if v.required {
			return "is required: " + v.help
		}
		return ""
	}
	if len(v.oneof) > 0 && !slices.Contains(v.oneof, text) {
		return "must be one of " + strings.Join(v.oneof, ", ")
	}
	return v.set(text)
}

// holdsSecret is true for a Secret, and for a URL with a password or with parameters, which may hold one.
func (v variable) holdsSecret(text string) bool {
	switch v.value.Interface().(type) {
	case Secret:
		return true
	case URL:
		parsed, err := url.Parse(text)
		if err != nil {
			return true // a URL that does not parse may hold one
		}
		_, password := parsed.User.Password()
		return password || parsed.RawQuery != ""
	}
	return false
}

func (v variable) set(text string) (what string) {
	if u, ok := v.value.Addr().Interface().(*URL); ok {
		return u.set(text, v.schemes)
	}
	if t, ok := v.value.Addr().Interface().(encoding.TextUnmarshaler); ok {
		if err := t.UnmarshalText([]byte(text)); err != nil {
			return err.Error()
		}
		return ""
	}
	if _, ok := v.value.Interface().(time.Duration); ok {
		d, err := time.ParseDuration(text)
		if err != nil {
			return "must be a duration such as 500ms, 10s or 2m"
		}
		v.value.SetInt(int64(d))
		return ""
	}
	switch v.value.Kind() {
	case reflect.String:
		v.value.SetString(text)
	case reflect.Int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return "must be a whole number"
		}
		v.value.SetInt(int64(n))
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return "must be true or false"
		}
		v.value.SetBool(b)
	default:
		return "has a type that settings can't have: " + v.value.Type().String()
	}
	return ""
}

// shown is the example in an error.
func (v variable) shown() string {
	switch {
	case v.example != "":
		return v.example
	case len(v.oneof) > 0:
		return v.oneof[0]
	}
	return v.fallback
}

func help(w io.Writer, env Environment, variables []variable) error {
	if _, err := fmt.Fprintf(w, "Usage: %s [serve] [--version]\n\nSettings are environment variables:\n\n", env.Name); err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, v := range variables {
		_, _ = fmt.Fprintf(t, "  %s\t%s\t%s\n", v.name, v.fallbackText(), v.helpText())
	}
	if env.Commands != "" {
		_, _ = fmt.Fprintf(t, "\nCommands:\n%s", env.Commands)
	}
	return t.Flush()
}

func (v variable) fallbackText() string {
	switch {
	case v.fallback != "":
		return v.fallback
	case v.required:
		return "required"
	}
	return "none"
}

func (v variable) helpText() string {
	if len(v.oneof) == 0 {
		return v.help
	}
	return v.help + ": " + strings.Join(v.oneof, ", ")
}
