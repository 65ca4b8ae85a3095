package request

import (
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// maxCost is the most that a mistake costs (spec: thresholds).
const maxCost = 1_000_000_000

// ParseQuality reads GET /v1/prisms/{prism}/versions/{version}/quality?question&model&calibrated (spec: quality).
func ParseQuality(prismParam, version string, q Query) (contract.VersionRef, contract.QualityQuery, error) {
	var r reader
	of := r.versionRef(prismParam, version)
	query := r.quality(q, r.singleStr(q, "question", maxName))
	return of, query, r.err()
}

// ParseThresholds reads GET /v1/prisms/{prism}/versions/{version}/quality/thresholds?question&false_yes&false_no&unsure, with the
// parameters of ParseQuality (spec: thresholds).
func ParseThresholds(prismParam, version string, q Query) (contract.VersionRef, contract.ThresholdsQuery, error) {
	var r reader
	of := r.versionRef(prismParam, version)
	query := contract.ThresholdsQuery{QualityQuery: r.quality(q, r.questionParam(q))}
	query.FalseYes, query.FalseNo, query.Unsure = r.cost(q, "false_yes"), r.cost(q, "false_no"), r.cost(q, "unsure")
	return of, query, r.err()
}

// ParseCompare reads GET /v1/prisms/{prism}/compare?a&b&question (spec: compare).
func ParseCompare(prismParam string, q Query) (prism.Ref, contract.CompareQuery, error) {
	var r reader
	ref := r.prismParam(prismParam)
	query := contract.CompareQuery{A: r.comparedVersion(q, "a"), B: r.comparedVersion(q, "b"), Question: r.questionParam(q)}
	return ref, query, r.err()
}

func (r *reader) versionRef(prismParam, version string) contract.VersionRef {
	return contract.VersionRef{Prism: r.prismParam(prismParam), Number: r.versionParam(version)}
}

func (r *reader) quality(q Query, question string) contract.QualityQuery {
	return contract.QualityQuery{
		Question:   question,
		Model:      r.singleStr(q, "model", maxName),
		Calibrated: oneOf(r, "calibrated", q("calibrated"), []string{"true", "false"}, "false") == "true",
	}
}

// questionParam reads the query parameter question, which must be sent and not be empty.
func (r *reader) questionParam(q Query) string {
	question := r.singleStr(q, "question", maxName)
	if question == "" && len(q("question")) < 2 {
		r.add("question", textRequired)
	}
	return question
}

// sentNumber reads a query parameter that must be sent; ok is false if there is a problem.
func (r *reader) sentNumber(q Query, name string) (s string, ok bool) {
	before := len(r.problems)
	if len(q(name)) == 0 {
		r.add(name, textRequired)
	}
	s = r.single(q, name, kindNumber)
	return s, len(r.problems) == before
}

// cost reads what a mistake costs: 0 to maxCost.
func (r *reader) cost(q Query, name string) float64 {
	s, sent := r.sentNumber(q, name)
	if !sent {
		return 0
	}
	f, ok := r.numeral(name, s)
	if !ok {
		return 0
	}
	return r.within(name, f, maxCost)
}

// comparedVersion reads the number of a version from a query parameter that must be sent.
func (r *reader) comparedVersion(q Query, name string) int32 {
	s, sent := r.sentNumber(q, name)
	if !sent {
		return 0
	}
	return r.versionText(name, s)
}
