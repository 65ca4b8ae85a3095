package store

import (
	"context"
	"time"

	"github.com/prism-results/prism/pkg/prism"
)

// Drift keeps which prisms are watched for drift, and how often their answers were what in each time. A watched prism is a row that
// workers take, as they take a Deletion, to count the results that were saved meanwhile (spec: drift-counting).
type Drift interface {
	// SetDrift watches a prism and sets the reference period of a version, or stops to watch it and deletes what was counted:
	// ErrNotFound. What changes nothing has no entry in the audit.
	SetDrift(ctx context.Context, account prism.AccountID, id prism.PrismID, c DriftChange, by By) error
	// DriftWatch finds the watch of a prism: ErrNotFound if it is not watched.
	DriftWatch(ctx context.Context, account prism.AccountID, id prism.PrismID) (DriftWatch, error)
	// DriftVersion finds what is known of a version's reference; without anything it is empty.
	DriftVersion(ctx context.Context, account prism.AccountID, id prism.PrismID, version int32) (DriftVersion, error)
	// DriftCounts returns the counts of a version in spans of a length that begin in a time, the oldest first.
	DriftCounts(
		ctx context.Context, account prism.AccountID, id prism.PrismID, version int32, span DriftSpan, from, to time.Time,
	) ([]DriftCounts, error)
	// ListDriftWatches returns the watched prisms that are not archived, of all accounts, the one that was watched first first, and
	// how many there are beyond the limit.
	ListDriftWatches(ctx context.Context, limit int) (watches []DriftWatch, more int64, err error)

	// TakeDriftWatch leases the watch that is due the longest, until a time: ErrNotFound if there is none.
	TakeDriftWatch(ctx context.Context, now, until time.Time) (DriftWatch, error)
	// OldestLease is the time with which the ids of the results begin that workers of runs and retries are answering for a prism
	// now; the oldest one. It is zero if there is none.
	OldestLease(ctx context.Context, account prism.AccountID, id prism.PrismID) (time.Time, error)
	// DriftAnswers returns the next results of a prism, whether they failed or not: at most DriftPart, of the least ids that are
	// greater than after and not greater than last.
	DriftAnswers(
		ctx context.Context, account prism.AccountID, id prism.PrismID, after, last prism.UUID,
	) ([]DriftAnswer, error)
	// AddDrift adds the counts of a step to what is stored, and moves the watch on: ErrNotFound, and nothing has changed, if the
	// watch is not as it was.
	AddDrift(ctx context.Context, was DriftWatch, step DriftStep) error
}

// DriftChange is whether a prism is watched, and the reference period of one of its versions.
type DriftChange struct {
	Watched bool
	Start   prism.UUID // where the counting of a prism that was not watched begins: results with greater ids are counted
	Version int32
	// From and To are the reference period; zero for the first results.
	From, To time.Time
}

// DriftWatch is a watched prism.
type DriftWatch struct {
	Account   prism.AccountID
	Prism     prism.PrismID
	Latest    int32 // version of the prism; only ListDriftWatches sets it
	WatchedAt time.Time
	// Reached is the greatest id up to which results are counted, whether or not a result has it.
	Reached prism.UUID
}

// DriftVersion is what is known of a version's reference.
type DriftVersion struct {
	Version int32
	// First is how many of the first results are counted, of at most DriftFirst, and FirstFrom and FirstTo the times in their ids,
	// from the first to the last.
	First              int64
	FirstFrom, FirstTo time.Time
	// From and To are the reference period that was set; zero if none was.
	From, To time.Time
}

// DriftSpan is the length of time of counts in seconds.
type DriftSpan int32

// The spans.
const (
	// DriftOfFirst is of the first results of a version, whose counts are one row at DriftFirstAt.
	DriftOfFirst DriftSpan = 0
	// DriftOfTenMinutes is without the first results of the version. Such spans are kept for DriftRecent.
	DriftOfTenMinutes DriftSpan = 600
	// DriftOfHour is kept for DriftKept, and as long as it is of a reference period that was set.
	DriftOfHour DriftSpan = 3600
)

const (
	// DriftFirst is how many results of a version are its reference, unless a period was set.
	DriftFirst = 2000
	// DriftPart bounds how many results DriftAnswers returns.
	DriftPart = 5000
	// DriftRecent is how long spans of ten minutes are kept: for the last day.
	DriftRecent = 26 * time.Hour
	// DriftKept is how long spans of an hour are kept, and how old results are counted when a prism is watched.
	DriftKept = 90 * 24 * time.Hour
)

// DriftFirstAt is the time of DriftOfFirst.
func DriftFirstAt() time.Time { return time.Unix(0, 0).UTC() }

// Begin is when the span that a time is in begins.
func (s DriftSpan) Begin(at time.Time) time.Time {
	if s == DriftOfFirst {
		return DriftFirstAt()
	}
	return at.UTC().Truncate(time.Duration(s) * time.Second)
}

// DriftAnswer is a result of a version. Answers are the bytes of `raw`; nil if it failed.
type DriftAnswer struct {
	ID      prism.ResultID
	Version int32
	Answers []byte
}

// DriftCounts is how often the answers to the questions of a version were what in a span. Counts are bytes of the caller's.
type DriftCounts struct {
	Version int32
	Span    DriftSpan
	At      time.Time // when the span begins
	Results int64     // ok ones
	Counts  []byte
}

// DriftStep is what a worker has counted.
type DriftStep struct {
	Reached  prism.UUID
	DueAt    time.Time      // when the watch is taken next
	Versions []DriftVersion // those whose first results have changed; From and To do not count
	Counts   []DriftCounts  // at most one of each version, span and time
	// Add adds counts to stored ones.
	Add func(stored, more []byte) ([]byte, error)
	// Ended has what is too old at DueAt deleted.
	Ended bool
}
