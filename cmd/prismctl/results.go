package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/cmd/prismctl/internal/digits"
)

func (a *app) results() *cobra.Command {
	results := group("results", "Read, list, retry, export and delete results")
	results.AddCommand(a.resultsGet(), a.resultsRecord(), a.resultsList(), a.retry(), a.export(), a.resultsDelete(), a.resultsCounts(),
		a.resultsComment(), a.resultsComments(), a.resultsUncomment(), a.resultsAssign(), a.resultsAssignee(), a.resultsAssignees())
	return results
}

func (a *app) resultsGet() *cobra.Command {
	var output *output
	cmd := a.calling(description{
		use: "get ID", short: "Read a result",
		example: `prismctl results get "$RESULT"
prismctl results get "$RESULT" -o raw`, complete: a.completeResults,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		ctx := cmd.Context()
		return a.show(ctx, c, output, func(o client.CallOption) (client.Result, error) { return c.ReadResult(ctx, args[0], o) })
	})
	output = outputFlag(cmd, resultFormats...)
	return cmd
}

func (a *app) resultsRecord() *cobra.Command {
	var output *output
	cmd := a.calling(description{
		use: "record ID", short: "Read everything that is kept of the call of a result",
		example: `prismctl results record "$RESULT"
prismctl results record "$RESULT" --jq .usage.cost`, complete: a.completeResults,
	}, func(cmd *cobra.Command, c *client.Client, args []string) error {
		record, err := c.ReadRecord(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		return a.write(cmd.Context(), output, record)
	})
	output = outputFlag(cmd, "json", "yaml", "jsonl")
	return cmd
}

func (a *app) resultsList() *cobra.Command {
	var (
		status, from, to string
		filter           client.ResultFilter
		size             listSize
		watch            bool
		every            time.Duration
		output           *output
	)
	cmd := a.calling(description{
		use: "list", short: "List results, newest first, or those of a run in the order of its rows",
		example: `prismctl results list --prism tickets --status failed
prismctl results list --from 2026-11-01 -o json --jq '.[].answers.topic'
prismctl results list --prism tickets --q 'refund -invoice' --where topic:is:billing --where topic:from:0.8 --sort -urgency@average
prismctl results list --prism tickets --watch`,
	}, func(cmd *cobra.Command, c *client.Client, _ []string) error {
		limit, err := size.items()
		if err != nil {
			return err
		}
		filter.Status = client.Status(status)
		filter.EmptyRef = cmd.Flags().Changed("ref") && filter.Ref == ""
		if filter.From, filter.To, err = period(from, to); err != nil {
			return err
		}
		if !watch {
			return list(cmd.Context(), a, output, first(c.Results(cmd.Context(), filter, client.WithFormat(client.JSON)), limit), resultColumns, a.resultRow)
		}
		if size.all || filter.Run != "" || filter.Sort != "" || !filter.To.IsZero() || every <= 0 {
			return usage(errors.New("--watch goes without --all, --run, --sort and --to, and --every is longer than 0"))
		}
		return a.watchResults(cmd.Context(), output, limit, every, func(from time.Time) iter.Seq2[client.Result, error] {
			since := filter
			if from.After(since.From) {
				since.From = from
			}
			return c.Results(cmd.Context(), since, client.WithFormat(client.JSON))
		})
	})
	output = outputFlag(cmd, listFormats...)
	selectFlags(cmd, &status, &filter.Ref, &filter.Model, &filter.KeyID, &filter.Run, &filter.ResultSearch)
	cmd.Flags().IntVar(&filter.Version, "version", 0, "only results of this version")
	timeFlags(cmd, &from, &to)
	assigneeFlag(cmd, &filter.Assignee)
	cmd.Flags().BoolVar(&filter.Fields, "fields", false, "in JSON and YAML, also what was sent with each call: its fields and context")
	cmd.Flags().StringVar(&filter.Sort, "sort", "", "order: @created, @took, a question, question.option, question@confidence; with - in front the greatest first")
	size.flags(cmd)
	a.prismFlag(cmd, &filter.Prism, "only results of this prism")
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "show the newest results, and then each new one, until Ctrl-C")
	cmd.Flags().DurationVar(&every, "every", 2*time.Second, "with --watch, how often Prism is asked")
	return cmd
}

var resultColumns = columns{"id ref prism version status took_ms created_at answers", "id prism~ ref~ status created_at:created"}

// timeFlags adds --from and --to.
func timeFlags(cmd *cobra.Command, from, to *string) {
	f := cmd.Flags()
	f.StringVar(from, "from", "", "only results created at this time or later, such as 2026-11-21 or 2026-11-21T09:00:00Z")
	f.StringVar(to, "to", "", "only results created before this time")
}

// searchFlags adds --q and --where.
func searchFlags(cmd *cobra.Command, s *client.ResultSearch) {
	cmd.Flags().StringVar(&s.Q, "q", "", "only results with these words")
	cmd.Flags().StringArrayVar(&s.Where, "where", nil, "only results for which this holds, such as topic:is:billing; may be given several times")
}

// assigneeFlag adds --assignee.
func assigneeFlag(cmd *cobra.Command, assignee *string) {
	cmd.Flags().StringVar(assignee, "assignee", "", "only results that are assigned to the member of this id, to me, or to none")
}

// callFlags adds --model and --key-id.
func callFlags(cmd *cobra.Command, model, key *string) {
	cmd.Flags().StringVar(model, "model", "", "only results of this model")
	cmd.Flags().StringVar(key, "key-id", "", "only results of calls with the API key of this id")
}

// selectFlags adds --status, --ref, --model, --key-id, --run, --q and --where.
func selectFlags(cmd *cobra.Command, status, ref, model, key, run *string, search *client.ResultSearch) {
	f := cmd.Flags()
	f.StringVar(status, "status", "", "only results with this status: ok or failed")
	choices(cmd, "status", "ok", "failed")
	f.StringVar(ref, "ref", "", "only results with this ref, which may be empty")
	allowEmpty(cmd, "ref")
	callFlags(cmd, model, key)
	f.StringVar(run, "run", "", "only results of the run of this id")
	searchFlags(cmd, search)
}

// matchFlags are the flags that select results of a prism to change, but for the one that ends the time.
type matchFlags struct {
	ref, from, until, status, model, key, run, assignee string
	version                                             int32
	search                                              client.ResultSearch
}

// addMatchFlags adds the flags. until is the one that ends the time.
func addMatchFlags(cmd *cobra.Command, m *matchFlags, until string) {
	f := cmd.Flags()
	selectFlags(cmd, &m.status, &m.ref, &m.model, &m.key, &m.run, &m.search)
	f.StringVar(&m.from, "from", "", "only results saved at this time or later, such as 2026-11-21 or 2026-11-21T09:00:00Z")
	f.StringVar(&m.until, until, "", "only results saved before this time")
	f.Int32Var(&m.version, "version", 0, "only results of this version")
	assigneeFlag(cmd, &m.assignee)
}

// bounds are the times that were given; until is the flag that ends them.
func (m *matchFlags) bounds(until string) (from, to *time.Time, err error) {
	begin, err := timeFlag("from", m.from)
	if err != nil {
		return nil, nil, err
	}
	end, err := timeFlag(until, m.until)
	return optionalTime(begin), optionalTime(end), err
}

// prismFlag adds --prism, which a shell completes.
func (a *app) prismFlag(cmd *cobra.Command, prism *string, text string) {
	cmd.Flags().StringVar(prism, "prism", "", text)
	completeFlag(cmd, "prism", func(cmd *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
		return a.completePrisms(cmd, nil, start)
	})
}

func (a *app) resultRow(r client.Result) row {
	return row{color: statusColors[r.Status], cells: []string{
		r.ID, optional(r.Ref), r.Prism, strconv.Itoa(r.Version), string(r.Status), strconv.FormatInt(r.TookMS, 10), r.CreatedAt.String(), a.answersCell(r),
	}}
}

// answersCell is the answers as JSON, or why there are none.
func (a *app) answersCell(r client.Result) string {
	if r.Error != nil {
		return *r.Error
	}
	for i, cell := range r.Row {
		if f, ok := cell.Value.(float64); ok && !a.exact {
			r.Row[i].Value = digits.Round(f)
		}
	}
	text, err := json.Marshal(r.Row)
	if err != nil {
		return fmt.Sprint(err)
	}
	return string(text)
}
