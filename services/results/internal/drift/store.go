package drift

import (
	"context"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Store keeps which prisms are watched for drift, and how often each of their answers was given in each span of time. Workers
// lease a watched prism, as they lease a Deletion, to count the results that were saved since then
// (spec: drift-counting).
type Store interface {
	// SetDrift watches a prism and sets the reference period of a version, or stops to watch it and deletes what was counted:
	// ErrNotFound. What changes nothing has no entry in the audit.
	SetDrift(ctx context.Context, account prism.AccountID, id prism.PrismID, c Change, by store.By) error
	// DriftWatch finds the watch of a prism: ErrNotFound if it is not watched.
	DriftWatch(ctx context.Context, account prism.AccountID, id prism.PrismID) (Watch, error)
	// DriftVersion finds what is known of a version's reference; if nothing is, only its Version is set.
	DriftVersion(ctx context.Context, account prism.AccountID, id prism.PrismID, version int32) (VersionReference, error)
	// DriftCounts returns the counts of a version in the spans of one length, the oldest first: those that begin at from or later,
	// and before to.
	DriftCounts(
		ctx context.Context, account prism.AccountID, id prism.PrismID, version int32, span Span, from, to time.Time,
	) ([]SpanCounts, error)
	// ListDriftWatches returns the watched prisms of all accounts that are not archived: the first of each account by WatchedAt, then
	// the second of each, and so on; and how many there are beyond the limit.
	ListDriftWatches(ctx context.Context, limit int) (watches []Watch, more int64, err error)

	// TakeDriftWatch leases the watch that has been due the longest, until a time: ErrNotFound if none is due.
	TakeDriftWatch(ctx context.Context, now, until time.Time) (Watch, error)
	// OldestLease is the oldest time with which the id of a result can begin that a worker of a run or a retry is answering for a
	// prism now; zero if none is.
	OldestLease(ctx context.Context, account prism.AccountID, id prism.PrismID) (time.Time, error)
	// DriftAnswers returns the next results of a prism, whether they failed or not: at most DriftPart, of the least ids that are
	// greater than after and not greater than last.
	DriftAnswers(
		ctx context.Context, account prism.AccountID, id prism.PrismID, after, last prism.UUID,
	) ([]Answer, error)
	// AddDrift adds the counts of a step to the stored ones, and moves the watch on. If the watch is not as it was, it changes
	// nothing and returns ErrNotFound.
	AddDrift(ctx context.Context, was Watch, step Step) error
	// DriftAlarms are the alarms of a watched prism that were told.
	DriftAlarms(ctx context.Context, account prism.AccountID, id prism.PrismID) (Alarms, error)
	// SetDriftAlarms tells which alarms begin and which end when the open ones are to be these. If the watch is not as it was, it changes
	// nothing and returns ErrNotFound.
	SetDriftAlarms(ctx context.Context, was Watch, alarms []Alarm, at time.Time) error
}

// Change is whether a prism is watched, and the reference period of one of its versions.
type Change struct {
	Watched bool
	Start   prism.UUID // where the counting of a prism that was not watched begins: results with greater ids are counted
	Version int32
	// From and To are the reference period; zero for the first results.
	From, To time.Time
}

// Watch is a watched prism.
type Watch struct {
	Account   prism.AccountID
	Prism     prism.PrismID
	Latest    int32 // version of the prism; only ListDriftWatches sets it
	WatchedAt time.Time
	// Reached is the greatest id up to which results are counted, whether or not a result has it.
	Reached prism.UUID
}

// VersionReference is what is known of a version's reference.
type VersionReference struct {
	Version int32
	// First is how many of the first results are counted, at most DriftFirst. FirstFrom and FirstTo are the times in the first and
	// the last of their ids.
	First              int64
	FirstFrom, FirstTo time.Time
	// From and To are the reference period that was set; zero if none was.
	From, To time.Time
}

// Span is the length of time of counts in seconds.
type Span int32

// The spans.
const (
	// OfFirst is of the first results of a version, whose counts are one row at DriftFirstAt.
	OfFirst Span = 0
	// OfTenMinutes does not count the first results of the version. It is kept for DriftRecent.
	OfTenMinutes Span = 600
	// OfHour is kept for DriftKept, and for as long as it is part of a reference period that was set.
	OfHour Span = 3600
)

const (
	// FirstResults is how many results of a version are its reference, unless a period was set.
	FirstResults = 2000
	// PartResults bounds how many results DriftAnswers returns.
	PartResults = 5000
	// RecentTime is how long spans of ten minutes are kept: for the last day.
	RecentTime = 26 * time.Hour
	// HistoryTime is how long spans of an hour are kept, and how old results are counted when a prism is watched.
	HistoryTime = 90 * 24 * time.Hour
)

// FirstAt is the time of DriftOfFirst.
func FirstAt() time.Time { return time.Unix(0, 0).UTC() }

// Begin is when the span that a time is in begins.
func (s Span) Begin(at time.Time) time.Time {
	if s == OfFirst {
		return FirstAt()
	}
	return at.UTC().Truncate(time.Duration(s) * time.Second)
}

// Answer is a result of a version. Answers are the bytes of `raw`; nil if it failed.
type Answer struct {
	ID      prism.ResultID
	Version int32
	Answers []byte
}

// SpanCounts is how often each answer to the questions of a version was given in a span. Counts is encoded by the caller.
type SpanCounts struct {
	Version int32
	Span    Span
	At      time.Time // when the span begins
	Results int64     // ok ones
	Counts  []byte
}

// Step is what a worker has counted.
type Step struct {
	Reached  prism.UUID
	DueAt    time.Time          // when the watch is taken next
	Versions []VersionReference // those whose first results have changed; From and To do not count
	Counts   []SpanCounts       // at most one of each version, span and time
	// Add adds Counts to those that are stored.
	Add func(stored, more []byte) ([]byte, error)
	// Ended makes AddDrift delete the counts that are too old at DueAt.
	Ended bool
}
