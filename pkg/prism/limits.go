package prism

// Limits bound what an account does (spec: account-limits). Zero is no limit.
type Limits struct {
	RequestsPerSecond int32 `json:",omitzero"`
	// Concurrency is the requests in flight.
	Concurrency int32 `json:",omitzero"`
	// ResultsPerDay is the results that a day of UTC may save.
	ResultsPerDay int32 `json:",omitzero"`
}

// IsZero tells whether nothing is limited.
func (l Limits) IsZero() bool { return l == Limits{} }
