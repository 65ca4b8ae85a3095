package history

import "slices"

// order is the knowledge of a history about which result retried which. A result is retried once, so this knowledge holds at
// any time, and the search skips every order of calls that contradicts it. Otherwise the search would try every order of
// concurrent repeats that each failed and retried the one before.
type order struct {
	next   map[string]string
	before map[string]string
}

func orderOf(calls []Call) order {
	o := order{next: map[string]string{}, before: map[string]string{}}
	for _, c := range calls {
		switch {
		case c.Kind != Retry:
		case c.Response.Meaning == Retried:
			o.next[c.Target], o.before[c.Response.By] = c.Response.By, c.Target
		case c.Response.Meaning == Result:
			o.next[c.Target], o.before[c.Response.ID] = c.Response.ID, c.Target
		}
	}
	return o
}

// allows tells whether the result after may be the retry of the result first. Either may be unknown.
func (o order) allows(first, after result) bool {
	if first.id == "" || after.id == "" {
		return true
	}
	next, known := o.next[first.id]
	if known && next != after.id {
		return false
	}
	before, known := o.before[after.id]
	return !known || before == first.id
}

// begin returns the chain of a first create with result r.
func (o order) begin(call *Call, r result) []chain {
	if _, retried := o.before[r.id]; retried {
		return nil
	}
	return []chain{{prism: call.Prism, ref: call.Ref, results: []result{r}}}
}

// bind returns the chain in which the i-th result is known to be r, or none when that result is known to be another. An
// empty status is unknown.
func (o order) bind(c chain, i int, r result) []chain {
	have := c.results[i]
	switch {
	case have.id == "" && c.has(r.id), have.id != "" && have.id != r.id:
		return nil
	case have.status != "" && r.status != "" && have.status != r.status:
		return nil
	case i > 0 && !o.allows(c.results[i-1], r), i+1 < len(c.results) && !o.allows(r, c.results[i+1]):
		return nil
	}
	if _, retried := o.before[r.id]; retried && i == 0 {
		return nil
	}
	if r.status == "" {
		r.status = have.status
	}
	c.results = slices.Clone(c.results)
	c.results[i] = r
	return []chain{c}
}

// add returns the chain after a retry of the last result as r. Only a failed result can be retried, and only once. The order
// fills in what is unknown of the two results.
func (o order) add(c chain, r result) []chain {
	last := c.results[len(c.results)-1]
	if r.id == "" {
		r.id = o.next[last.id]
	}
	if last.id == "" && o.before[r.id] != "" {
		named := o.bind(c, len(c.results)-1, result{id: o.before[r.id]})
		if len(named) == 0 {
			return nil
		}
		c, last = named[0], named[0].results[len(c.results)-1]
	}
	if last.status == OK || r.id != "" && c.has(r.id) || !o.allows(last, r) {
		return nil
	}
	results := make([]result, 0, len(c.results)+1)
	results = append(results, c.results...)
	results[len(c.results)-1].status = Failed
	c.results = append(results, r)
	return []chain{c}
}
