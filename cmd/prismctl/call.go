package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/cmd/prismctl/internal/digits"
	"github.com/prism-results/prism/pkg/strictjson"
)

func (a *app) call() *cobra.Command {
	var in input
	var output *output
	cmd := a.calling(description{
		use: "call PRISM", short: "Answer a text through a prism and save the result",
		example: `prismctl call language --text "Is this English?"
prismctl call tickets --field subject="Parcel 20418" --field-file message=mail.txt --ref ticket-4711
prismctl call language -o json --jq .answers.english < mail.txt`,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		r, err := in.result(cmd.Context(), a)
		if err != nil {
			return err
		}
		ctx := cmd.Context()
		err = a.show(ctx, c, output, func(o client.CallOption) (client.Result, error) { return c.CreateResult(ctx, args[0], r, o) })
		return explainFields(ctx, c, args[0], r, err)
	})
	cmd.Long = `Answer a text through a prism, and save the result.

For a prism with one field, the text is --text, --text-file or standard input. Fields are --field or
--field-file, or all at once --fields, a JSON object. A file named - is standard input.

Every call has an idempotency key, a new one unless you give one, so that prismctl can repeat the call
when the connection is lost.`
	in.flags(cmd)
	output = outputFlag(cmd, resultFormats...)
	cmd.ValidArgsFunction = a.completePrisms
	return cmd
}

// input is the flags of a call.
type input struct {
	text, textFile       string
	fields, fieldFiles   []string
	allFields            string
	version              int
	key, ref, background string
	isSet                func(flag string) bool
}

func (in *input) flags(cmd *cobra.Command) {
	in.valueFlags(cmd)
	f := cmd.Flags()
	f.IntVar(&in.version, "version", 0, "version that answers, instead of the latest")
	f.StringVar(&in.key, "idempotency-key", "", "your own name for the call, which makes it safe to run the command again")
	f.StringVar(&in.ref, "ref", "", "your own reference, stored with the result")
}

// valueFlags adds the flags of what the model reads.
func (in *input) valueFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&in.text, "text", "", "the text, for a prism with one field")
	allowEmpty(cmd, "text") // result says what to do instead
	f.StringVar(&in.textFile, "text-file", "", "file with the text")
	f.StringArrayVar(&in.fields, "field", nil, "`KEY=VALUE` of a field; may be repeated")
	f.StringArrayVar(&in.fieldFiles, "field-file", nil, "`KEY=FILE` with the value of a field; may be repeated")
	f.StringVar(&in.allFields, "fields", "", "file with all fields as a JSON object")
	f.StringVar(&in.background, "background", "", "what the model should know beside the fields")
	cmd.MarkFlagsMutuallyExclusive("text", "text-file", "fields", "field")
	cmd.MarkFlagsMutuallyExclusive("text", "text-file", "fields", "field-file")
	in.isSet = f.Changed
}

func (in *input) result(ctx context.Context, a *app) (client.NewResult, error) {
	r := client.NewResult{Version: in.version, IdempotencyKey: in.key, Ref: in.ref, Context: in.background}
	if r.IdempotencyKey == "" {
		r.IdempotencyKey = client.NewIdempotencyKey()
	}
	var err error
	switch {
	case in.isSet("text"):
		r.Text = in.text
	case in.isSet("text-file"):
		r.Text, err = a.readText(ctx, in.textFile)
	case in.isSet("fields"):
		r.Fields, err = a.readFields(ctx, in.allFields)
	case in.isSet("field"), in.isSet("field-file"):
		r.Fields, err = in.eachField(ctx, a)
	case isTerminal(a.in):
		err = usage(errors.New("there is no text: use --text, --field or standard input"))
	default:
		r.Text, err = a.readText(ctx, "-")
	}
	if err == nil && r.Fields == nil && r.Text == "" {
		err = usage(errors.New("the text is empty: send an empty value with the key of its field, --field KEY="))
	}
	return r, err
}

func (in *input) eachField(ctx context.Context, a *app) (map[string]string, error) {
	fields := map[string]string{}
	for i, pairs := range [][]string{in.fields, in.fieldFiles} {
		flag := []string{"field", "field-file"}[i]
		for _, pair := range pairs {
			key, value, ok := strings.Cut(pair, "=")
			if _, twice := fields[key]; !ok || twice {
				return nil, usage(fmt.Errorf("--%s takes KEY=…, and each key once", flag))
			}
			if flag == "field-file" {
				var err error
				if value, err = a.readText(ctx, value); err != nil {
					return nil, err
				}
			}
			fields[key] = value
		}
	}
	return fields, nil
}

func (a *app) readFields(ctx context.Context, name string) (map[string]string, error) {
	text, err := a.readText(ctx, name)
	if err != nil {
		return nil, err
	}
	// encoding/json would replace what is not UTF-8, and read null as an empty text.
	var read map[string]*string
	err = strictjson.Unmarshal([]byte(text), &read, strictjson.AllowDuplicateNames(true))
	fields := make(map[string]string, len(read))
	for key, value := range read {
		if value == nil {
			err = errors.New("null")
			break
		}
		fields[key] = *value
	}
	if err != nil || read == nil {
		return nil, invalid(fmt.Errorf("%s is not a JSON object of texts", name))
	}
	return fields, nil
}

// maxInput is larger than any valid call, and than the definitions of an account. The rest of a larger input is not read.
const maxInput = 64 << 20

// read reads a file or standard input.
func (a *app) read(ctx context.Context, name string) ([]byte, error) {
	from := a.in
	if name == "-" {
		if a.inputRead {
			return nil, usage(errors.New("standard input can be read only once"))
		}
		a.inputRead = true
	} else {
		file, err := os.Open(name) //nolint:gosec // the user named it
		if err != nil {
			return nil, usage(err)
		}
		defer func() { _ = file.Close() }()
		from = file
	}
	return await(ctx, func() ([]byte, error) { return io.ReadAll(io.LimitReader(from, maxInput)) })
}

// readText reads a text without the line end of its last line.
func (a *app) readText(ctx context.Context, name string) (string, error) {
	text, err := a.read(ctx, name)
	return strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r"), err
}

// resultFormats are those of one result: a table, and what the API has, also as YAML.
var resultFormats = []string{"table", "json", "raw", "yaml", "csv", "tsv", "jsonl"}

// show writes the result of a call in a format. For a failed result it returns the error too.
func (a *app) show(ctx context.Context, c *client.Client, o *output, call func(client.CallOption) (client.Result, error)) error {
	f := client.Format(o.format)
	if o.format == "table" || o.format == "yaml" {
		f = client.JSON
	}
	result, err := call(client.WithFormat(f))
	body := result.Body
	var failed *client.FailedError
	switch {
	case errors.As(err, &failed) && failed.Result != nil:
		result, body = *failed.Result, failed.Body
	case failed != nil:
		body = failed.Body
	case err != nil:
		return err
	}
	switch {
	case o.format == "table":
		return errors.Join(a.showResult(result), err)
	case err == nil && !a.exact && (f == client.CSV || f == client.TSV):
		body, err = shorten(ctx, c, f, body)
	case !bytes.HasSuffix(body, []byte("\n")): // the API ends a JSON result without one
		body = append(body, '\n')
	}
	return errors.Join(err, a.writeText(ctx, o, body))
}

// shorten rounds the numbers of a csv or tsv table with one result. Its first cell is the result's id.
func shorten(ctx context.Context, c *client.Client, f client.Format, table []byte) ([]byte, error) {
	header := bytes.IndexByte(table, '\n') + 1
	r, err := c.ReadResult(ctx, string(digits.Cells(table[header:], f, client.TextStyle{})[0]), client.WithFormat(client.JSON))
	if err != nil {
		return table, err
	}
	numbers := map[string]bool{}
	for _, cell := range r.Row {
		_, numbers[cell.Column] = cell.Value.(float64)
	}
	rows := digits.NewRows(f, client.TextStyle{}, numbers)
	return append(rows.Row(table[:header]), rows.Row(table[header:])...), nil
}

// showResult writes a result for people.
func (a *app) showResult(r client.Result) error {
	rows := []row{
		{cells: []string{"id", r.ID}},
		{cells: []string{"prism", fmt.Sprintf("%s, version %d", r.Prism, r.Version)}},
	}
	if r.Ref != nil {
		rows = append(rows, row{cells: []string{"ref", *r.Ref}})
	}
	status := row{cells: []string{"status", string(r.Status)}, color: statusColors[r.Status]}
	if r.Error != nil {
		status.cells[1] += ": " + *r.Error
	}
	rows = append(rows, row{cells: []string{"created", fmt.Sprintf("%s, took %d ms", r.CreatedAt, r.TookMS)}}, status)
	if err := table(a.out, rows); err != nil || len(r.Row) == 0 {
		return err
	}
	return a.showAnswers(r.Row)
}

func (a *app) showAnswers(answers client.Row) error {
	rows := []row{}
	for _, answer := range answers {
		rows = append(rows, row{cells: []string{answer.Column, a.cell(answer.Value)}})
	}
	return tableBelow(a.out, rows)
}

func (a *app) cell(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		if a.exact {
			return strconv.FormatFloat(v, 'f', -1, 64)
		}
		return digits.Short(v)
	}
	return "-"
}
