package api

import (
	"net/http"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
)

// ResultSearch narrows results by their texts, answers and labels (spec: search-words, search-where).
type ResultSearch struct {
	// Only results whose ref, error, field values and context have these words: all of them, `"in order"`, but `-not` these, one group `or` another, and words that begin `lik*` this.
	Q string `query:"q" max:"1000"`
	// Only results for which this condition holds, such as `topic:is:billing`. Sent several times, all must hold. Needs a prism.
	Where []string `query:"where" max:"20" each:"8000"`
}

// SearchMembers is ResultSearch in a body.
type SearchMembers struct {
	// Only results with these words, as in the list of results.
	Q string `json:"q,omitzero" min:"1" max:"1000"`
	// Only results for which all these conditions hold, as in the list of results.
	Where []string `json:"where,omitzero" min:"1" max:"20" each:"8000"`
}

// Coverage tells what a search did not look at. A list that was not searched has none of its members.
type Coverage struct {
	// Results saved since this time are missing: they are not indexed yet. Absent if none is.
	IndexedUntil Time `json:"indexed_until,omitzero"`
	// Results saved before this time are missing: old results are being indexed, newest first. Absent if none is.
	IndexedFrom Time `json:"indexed_from,omitzero"`
	// How many of the newest results that match were sorted, because more match. Absent if all were.
	SortedNewest int `json:"sorted_newest,omitzero"`
}

// ResultPage is a page of results in the format `json`.
type ResultPage struct {
	// The items of this page.
	Data []Result `json:"data"`
	Coverage
	// Send it as `cursor` to read the next page. Null on the last page.
	NextCursor *string `json:"next_cursor"`
}

// RawResultPage is a page of results in the format `raw`.
type RawResultPage struct {
	// The items of this page.
	Data []RawResult `json:"data"`
	Coverage
	// Send it as `cursor` to read the next page. Null on the last page.
	NextCursor *string `json:"next_cursor"`
}

// CountResults counts results by their answers, labels, versions and models (spec: result-counts).
var CountResults = Op[CountResultsRequest, ResultCounts]{Declaration{
	Name: "countResults", Method: http.MethodGet, Path: "/v1/results/counts", Tag: "Results", Role: prism.Reader, Class: Scanning,
	Errors: []*apierr.Error{apierr.PrismNotFound(), apierr.NotSearchable()},
}}

// CountResultsRequest is the request of CountResults.
type CountResultsRequest struct {
	// Only results of the prism with this slug or id.
	Prism *prism.Ref `query:"prism" max:"200"`
	// What to count by, with commas between: keys of questions, their labels (`topic@label`), `@version`, `@model`, `@status` and `@labelled`.
	By     string `query:"by" max:"1000"`
	Status Status `query:"status" enum:"ok,failed" parameter:"Status"`
	ResultFilter
	ResultSearch
}

// Problems implements the rule that conditions need a prism.
func (in CountResultsRequest) Problems(Sent) []apierr.Problem { return in.needsPrism(in.Prism) }

// Problems implements the rule that conditions need a prism.
func (in ListResultsRequest) Problems(Sent) []apierr.Problem { return in.needsPrism(in.Prism) }

func (s ResultSearch) needsPrism(ref *prism.Ref) []apierr.Problem {
	if len(s.Where) == 0 || ref != nil {
		return nil
	}
	return []apierr.Problem{{Path: "prism", Text: "must be sent with where"}}
}

// ResultCounts are how many results match, and how many of them have each value.
type ResultCounts struct {
	// How many results match.
	Total int64 `json:"total" min:"0"`
	// Whether all of them were counted. If not, there are more: counting takes half a second at most, and counts what is indexed.
	Exact bool `json:"exact"`
	// For each name of `by`, its values. Results without a value are in none of them.
	By map[string][]ValueCount `json:"by"`
}

// ValueCount is how many results have a value.
type ValueCount struct {
	// The key of an option or level, `0.0` to `0.9` for the tenths of the probability of yes, a version, the name of a model, `ok` or `failed`, `yes` or `no`.
	Value string `json:"value"`
	// What people call it.
	Label string `json:"label"`
	// How many results have it.
	Count int64 `json:"count" min:"0"`
}
