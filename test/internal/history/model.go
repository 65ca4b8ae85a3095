package history

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"
)

// chain is the state of a race: the results that retried each other, the oldest first. A retry moves the idempotency key,
// so the last result holds the key.
//
//	(empty) ── create ──▶ [r1] ── r1 failed: create or retry ──▶ [r1 r2] ── r2 failed: … ──▶ [r1 r2 … rn]
//
// A call with an unknown outcome may have added a result that no client knows: its id and status are empty until a later
// response has them.
type chain struct {
	prism, ref string // of the create that began it; retries keep both
	results    []result
}

type result struct {
	id     string // empty: not known yet
	status Status // empty: not known yet
}

// model is the specification for one call at a time.
func model(o order) porcupine.Model {
	m := porcupine.NondeterministicModel{
		Init: func() []any { return []any{chain{}} },
		Step: func(state, input, output any) []any {
			next := o.step(state.(chain), input.(*Call), output.(Response))
			states := make([]any, len(next))
			for i, s := range next {
				states[i] = s
			}
			return states
		},
		Equal: func(a, b any) bool { return a.(chain).equal(b.(chain)) },
		Hash: func(state any) uint64 {
			h := fnv.New64a()
			_, _ = h.Write([]byte(state.(chain).String()))
			return h.Sum64()
		},
		DescribeOperation: func(input, output any) string {
			return fmt.Sprintf("%s → %s", input.(*Call), output.(Response))
		},
		DescribeState: func(state any) string { return state.(chain).String() },
	}
	return m.ToModel()
}

// step returns every state that is possible after a call with this response. No state means that the response is wrong.
func (o order) step(c chain, call *Call, a Response) []chain {
	if a.Meaning == Nothing {
		return []chain{c}
	}
	switch call.Kind {
	case Create:
		return o.create(c, call, a)
	case Retry:
		return o.retry(c, call, a)
	case Read:
	}
	return o.read(c, call, a)
}

// create is the check of the idempotency key (spec: order-of-checks-create).
func (o order) create(c chain, call *Call, a Response) []chain {
	taken := len(c.results) > 0
	switch {
	case taken && !call.Keyed:
		return nil // nothing comes before a create without a key
	case taken && c.prism != call.Prism:
		if a.Meaning == OtherPrism || a.Meaning == Unknown {
			return []chain{c}
		}
		return nil
	case a.Meaning == Unknown:
		next := []chain{c}
		if !taken {
			return append(next, o.begin(call, result{})...)
		}
		return append(next, o.add(c, result{})...)
	case a.Meaning != Result || a.Prism != call.Prism:
		return nil
	case !taken:
		if a.Ref != call.Ref {
			return nil
		}
		return o.begin(call, result{a.ID, a.Status})
	case a.Ref != c.ref:
		return nil
	}
	next := o.add(c, result{a.ID, a.Status})
	// A repeat gets the stored result only when that result is ok.
	if a.Status == OK {
		next = append(next, o.bind(c, len(c.results)-1, result{a.ID, OK})...)
	}
	return next
}

func (o order) retry(c chain, call *Call, a Response) []chain {
	var next []chain
	if a.Meaning == Unknown {
		next = append(next, c)
	}
	last := len(c.results) - 1
	for i := range c.results {
		switch a.Meaning {
		case Unknown:
			if i == last {
				for _, named := range o.bind(c, i, result{id: call.Target}) {
					next = append(next, o.add(named, result{})...)
				}
			}
		case Result:
			if i == last && a.Prism == c.prism && a.Ref == c.ref {
				for _, named := range o.bind(c, i, result{id: call.Target}) {
					next = append(next, o.add(named, result{a.ID, a.Status})...)
				}
			}
		case Succeeded:
			next = append(next, o.bind(c, i, result{call.Target, OK})...)
		case Retried:
			if i < last {
				for _, named := range o.bind(c, i, result{call.Target, Failed}) {
					next = append(next, o.bind(named, i+1, result{id: a.By})...)
				}
			}
		case NotFound, Nothing, OtherPrism:
		}
	}
	if a.Meaning == NotFound && !c.has(call.Target) {
		next = append(next, c)
	}
	return next
}

func (o order) read(c chain, call *Call, a Response) []chain {
	switch a.Meaning {
	case Unknown:
		return []chain{c}
	case NotFound:
		if !c.has(call.Target) {
			return []chain{c}
		}
	case Result:
		if a.ID != call.Target || a.Prism != c.prism || a.Ref != c.ref {
			return nil
		}
		var next []chain
		for i := range c.results {
			next = append(next, o.bind(c, i, result{a.ID, a.Status})...)
		}
		return next
	case Nothing, OtherPrism, Succeeded, Retried:
	}
	return nil
}

func (c chain) has(id string) bool {
	return slices.ContainsFunc(c.results, func(r result) bool { return r.id == id })
}

func (c chain) equal(d chain) bool {
	return c.prism == d.prism && c.ref == d.ref && slices.Equal(c.results, d.results)
}

func (c chain) String() string {
	if len(c.results) == 0 {
		return "nothing"
	}
	parts := make([]string, len(c.results))
	for i, r := range c.results {
		id, status := short(r.id), r.status
		if id == "" {
			id = "somebody"
		}
		if status == "" {
			status = "unknown"
		}
		parts[i] = id + " " + string(status)
	}
	return c.prism + " " + c.ref + ": " + strings.Join(parts, " ▸ ")
}
