// Package eventbodies writes events as callers and webhooks are told them: what is stored of an event, and what it is about as it is now.
package eventbodies

import (
	"context"
	"maps"
	"slices"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/events"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

const (
	// deleted is the status of a result or a run that is not there any more.
	deleted = "deleted"
	// mostAnswers bounds the columns of a result, in bytes of JSON, and mostOfRows those of all rows of an event: results with more are told
	// without them, so that a body has at most 1 MiB (spec: event-body). A Lens of 200 columns can show a megabyte of each result.
	mostAnswers = 64 << 10
	mostOfRows  = 1<<20 - 64<<10
	// cellRest is how many bytes a cell has at most beside its name and text, and numberBytes a number.
	cellRest, numberBytes = len(`"":"",`), 24
)

// Store is what a Writer reads.
type Store interface {
	events.Store
	ListResults(
		ctx context.Context, account prism.AccountID, f store.Filter, in store.Input, page store.Page,
	) (results []store.Saved, more bool, err error)
}

// Lenses apply the current Lens of a prism to the results of its versions.
type Lenses interface {
	Version(ctx context.Context, account prism.AccountID, id prisms.VersionID) (*prisms.Cached, error)
	Apply(ctx context.Context, account prism.AccountID, v *prisms.Cached, p store.PrismState) (*prisms.Applied, error)
}

// Writer writes bodies of events.
type Writer struct {
	Store  Store
	Lenses Lenses
}

// result is what a body has of a result.
type result struct {
	version int32
	status  prism.Status
	answers api.Row
	bytes   int // of the answers, at most
}

// WriteEvents are the bodies of events of an account, one for each (spec: event-body). A few statements read what they are about, whose
// answers are only in memory until their cells are known. show is which columns are told. All bodies are in memory at once: callers bound how
// many results the events have.
func (w *Writer) WriteEvents(ctx context.Context, account prism.AccountID, told []events.Event, show events.Columns) ([]api.Event, error) {
	var (
		ids    []prism.ResultID
		ofs    = map[prism.PrismID]bool{}
		runs   = map[prism.RunID]bool{}
		bodies = make([]api.Event, 0, len(told))
	)
	for _, e := range told {
		if !e.Result.IsZero() {
			ids = append(append(ids, e.Result), e.Results...)
		} else if !e.Run.IsZero() {
			runs[e.Run] = true
		}
		if !e.Prism.IsZero() {
			ofs[e.Prism] = true
		}
	}
	subjects, err := w.Store.Subjects(ctx, account, slices.Collect(maps.Keys(ofs)), slices.Collect(maps.Keys(runs)))
	if err != nil {
		return nil, err
	}
	results, err := w.results(ctx, account, sqldb.SortedIDs(ids), show)
	if err != nil {
		return nil, err
	}
	for _, e := range told {
		bodies = append(bodies, newBody(e, subjects, results))
	}
	return bodies, nil
}

// results reads results with the cells of the ok ones.
func (w *Writer) results(
	ctx context.Context, account prism.AccountID, ids []prism.UUID, show events.Columns,
) (map[prism.ResultID]result, error) {
	var (
		all    = make(map[prism.ResultID]result, len(ids))
		parser answerjson.Parser
		cells  []prism.Cell
	)
	for len(ids) > 0 {
		part := ids[:min(len(ids), sqldb.PartSize)]
		page := store.Page{Limit: len(part)}
		for more := true; more; {
			var rows []store.Saved
			var err error
			rows, more, err = w.Store.ListResults(ctx, account, store.Filter{IDs: part}, store.WithoutInput, page)
			if err != nil {
				return nil, err
			}
			for _, r := range rows {
				page.After = r.Result.ID.UUID
				read := result{version: r.Result.Version, status: r.Result.Status}
				if show != nil && r.Result.Status == prism.OK {
					if cells, err = w.cells(ctx, account, r, show, &parser, cells[:0], &read); err != nil {
						return nil, err
					}
				}
				all[r.Result.ID] = read
			}
		}
		ids = ids[len(part):]
	}
	return all, nil
}

// cells sets the answers of a result, the columns of the Lens as format json has them, unless they have more than mostAnswers. It returns cells
// to use again.
func (w *Writer) cells(
	ctx context.Context, account prism.AccountID, r store.Saved, show events.Columns, parser *answerjson.Parser, cells []prism.Cell, to *result,
) ([]prism.Cell, error) {
	answered, err := w.Lenses.Version(ctx, account, prisms.VersionOf(r.Prism, r.Result.Version))
	if err != nil {
		return cells, err
	}
	applied, err := w.Lenses.Apply(ctx, account, answered, r.Prism)
	if err != nil {
		return cells, err
	}
	stored, err := parser.Parse(r.Result.Answers)
	if err != nil { // what is damaged is told without them, so that it does not keep all behind it from being told
		return cells, nil //nolint:nilerr // see above
	}
	cells = applied.Plan.Cells(cells, stored)
	row, bytes := make(api.Row, 0, len(cells)), 0
	for i, c := range cells {
		column := api.Cell{Column: applied.Lens.Columns[i].Name}
		if !show(column.Column) {
			continue
		}
		switch c.Kind {
		case prism.NumberCell:
			column.Value = c.Number
		case prism.TextCell:
			column.Value = c.Key
		default: // prism.NullCell
		}
		if bytes += len(column.Column) + max(len(c.Key), numberBytes) + cellRest; bytes > mostAnswers {
			return cells, nil
		}
		row = append(row, column)
	}
	to.answers, to.bytes = row, bytes
	return cells, nil
}

// newBody is the body of an event.
func newBody(e events.Event, subjects events.Subjects, results map[prism.ResultID]result) api.Event {
	p := subjects.Prisms[e.Prism]
	body := api.Event{Type: string(e.Type), Timestamp: api.Time{Time: e.At}, Data: api.EventData{
		Prism: p.Slug, Version: e.Version, Question: e.Question, Option: e.Option, Change: e.Change,
	}}
	d := &body.Data
	if !e.Run.IsZero() {
		d.RunID = e.Run.String()
	}
	switch {
	case e.Type == api.ResultCreated && !e.Run.IsZero():
		left := mostOfRows
		for _, id := range append([]prism.ResultID{e.Result}, e.Results...) {
			r, status := results[id], deleted
			if r.bytes > left {
				r.answers, r.bytes = nil, 0
			}
			left -= r.bytes
			if r.status != "" {
				status = string(r.status)
			}
			d.Results = append(d.Results, api.EventResult{ResultID: id.String(), Status: status, Answers: r.answers})
		}
	case !e.Result.IsZero():
		d.ResultID, d.Status = e.Result.String(), deleted
		if r, ok := results[e.Result]; ok {
			d.Version, d.Status, d.Answers = r.version, string(r.status), r.answers
		}
	case !e.Run.IsZero():
		d.Status = deleted
		if status, ok := subjects.Runs[e.Run]; ok {
			d.Status = string(status)
		}
	case e.Type == api.PrismChanged:
		d.Version = p.Latest
	case e.Type == api.KeyExpiring:
		d.KeyID, d.ExpiresAt = e.Key.String(), &api.Time{Time: e.ExpiresAt}
	}
	return body
}
