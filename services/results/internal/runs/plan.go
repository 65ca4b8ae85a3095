package runs

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/access"
	"github.com/prism-results/prism/services/results/internal/files"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/tabular"
)

// mapping says which columns are the fields, the ref and the context of rows. It is stored with a run.
type mapping struct {
	Fields  []fieldColumn `json:"fields"`
	Labels  []fieldColumn `json:"labels,omitzero"` // of questions
	Ref     string        `json:"ref,omitzero"`
	Context string        `json:"context,omitzero"`
}

type fieldColumn struct {
	Field  string `json:"field"`
	Column string `json:"column"`
}

func mappingOf(n api.NewRun) mapping {
	m := mapping{Ref: n.Ref, Context: n.Context}
	for _, f := range n.Fields {
		m.Fields = append(m.Fields, fieldColumn(f))
	}
	for _, l := range n.Labels {
		m.Labels = append(m.Labels, fieldColumn(l))
	}
	return m
}

// planned is a run that may be made.
type planned struct {
	version prism.Version
	file    files.File
	rows    rowReader
}

// livePrism is a prism that can answer.
func (h *Handlers) livePrism(ctx context.Context, account prism.AccountID, ref prism.Ref) (prism.Prism, error) {
	p, err := h.deps.Store.Prism(ctx, account, ref)
	switch {
	case err != nil:
		return prism.Prism{}, access.Translate(err, apierr.PrismNotFound())
	case p.ArchivedAt != nil:
		return prism.Prism{}, apierr.PrismNotFound()
	case p.AdHoc: // results of runs would not keep it
		return prism.Prism{}, apierr.AdHocPrism()
	}
	return p, nil
}

// plan checks a new run in the order of the checks of a create call, and then its file and columns (spec: run-checks).
func (h *Handlers) plan(ctx context.Context, account prism.AccountID, p prism.Prism, n api.NewRun) (planned, error) {
	number := n.Version
	if number == 0 {
		number = p.Latest.Number
	}
	v, err := h.deps.Versions.Version(ctx, account, prisms.VersionIn(p, number))
	if err != nil {
		return planned{}, access.Translate(err, apierr.VersionNotFound())
	}
	if err := checkFields(v.Fields, n.Fields); err != nil {
		return planned{}, err
	}
	f, err := h.deps.Store.File(ctx, account, n.File)
	if err != nil {
		return planned{}, access.Translate(err, apierr.FileNotFound())
	}
	if f.Status != prism.FileReady {
		return planned{}, apierr.FileNotReady()
	}
	rows, err := newRowReader(f, v.Definition, mappingOf(n))
	return planned{v.Version, f, rows}, err
}

// checkFields is the check of a create call.
func checkFields(fields []prism.Field, sent []api.FieldColumn) error {
	var missing, unknown []string
	for _, s := range sent {
		if !slices.ContainsFunc(fields, func(f prism.Field) bool { return f.Key == s.Field }) {
			unknown = append(unknown, s.Field)
		}
	}
	for _, f := range fields {
		if !slices.ContainsFunc(sent, func(s api.FieldColumn) bool { return s.Field == f.Key }) {
			missing = append(missing, f.Key)
		}
	}
	switch {
	case len(missing) > 0:
		return apierr.MissingFields(missing)
	case len(unknown) > 0:
		return apierr.UnknownFields(unknown)
	}
	return nil
}

// rowReader makes rows of a run of the rows of its file.
type rowReader struct {
	layout  tabular.Layout
	fields  []fieldPlace // in the order of the version
	ref     int          // -1: rows have no ref
	context int          // -1: the text
	text    string
	labels  []labelPlace
}

type labelPlace struct {
	question prism.Question
	column   int
}

type fieldPlace struct {
	key    string
	column int
}

// newRowReader is apierr.Invalid if the file lacks a column.
func newRowReader(f files.File, d prism.Definition, m mapping) (rowReader, error) {
	layout, err := f.ReadLayout()
	if err != nil {
		return rowReader{}, err
	}
	var problems []apierr.Problem
	column := func(name string) int {
		return slices.IndexFunc(layout.Columns, func(c tabular.Column) bool { return c.Name == name })
	}
	named := func(path, name string) int {
		at := column(name)
		if at < 0 {
			problems = append(problems, apierr.Problem{Path: path, Text: "No such column"})
		}
		return at
	}
	r := rowReader{layout: layout, fields: make([]fieldPlace, len(d.Fields)), ref: -1, context: -1, text: m.Context}
	for _, sent := range m.Fields {
		place := fieldPlace{sent.Field, named("fields."+sent.Field, sent.Column)}
		if i := slices.IndexFunc(d.Fields, func(f prism.Field) bool { return f.Key == sent.Field }); i >= 0 {
			r.fields[i] = place
		}
	}
	for _, sent := range m.Labels {
		q, known := d.Question(sent.Field)
		if !known {
			problems = append(problems, apierr.Problem{Path: "labels." + sent.Field, Text: prisms.UnknownQuestion})
			continue
		}
		r.labels = append(r.labels, labelPlace{q, named("labels."+sent.Field, sent.Column)})
	}
	if m.Ref != "" {
		r.ref = named("ref", m.Ref)
	}
	if m.Context != "" {
		r.context = column(m.Context)
	}
	if len(problems) > 0 {
		return rowReader{}, apierr.Invalid(problems...)
	}
	return r, nil
}

// row is a row with the values of its fields (spec: run-row-values).
func (r rowReader) row(number int64, original tabular.Row) contract.ChunkRow {
	row := contract.ChunkRow{Row: number, Invalid: original.Invalid, Context: r.text, Fields: make([]prism.FieldValue, len(r.fields))}
	if original.Invalid != "" { // its cells are not what was meant
		return row
	}
	for i, f := range r.fields {
		row.Fields[i] = prism.FieldValue{Key: f.key, Value: original.Value(f.column)}
	}
	if r.ref >= 0 && !original.Absent(r.ref) {
		ref := original.Value(r.ref)
		row.Ref = &ref
	}
	if r.context >= 0 {
		row.Context = original.Value(r.context)
	}
	for _, l := range r.labels { // spec: run-labels-invalid
		cell := original.Cells[l.column]
		if strings.TrimSpace(cell) == "" {
			continue
		}
		value, problem := l.question.ReadLabel(cell)
		if problem != "" {
			path, text := prism.LabelProblem("labels."+l.question.Key, problem)
			row.InvalidLabels = append(row.InvalidLabels, path+": "+text)
			continue
		}
		row.Labels = append(row.Labels, contract.RowLabel{Question: l.question.Key, Value: value})
	}
	return row
}

// size is how large the values of a row are. A context that all rows have counts for none.
func (r rowReader) size(row contract.ChunkRow) (n int) {
	for _, f := range row.Fields {
		n += len(f.Value)
	}
	if r.context >= 0 {
		n += len(row.Context)
	}
	return n
}

// PlanRun implements contract.Runs.
func (h *Handlers) PlanRun(
	ctx context.Context, key contract.KeyDigest, ref prism.Ref, n api.NewRun,
) (plan contract.RunPlan, err error) {
	err = h.deps.Access.Serve(ctx, key, access.PlanRun, nil, func(c store.Caller) error {
		p, planned, err := h.planOf(ctx, c, ref, n)
		plan = contract.RunPlan{
			Account: c.Account, Prism: p.ID, Version: planned.version, Run: n, Rows: planned.file.Rows, Chunks: planned.file.Chunks,
		}
		return err
	})
	return plan, err
}

func (h *Handlers) planOf(
	ctx context.Context, caller store.Caller, ref prism.Ref, n api.NewRun,
) (p prism.Prism, plan planned, err error) {
	if err := mayLabel(caller, n); err != nil {
		return p, plan, err
	}
	if p, err = h.livePrism(ctx, caller.Account, ref); err != nil {
		return p, plan, err
	}
	plan, err = h.plan(ctx, caller.Account, p, n)
	return p, plan, err
}

// mayLabel checks that the role of whoever makes a run also allows its labels (spec: label-roles).
func mayLabel(c store.Caller, n api.NewRun) error {
	if len(n.Labels) > 0 && !c.Role.Includes(access.NeedOf(contract.Operation(api.PutLabels.Name)).Role) {
		return apierr.RoleNotAllowed()
	}
	return nil
}

// PlanRows implements contract.Runs.
func (h *Handlers) PlanRows(ctx context.Context, key contract.KeyDigest, q contract.PlanRows) (read []contract.ChunkRow, err error) {
	err = h.deps.Access.Serve(ctx, key, access.PlanRows, nil, func(c store.Caller) error {
		_, planned, err := h.planOf(ctx, c, q.Prism, q.Run)
		if err != nil {
			return err
		}
		chunk, err := h.deps.Store.FileChunk(ctx, c.Account, q.Run.File, q.Chunk)
		if errors.Is(err, store.ErrNotFound) {
			return nil // behind the last chunk
		}
		if err != nil {
			return err
		}
		rows, err := h.deps.Files.Rows(ctx, c.Account, planned.file, planned.rows.layout, chunk)
		for i, row := range rows {
			read = append(read, planned.rows.row(chunk.FirstRow+int64(i), row))
		}
		return err
	})
	return read, err
}

// readerOf makes rows of a stored run.
func readerOf(r Run, f files.File, d prism.Definition) (rowReader, error) {
	var m mapping
	if strictjson.Unmarshal(r.Mapping, &m) != nil {
		return rowReader{}, errMapping
	}
	return newRowReader(f, d, m)
}

// errMapping drops the error of the JSON library, which may quote the content.
var errMapping = errors.New("a stored mapping of a run is not readable")
