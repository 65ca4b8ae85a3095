package request

import (
	"math"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// maxCost is the most that a mistake costs (spec: thresholds).
const maxCost = 1_000_000_000

// ParseQuality reads GET /v1/prisms/{prism}/versions/{version}/quality?question&model&calibrated (spec: quality).
func ParseQuality(prismParam, version string, q Query) (contract.VersionRef, contract.QualityQuery, error) {
	var r reader
	of := r.versionRef(prismParam, version)
	query := r.quality(q)
	return of, query, r.err()
}

// ParseThresholds reads GET /v1/prisms/{prism}/versions/{version}/quality/thresholds?question&false_yes&false_no&unsure, with the
// parameters of ParseQuality (spec: thresholds).
func ParseThresholds(prismParam, version string, q Query) (contract.VersionRef, contract.ThresholdsQuery, error) {
	var r reader
	of := r.versionRef(prismParam, version)
	query := contract.ThresholdsQuery{QualityQuery: r.quality(q)}
	if len(q("question")) == 0 { // of quality it may be absent
		r.add("question", textRequired)
	}
	query.FalseYes, query.FalseNo, query.Unsure = r.cost(q, "false_yes"), r.cost(q, "false_no"), r.cost(q, "unsure")
	return of, query, r.err()
}

// ParseCompare reads GET /v1/prisms/{prism}/compare?a&b&question (spec: compare).
func ParseCompare(prismParam string, q Query) (prism.Ref, contract.CompareQuery, error) {
	var r reader
	ref := r.prismParam(prismParam)
	query := contract.CompareQuery{A: r.versionOf(q, "a"), B: r.versionOf(q, "b"), Question: r.requiredParam(q, "question")}
	return ref, query, r.err()
}

func (r *reader) quality(q Query) contract.QualityQuery {
	return contract.QualityQuery{
		Question:   r.singleStr(q, "question", maxName),
		Model:      r.singleStr(q, "model", maxName),
		Calibrated: oneOf(r, "calibrated", q("calibrated"), []string{"true", "false"}, "false") == "true",
	}
}

// requiredParam reads a query parameter that must be sent.
func (r *reader) requiredParam(q Query, name string) string {
	if len(q(name)) == 0 {
		r.add(name, textRequired)
		return ""
	}
	return r.singleStr(q, name, maxName)
}

// cost reads what a mistake costs: 0 to maxCost.
func (r *reader) cost(q Query, name string) float64 {
	before := len(r.problems)
	s := r.requiredParam(q, name)
	f, ok := numeral(s)
	switch {
	case len(r.problems) > before:
	case !ok:
		r.add(name, textType(kindNumber, kindString))
	case f < 0:
		r.addBound(name, textAtLeast, 0)
	case f > maxCost:
		r.addBound(name, textAtMost, maxCost)
	default:
		return f
	}
	return 0
}

// versionOf reads the number of a version from a query parameter.
func (r *reader) versionOf(q Query, name string) int32 {
	before := len(r.problems)
	f, ok := numeral(r.requiredParam(q, name))
	switch {
	case len(r.problems) > before:
		return 0
	case !ok:
		r.add(name, textType(kindNumber, kindString))
		return 0
	}
	return int32(r.integer(name, f, math.MaxInt32)) //nolint:gosec // integer has checked the range
}
