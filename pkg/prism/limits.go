package prism

import "math"

// Limits bound what an account does (spec: account-limits). Zero is no limit, but of StoredBytes.
type Limits struct {
	RequestsPerSecond int32 `json:",omitzero"`
	// Concurrency is the requests in flight.
	Concurrency int32 `json:",omitzero"`
	// ResultsPerDay is the results that a day of UTC may save.
	ResultsPerDay int32 `json:",omitzero"`
	// StoredBytes is what the account's results and files may have (spec: stored-bytes). Zero is DefaultStoredBytes.
	StoredBytes int64 `json:",omitzero"`
}

const (
	// DefaultStoredBytes is what an account may store that has no limit of its own.
	DefaultStoredBytes = 50 << 30
	// AnyStoredBytes is no limit of stored bytes.
	AnyStoredBytes = math.MaxInt64
)

// IsZero tells whether nothing is limited.
func (l Limits) IsZero() bool { return l == Limits{} }
