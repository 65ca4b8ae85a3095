package request

import (
	"slices"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// ParseDelete reads DELETE /v1/results/{result_id}. The body is ignored (spec: retry-body).
func ParseDelete(resultID string, body Body) (prism.ResultID, error) {
	if err := ignoreBody(body); err != nil {
		return prism.ResultID{}, err
	}
	var r reader
	id := prism.ResultID{UUID: r.uuidParam("result_id", resultID)}
	return id, r.err()
}

var deletionShape = &shape{members: members("ref", "before", "status", "dry_run")}

// ParseDeletion reads POST /v1/prisms/{prism}/results/delete {ref?, before?, status?, dry_run?} (spec: results-delete).
func ParseDeletion(prismParam string, body Body) (prism.Ref, contract.ResultDeletion, error) {
	sent, err := parseBody(body, deletionShape)
	if err != nil {
		return prism.Ref{}, contract.ResultDeletion{}, err
	}
	var r reader
	ref := r.prismParam(prismParam)
	var d contract.ResultDeletion
	if r.is(sent, kindObject) {
		r.deletion(&d, sent)
	}
	return ref, d, r.err()
}

func (r *reader) deletion(d *contract.ResultDeletion, body item) {
	ref, before, status := body.at("ref"), body.at("before"), body.at("status")
	if !ref.given() && !before.given() && !status.given() {
		r.add("ref", textNoFilter)
	}
	if ref.given() {
		s, _ := r.str(ref, 0, maxRef)
		d.Ref = &s
	}
	if at := r.optionalDatetime(before); at != nil {
		d.Before = asBound(*at)
	}
	if status.given() {
		d.Status = prism.Status(r.anyStr(status))
		if statuses := []prism.Status{prism.OK, prism.Failed}; status.kind() == kindString && !slices.Contains(statuses, d.Status) {
			r.add("status", textOneOf(statuses))
		}
	}
	d.DryRun = r.optionalBoolean(body.at("dry_run"))
}
