// Package history holds what clients saw of Prism and decides whether a service that answers one call after the other,
// in an order consistent with real time, could have shown it to them (spec: linearizable).
//
// Calls are kept by race: everything that is reachable from one idempotency key (the creates that share it, the retries
// and reads of the results that hold or held it), or from one create without a key. Races do not touch each other, so each
// is checked alone, which keeps the search small.
package history

import (
	"fmt"
	"strings"
	"time"
)

// Kind is an operation of the contract.
type Kind uint8

// The operations.
const (
	Create Kind = iota
	Retry
	Read
)

// Status is a result's, as the contract writes it.
type Status string

// The result states.
const (
	OK     Status = "ok"
	Failed Status = "failed"
)

// Call is one request and what became of it.
type Call struct {
	Client int
	Kind   Kind
	Prism  string // of a create
	Ref    string // of a create; no two calls have the same
	Keyed  bool   // of a create: it carries the race's idempotency key
	Target string // the result that a retry or a read names

	Began  time.Duration // since the start of the run
	Ended  time.Duration
	Answer Answer
}

// Meaning is what an answer says.
type Meaning uint8

// The meanings.
const (
	// Lost is no answer, or the 500: the call may have happened, may happen later, or never.
	Lost Meaning = iota
	// Nothing is the 503, or a connection that was never made: the call took nothing.
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

// Answer is what a client was told.
type Answer struct {
	Meaning Meaning
	ID      string // of a Result
	Status  Status
	Prism   string
	Ref     string
	By      string // of Retried
}

// Race is the calls that can be in each other's way.
type Race struct {
	Name  string
	Calls []Call
}

// changes tells whether a call may have changed something, whatever it was told.
func (c *Call) changes() bool {
	return c.Kind != Read && (c.Answer.Meaning == Lost || c.Answer.Meaning == Result)
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

func (a Answer) String() string {
	switch a.Meaning {
	case Lost:
		return "no answer: it may have happened"
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
