package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/prism-results/prism/client"
)

// output is the format in which a command writes: the value of -o, which means this in every command, and of --jq.
type output struct {
	format string
	known  []string // the first is the default
	jq     string
	flags  *pflag.FlagSet
	file   *string // that -o may name in place of --file; nil: it may not
	named  bool    // -o named it
}

// The formats of lists and of single things. A table and wide are for people, and csv has the columns of wide. The others have
// every member of the API.
var (
	listFormats = []string{"table", "wide", "json", "yaml", "csv", "jsonl"}
	oneFormats  = []string{"table", "json", "yaml", "jsonl"}
)

// outputFlag adds -o with these formats, of which the first is the default, and --jq if json is one of them.
func outputFlag(cmd *cobra.Command, known ...string) *output {
	o := &output{format: known[0], known: known, flags: cmd.Flags()}
	cmd.Flags().VarP(o, "output", "o", "output format: "+alternatives(known))
	choices(cmd, "output", known...)
	if o.knows("json") {
		cmd.Flags().StringVar(&o.jq, "jq", "", "what to write of the JSON, in the language of jq; texts are written without quotes")
		completeFlag(cmd, "jq", cobra.NoFileCompletions)
	}
	return o
}

// outputOf is the output of a command, or nil for one without -o.
func outputOf(cmd *cobra.Command) *output {
	if f := cmd.Flags().Lookup("output"); f != nil {
		return f.Value.(*output)
	}
	return nil
}

func (o *output) knows(format string) bool { return slices.Contains(o.known, format) }

func (o *output) String() string { return o.format }

// Type is how help names the value.
func (*output) Type() string { return "format" }

// Set takes only formats that the command has.
func (o *output) Set(format string) error {
	switch {
	case o.knows(format):
		o.format = format
		return nil
	case o.file != nil && strings.ContainsAny(format, "./"):
		*o.file, o.named = format, true
		return nil
	case strings.ContainsAny(format, "./") && o.flags.Lookup("file") != nil:
		return fmt.Errorf("it is the output format, %s; a file is --file %s", alternatives(o.known), format)
	}
	return fmt.Errorf("unknown output %q: %s", format, alternatives(o.known))
}

// check checks --jq, which reads JSON: without -o it makes the format json.
func (o *output) check() error {
	switch {
	case o == nil || o.jq == "":
		return nil
	case !o.flags.Changed("output"):
		o.format = "json"
	case !o.isJSON():
		return usage(fmt.Errorf("--jq goes with -o json or jsonl, not %s", o.format))
	}
	_, err := compile(o.jq) // before Prism is called
	return err
}

// fromExtension takes the format from the extension of a file name, unless -o says one.
func (o *output) fromExtension(name string) error {
	extension := strings.ToLower(strings.TrimPrefix(filepath.Ext(name), "."))
	if extension == "" || o.flags.Changed("output") && !o.named {
		return nil
	}
	if !o.knows(extension) {
		return usage(fmt.Errorf("unknown format %q of the file: name a %s file, or give -o", extension, alternatives(o.known)))
	}
	o.format = extension
	return nil
}

func (o *output) isJSON() bool {
	return o != nil && (o.format == "json" || o.format == "jsonl" || o.format == "raw")
}

// alternatives are words with "or" before the last.
func alternatives(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// plural is a number of things in words, such as "1 row" or "2 rows".
func plural[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// choices sets what a shell completes for a flag.
func choices(cmd *cobra.Command, flag string, values ...string) {
	completeFlag(cmd, flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

func completeFlag(cmd *cobra.Command, flag string, values cobra.CompletionFunc) {
	mustExist(flag, cmd.RegisterFlagCompletionFunc(flag, values))
}

// write writes a value as json, jsonl or yaml.
func (a *app) write(ctx context.Context, o *output, v any) error {
	var text bytes.Buffer
	indent := map[string]string{"json": "  "}[o.format]
	if err := writeJSON(&text, v, indent); err != nil {
		return err
	}
	return a.writeText(ctx, o, text.Bytes())
}

// writeText is write for a value that is JSON text already.
func (a *app) writeText(ctx context.Context, o *output, text []byte) error {
	switch {
	case o.jq != "":
		return query(ctx, a.out, o.jq, text)
	case o.format == "yaml":
		return writeYAML(a.out, text)
	}
	_, err := a.out.Write(text)
	return err
}

// writeOne writes a single thing: with show for people, or as JSON or YAML.
func (a *app) writeOne(ctx context.Context, o *output, v any, show func() error) error {
	if o.format == "table" {
		return show()
	}
	return a.write(ctx, o, v)
}

func writeJSON(w io.Writer, v any, indent string) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	return e.Encode(v)
}

// list writes items as they arrive. A table, json and yaml need all items first.
func list[T any](ctx context.Context, a *app, o *output, items iter.Seq2[T, error], c columns, rowOf func(T) row) error {
	all, rows, lines := []T{}, []row{}, csv.NewWriter(a.out)
	if o.format == "csv" {
		if err := lines.Write(strings.Fields(c.all)); err != nil {
			return err
		}
	}
	for item, err := range items {
		switch {
		case err != nil:
		case o.format == "csv":
			err = lines.Write(rowOf(item).cells)
		case o.format == "jsonl":
			err = a.write(ctx, o, item)
		case o.format == "table" || o.format == "wide":
			rows = append(rows, rowOf(item))
		default:
			all = append(all, item)
		}
		if err != nil {
			lines.Flush()
			return err
		}
	}
	if len(rows)+len(all) == 0 && a.out.terminal && o.format != "csv" && o.format != "jsonl" {
		_, _ = fmt.Fprintln(a.err, "The list is empty.")
	}
	switch o.format {
	case "json", "yaml":
		return a.write(ctx, o, all)
	case "table":
		return table(a.out, c.short(rows, time.Now(), a.out.room()))
	case "wide":
		return table(a.out, c.wide(rows))
	}
	lines.Flush()
	return lines.Error()
}

// listSize is how many items a list shows.
type listSize struct {
	limit int
	all   bool
}

// flags adds --limit and --all.
func (m *listSize) flags(cmd *cobra.Command) {
	cmd.Flags().IntVar(&m.limit, "limit", 50, "how many at most")
	cmd.Flags().BoolVar(&m.all, "all", false, "list all, however many there are")
}

// items is the number of items, or 0 for all.
func (m *listSize) items() (int, error) {
	switch {
	case m.limit < 1:
		return 0, usage(errors.New("--limit is at least 1; --all lists all"))
	case m.all:
		return 0, nil
	}
	return m.limit, nil
}

// first returns the first n items, or all if n is 0.
func first[T any](items iter.Seq2[T, error], n int) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for item, err := range items {
			if n--; !yield(item, err) || n == 0 {
				return
			}
		}
	}
}

// each iterates over a slice.
func each[T any](items []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, item := range items {
			if !yield(item, nil) {
				return
			}
		}
	}
}

var statusColors = map[client.Status]color{client.Failed: red}
