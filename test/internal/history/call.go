// Package history records the calls of clients and their responses, and decides whether a service that handles one call
// after the other, in an order consistent with real time, could have given these responses (spec: linearizable).
//
// Calls are grouped by race: the creates that share one idempotency key, with the retries and reads of their results, or one
// create without a key, with the retries and reads of its results. Races do not influence each other, so each is checked
// alone, which keeps the search small.
package history

import (
	"fmt"
	"strings"
	"time"
)

// Kind is an operation of the API.
type Kind uint8

// The operations.
const (
	Create Kind = iota
	Retry
	Read
)

// Status is the status of a result.
type Status string

// The result states.
const (
	OK     Status = "ok"
	Failed Status = "failed"
)

// Call is one request with its response.
type Call struct {
	Client int
	Kind   Kind
	Prism  string // of a create
	Ref    string // of a create; no two calls have the same
	Keyed  bool   // of a create: it carries the race's idempotency key
	Target string // the result that a retry or a read names

	Began    time.Duration // since the start of the run
	Ended    time.Duration
	Response Response
}

// Meaning classifies a response.
type Meaning uint8

// The meanings.
const (
	// Unknown is a lost response, or the 500: the call may have taken effect, may take effect later, or never.
	Unknown Meaning = iota
	// Nothing is the 503, or a failed connection: the call had no effect.
	Nothing
	// Result is a 200 or a 502 with a result.
	Result
	// OtherPrism is the 409 of a key that was used for another prism.
	OtherPrism
	// Succeeded is the 409 of a retry of a result that is ok.
	Succeeded
	// Retried is the 409 of a retry of a result that was retried; By did it.
	Retried
	// NotFound is the 404 of a result.
	NotFound
)

// Response is what a client received.
type Response struct {
	Meaning Meaning
	ID      string // of a Result
	Status  Status
	Prism   string
	Ref     string
	By      string // of Retried
}

// Race is a group of calls that influence each other.
type Race struct {
	Name  string
	Calls []Call
}

// changes tells whether a call may have changed something.
func (c *Call) changes() bool {
	return c.Kind != Read && (c.Response.Meaning == Unknown || c.Response.Meaning == Result)
}

func (c *Call) String() string {
	switch c.Kind {
	case Create:
		key := "no key"
		if c.Keyed {
			key = "the key"
		}
		return fmt.Sprintf("create %s with %s as %s", c.Prism, key, c.Ref)
	case Retry:
		return "retry " + short(c.Target)
	case Read:
	}
	return "read " + short(c.Target)
}

func (a Response) String() string {
	switch a.Meaning {
	case Unknown:
		return "no response: the call may have taken effect"
	case Nothing:
		return "503: nothing happened"
	case Result:
		return fmt.Sprintf("%s, %s, prism %s, ref %s", short(a.ID), a.Status, a.Prism, a.Ref)
	case OtherPrism:
		return "409: the key is another prism's"
	case Succeeded:
		return "409: it succeeded"
	case Retried:
		return "409: already retried as " + short(a.By)
	case NotFound:
	}
	return "404: not found"
}

// short keeps the end of an id: the beginning is the time, which all results of a run share.
func short(id string) string {
	if i := strings.LastIndexByte(id, '-'); i >= 0 {
		return "…" + id[i+1:]
	}
	return id
}
