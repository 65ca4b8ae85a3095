package api

import (
	"net/http"
	"time"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
)

// ReadDrift compares the last hour and day of a version with its reference, and has both of the times before (spec: drift-read).
var ReadDrift = Op[ReadDriftRequest, Drift]{Declaration{
	Name: "readDrift", Method: http.MethodGet, Path: "/v1/prisms/{prism}/drift", Tag: "Prisms", Role: prism.Reader, Class: Scanning,
	Errors: []*apierr.Error{apierr.PrismNotFound(), apierr.VersionNotFound()},
}}

// ReadDriftRequest is the request of ReadDrift.
type ReadDriftRequest struct {
	PrismRequest
	// The latest version unless given.
	Version int32 `query:"version" min:"1" max:"2147483647"`
}

// SetDrift watches a prism or stops it, sets the reference period of a version, and returns what ReadDrift then does
// (spec: drift-set).
var SetDrift = Op[SetDriftRequest, Drift]{Declaration{
	Name: "setDrift", Method: http.MethodPut, Path: "/v1/prisms/{prism}/drift", Tag: "Prisms", Role: prism.Editor, Class: Scanning,
	Errors: []*apierr.Error{apierr.PrismNotFound(), apierr.VersionNotFound()},
}}

// SetDriftRequest is the request of SetDrift.
type SetDriftRequest struct {
	PrismRequest
	DriftChange
}

// DriftChange is whether a prism is watched.
type DriftChange struct {
	// Whether its answers are counted.
	Watched bool `json:"watched"`
	// The version that the reference is of; the latest unless given.
	Version int `json:"version,omitzero" min:"1" max:"2147483647"`
	// The reference period of the version. Null, or absent: its first 2,000 results.
	Reference *DriftPeriod `json:"reference,omitzero"`
}

// Problems implements the rule that only a prism that is watched has a reference.
func (c DriftChange) Problems(m Sent) []apierr.Problem {
	if !c.Watched && m.Valid("watched", "reference") {
		return []apierr.Problem{{Path: "reference", Text: "is only of a prism that is watched"}}
	}
	return nil
}

// DriftPeriod is a time of whole hours of the last 90 days.
type DriftPeriod struct {
	// When the first hour begins.
	From time.Time `json:"from" form:"hour"`
	// When the last hour ends.
	To time.Time `json:"to" form:"hour"`
}

// Problems implements the rule that a period has at least an hour.
func (p DriftPeriod) Problems(m Sent) []apierr.Problem {
	if m.Valid("from", "to") && !p.From.Before(p.To) {
		return []apierr.Problem{{Path: "from", Text: "must be before to"}}
	}
	return nil
}

// Drift is how far the answers of a version are from its reference.
type Drift struct {
	// The version.
	Version int `json:"version" min:"1"`
	// Whether the answers of the prism are counted.
	Watched bool `json:"watched"`
	// Results that began before are counted. Null if the prism is not watched.
	CountedTo *Time `json:"counted_to"`
	// What is compared with. Null if the prism is not watched.
	Reference *DriftReference `json:"reference"`
	// The questions of the version, in its order. None if the prism is not watched. A tags question has an entry for each of its options, or
	// for the 20 that are right the most often in the reference.
	Questions []DriftOfQuestion `json:"questions"`
}

// DriftReference is what answers are compared with.
type DriftReference struct {
	// The first 2,000 results that are counted, or a period that was set.
	Kind DriftKind `json:"kind"`
	// When the first result began, or the period begins. Null while there is no result.
	From *Time `json:"from"`
	// When the last result began, or the period ends.
	To *Time `json:"to"`
	// How many results it has so far. Fewer than 500 are not compared with.
	Results int64 `json:"results" min:"0"`
}

// DriftKind is how a reference was chosen.
type DriftKind string

// The kinds.
const (
	FirstResults DriftKind = "first" // the first 2,000 results
	SetPeriod    DriftKind = "set"
)

// Values are all kinds.
func (DriftKind) Values() []string { return []string{string(FirstResults), string(SetPeriod)} }

// DriftOfQuestion is the drift of the answers to a question, or to an option of a tags question.
type DriftOfQuestion struct {
	// Its key.
	Question string `json:"question"`
	// The option, whose classes are no and yes; absent of a question of another type.
	Option string `json:"option,omitzero"`
	// Its number in the version, from 0, by which metrics name it.
	Index int `json:"index" min:"0"`
	// Its type.
	Type QuestionType `json:"type"`
	// Whether it has metrics, and so alerts. All accounts together have 39 questions with metrics, which they share.
	Metrics bool `json:"metrics"`
	// The last hour.
	Hour DriftWindow `json:"hour"`
	// The last day.
	Day DriftWindow `json:"day"`
	// The last 48 clock hours that have results, the oldest first.
	Hours []DriftWindow `json:"hours"`
	// The last 30 days of UTC that have results, the oldest first.
	Days []DriftWindow `json:"days"`
}

// DriftWindow is a time that is compared with the reference.
type DriftWindow struct {
	// When it begins.
	From Time `json:"from"`
	// When it ends.
	To Time `json:"to"`
	// The results that began in it.
	Results int64 `json:"results" min:"0"`
	// Whether either index is above its limit.
	Alarm bool `json:"alarm"`
	// Of the top probability, in ten bins. Null for fewer than 100 results, or than 500 of the reference.
	Probability *DriftIndex `json:"probability"`
	// Of the shares of the answers. Null likewise.
	Classes *DriftIndex `json:"classes"`
}

// DriftIndex is a population stability index.
type DriftIndex struct {
	// The index: 0 if both are distributed alike.
	PSI float64 `json:"psi" min:"0"`
	// What an index without drift exceeds in at most 0.1 % of comparisons; 0.1 at least.
	Limit float64 `json:"limit" min:"0.1"`
	// Whether the index is above its limit.
	Alarm bool `json:"alarm"`
}
