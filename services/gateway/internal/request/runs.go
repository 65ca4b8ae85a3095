package request

import (
	"math"
	"slices"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// The limits of a run's speed (spec: run-requests).
const (
	maxRowsPerSecond = 100_000
	maxConcurrency   = 10_000
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
		n.PauseAt = new(r.within("pause_at_failures", *at, 1))
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
func (r *reader) runLimits(body item) (l contract.RunLimits) {
	if f := r.optionalNumber(body.at("rows_per_second")); f != nil {
		if *f <= 0 {
			r.add("rows_per_second", textAbove0)
		} else {
			l.RowsPerSecond = new(r.within("rows_per_second", *f, maxRowsPerSecond))
		}
	}
	if f := r.optionalNumber(body.at("concurrency")); f != nil {
		n := int32(r.integer("concurrency", *f, maxConcurrency)) //nolint:gosec // integer has checked the range
		l.Concurrency = &n
	}
	return l
}

// within checks that f is from 0 to most.
func (r *reader) within(path string, f float64, most int) float64 {
	if f < 0 {
		r.addBound(path, textAtLeast, 0)
	}
	if f > float64(most) {
		r.addBound(path, textAtMost, most)
	}
	return f
}

var runLimitsShape = &shape{members: members("rows_per_second", "concurrency")}

// ParseRunLimits reads PUT /v1/runs/{run_id}/limits {rows_per_second?, concurrency?}. An absent limit stays as it is, and is nil; a
// null removes the limit, and is 0 (spec: run-requests).
func ParseRunLimits(runID string, body Body) (prism.RunID, contract.RunLimits, error) {
	sent, err := parseBody(body, runLimitsShape)
	if err != nil {
		return prism.RunID{}, contract.RunLimits{}, err
	}
	var r reader
	id := prism.RunID{UUID: r.uuidParam("run_id", runID)}
	var l contract.RunLimits
	if r.is(sent, kindObject) {
		l = r.runLimits(sent)
		if it := sent.at("rows_per_second"); it.sent() && it.kind() == kindNull {
			l.RowsPerSecond = new(0.0)
		}
		if it := sent.at("concurrency"); it.sent() && it.kind() == kindNull {
			l.Concurrency = new(int32(0))
		}
	}
	return id, l, r.err()
}

// ParseRun reads GET /v1/runs/{run_id} and /events.
func ParseRun(runID string) (prism.RunID, error) {
	var r reader
	id := prism.RunID{UUID: r.uuidParam("run_id", runID)}
	return id, r.err()
}

// ParseRunAction reads POST /v1/runs/{run_id}/pause, /resume, /cancel and /retry. The body is ignored (spec: retry-body).
func ParseRunAction(runID string, body Body) (prism.RunID, error) {
	if err := ignoreBody(body); err != nil {
		return prism.RunID{}, err
	}
	return ParseRun(runID)
}

// ParseRunList reads GET /v1/runs?prism&status&limit&cursor.
func ParseRunList(q Query) (contract.RunList, error) {
	var r reader
	var list contract.RunList
	list.Prism = r.prismQuery(q)
	statuses := []contract.RunStatus{
		contract.RunQueued, contract.RunRunning, contract.RunPausing, contract.RunPaused, contract.RunCancelling, contract.RunCancelled,
		contract.RunFinished,
	}
	list.Status = oneOf(&r, "status", q("status"), statuses, "")
	list.Page = r.page(q, contract.ListOfRuns)
	return list, r.err()
}

// ParseRunRows reads GET /v1/runs/{run_id}/rows?format&only&after. The default format is csv.
func ParseRunRows(runID string, q Query) (prism.RunID, contract.RunRows, error) {
	var r reader
	id := prism.RunID{UUID: r.uuidParam("run_id", runID)}
	formats := []contract.RowsFormat{contract.RowsCSV, contract.RowsTSV, contract.RowsJSONL, contract.RowsXLSX}
	rows := contract.RunRows{Format: oneOf(&r, "format", q("format"), formats, contract.RowsCSV)}
	const all = contract.RowStatus("all")
	only := []contract.RowStatus{all, contract.RowOK, contract.RowFailed, contract.RowInvalid, contract.RowPending}
	if status := oneOf(&r, "only", q("only"), only, all); status != all {
		rows.Only = status
	}
	rows.After = r.position(q, "after")
	return id, rows, r.err()
}
