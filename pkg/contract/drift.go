package contract

import (
	"context"
	"time"

	"github.com/prism-results/prism/pkg/prism"
)

// Drift tells whether the answers of a prism change, if it is watched. Its methods take the digest of a key, as those of Results do,
// and name a version of a prism, 0 for the latest: apierr.PrismNotFound, apierr.VersionNotFound.
type Drift interface {
	// ReadDrift compares the last hour and day of a version with its reference, and has both of the times before.
	ReadDrift(ctx context.Context, key KeyDigest, ref prism.Ref, version int32) (Response, error)
	// SetDrift watches a prism or stops it, sets the reference period of a version, and returns what ReadDrift then does:
	// apierr.Invalid for a period that is not counted.
	SetDrift(ctx context.Context, key KeyDigest, ref prism.Ref, c DriftChange) (Response, error)
}

// DriftChange is whether a prism is watched.
type DriftChange struct {
	Watched bool
	Version int32 `json:",omitzero"` // 0: the latest
	// Reference is the reference period of the version; nil: its first results.
	Reference *DriftPeriod `json:",omitzero"`
}

// DriftPeriod is a time of whole hours, of at least one. From is inclusive, To exclusive.
type DriftPeriod struct{ From, To time.Time }
