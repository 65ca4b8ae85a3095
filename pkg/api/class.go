package api

// Class is the kind of place that an operation takes before it loads anything (spec: place-classes).
type Class string

// The classes.
const (
	// Keyed operations look up or change a bounded number of rows by their keys: their only place is a connection to the database.
	Keyed Class = "keyed"
	// Streamed operations load a page when the page before was sent: they have the places of the server's streams
	// (spec: export-limits).
	Streamed Class = "streamed"
	// Listing operations load a page.
	Listing Class = "listing"
	// Scanning operations read many rows and keep few of them.
	Scanning Class = "scanning"
	// Measuring operations read thousands of answers, and compute for seconds.
	Measuring Class = "measuring"
)
