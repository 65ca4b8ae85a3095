package request

import (
	"math"
	"slices"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// NewRun is a valid run of a file, or the dry run of one (spec: run-requests).
type NewRun struct {
	Prism  prism.Ref
	Run    contract.NewRun
	DryRun bool
}

// newRunShape has the members in the order in which their problems are listed (spec: validation-order).
var newRunShape = &shape{members: slices.Concat(
	members("file_id", "from_labels_of"), []member{{"fields", &shape{fields: true}}, {"labels", &shape{fields: true}}},
	members("ref", "context", "version", "name", "rows_per_second", "concurrency", "pause_at_failures", "idempotency_key", "dry_run"),
)}

// ParseNewRun reads POST /v1/prisms/{prism}/runs.
func ParseNewRun(prismParam string, body Body) (NewRun, error) {
	sent, err := parseBody(body, newRunShape)
	if err != nil {
		return NewRun{}, err
	}
	var r reader
	n := NewRun{Prism: r.prismParam(prismParam)}
	if r.is(sent, kindObject) {
		r.run(&n.Run, sent)
		if n.DryRun = r.optionalBoolean(sent.at("dry_run")); n.DryRun && n.Run.FromLabelsOf != 0 {
			n.Run.IdempotencyKey = "" // it would find an earlier run instead of the labels
		}
	}
	return n, r.err()
}

func (r *reader) run(n *contract.NewRun, body item) {
	if n.FromLabelsOf = r.labelsRun(body); n.FromLabelsOf == 0 {
		r.fileColumns(n, body)
	}
	n.Version = r.optionalVersion(body.at("version"))
	n.Name = r.optionalStr(body.at("name"), 0, maxName)
	n.RunLimits = r.runLimits(body)
	if at := r.optionalNumber(body.at("pause_at_failures")); at != nil {
		n.PauseAt = new(r.within("pause_at_failures", *at, api.Limits{Min: new(0.0), Max: new(1.0)}))
	}
	n.IdempotencyKey = r.optionalStr(body.at("idempotency_key"), 1, maxIdempotencyKey)
}

// labelsRun reads from_labels_of, the version whose labelled inputs take the place of a file and its columns. It is 0 only if
// absent: a value with a problem becomes 1 (spec: run-from-labels).
func (r *reader) labelsRun(body item) int32 {
	it := body.at("from_labels_of")
	if !it.given() {
		return 0
	}
	for _, name := range []string{"file_id", "fields", "labels", "ref", "context"} {
		if body.at(name).given() {
			r.add(name, textNotWithLabelsOf)
		}
	}
	return max(1, r.optionalVersion(it))
}

// fileColumns reads the file of a run and what its columns stand for.
func (r *reader) fileColumns(n *contract.NewRun, body item) {
	n.File = prism.FileID{UUID: r.uuidMember(body.at("file_id"))}
	if fields := body.at("fields"); r.is(fields, kindObject) {
		n.Fields = []contract.FieldColumn{}
		for _, f := range r.fields(fields.fields) {
			n.Fields = append(n.Fields, contract.FieldColumn{Field: f.Key, Column: f.Value})
		}
	}
	if labels := body.at("labels"); labels.given() && r.is(labels, kindObject) {
		r.eachQuestion(labels, func(question string, column item) {
			l := contract.FieldColumn{Field: question}
			l.Column, _ = r.str(column, 0, maxField)
			n.Labels = append(n.Labels, l)
		})
	}
	n.Ref = r.optionalStr(body.at("ref"), 1, maxField)
	n.Context = r.optionalStr(body.at("context"), 0, maxField)
}

// uuidMember reads a string that is a UUID.
func (r *reader) uuidMember(it item) prism.UUID {
	s, ok := r.str(it, 0, math.MaxInt)
	id, err := prism.ParseUUID(s)
	if ok && err != nil {
		r.add(it.path, textUUID)
	}
	return id
}

// runLimits reads rows_per_second and concurrency. A limit that is absent is nil.
func (r *reader) runLimits(body item) (l api.RunLimits) {
	if f := r.optionalNumber(body.at("rows_per_second")); f != nil {
		l.RowsPerSecond = new(r.within("rows_per_second", *f, api.Limits{Above: new(0.0), Max: new(100_000.0)}))
	}
	if f := r.optionalNumber(body.at("concurrency")); f != nil {
		l.Concurrency = new(r.integer("concurrency", *f, 10_000))
	}
	return l
}
