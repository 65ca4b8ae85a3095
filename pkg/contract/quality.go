package contract

import (
	"context"
	"time"

	"github.com/prism-results/prism/pkg/prism"
)

// QualityWait is how long a caller waits for a method of Quality, which reads thousands of answers and resamples them.
const QualityWait = 10 * time.Second

// Quality measures stored answers by their labels. Its methods take the digest of a key, as those of Results do, and change
// nothing: apierr.PrismNotFound, apierr.VersionNotFound, apierr.TooFewLabels, and apierr.Invalid for a question that the version
// does not have. Callers give them QualityWait.
type Quality interface {
	// Quality is the measures of a version: {version, questions}.
	Quality(ctx context.Context, key KeyDigest, of VersionRef, q QualityQuery) (Response, error)
	// Thresholds chooses where yes begins and no ends by what mistakes cost. The question is a yes_no.
	Thresholds(ctx context.Context, key KeyDigest, of VersionRef, q ThresholdsQuery) (Response, error)
	// Compare compares two versions on the inputs that both answered. The question is in both, with one type.
	Compare(ctx context.Context, key KeyDigest, ref prism.Ref, q CompareQuery) (Response, error)
}

// VersionRef names a version of a prism.
type VersionRef struct {
	Prism  prism.Ref
	Number int32
}

// QualityQuery selects what to measure. Zero values select everything.
type QualityQuery struct {
	Question string `json:",omitzero"`
	Model    string `json:",omitzero"` // the configured model that was asked last
	// Calibrated measures what the pinned calibrations make of the stored probabilities.
	Calibrated bool `json:",omitzero"`
}

// ThresholdsQuery is what the answers to a yes_no question cost: a yes that should be no, a no that should be yes, and one that is
// left unsure. The costs are 0 or more, in any unit.
type ThresholdsQuery struct {
	QualityQuery
	FalseYes, FalseNo, Unsure float64
}

// CompareQuery names two versions and a question that both have.
type CompareQuery struct {
	A, B     int32
	Question string
}
