package bodies

import (
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/strictjson"
)

// Time is a time, or null for nil.
func Time(t *time.Time) *api.Time {
	if t == nil {
		return nil
	}
	return &api.Time{Time: *t}
}

// Optional is a text, or null for the empty one.
func Optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// lastMillisecond is the last one that has a text (prism.FormatTime).
var lastMillisecond = time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC).Add(-time.Millisecond)

// WholeMillisecond rounds up to a whole millisecond, but not beyond the last one. Results are saved at whole milliseconds, so both
// bounds select the same results, and stores need not round.
func WholeMillisecond(t time.Time) time.Time {
	whole := t.Truncate(time.Millisecond)
	if whole.Before(t) && whole.Before(lastMillisecond) {
		whole = whole.Add(time.Millisecond)
	}
	return whole
}

// Bound is a time of a request that bounds something, as the times of results are: in whole milliseconds. Nil bounds nothing, and
// is the zero time.
func Bound(t *time.Time) time.Time {
	switch {
	case t == nil:
		return time.Time{}
	case t.IsZero():
		return WholeMillisecond(t.Add(1)) // no result was saved between the two
	}
	return WholeMillisecond(*t)
}

// Object is a JSON object whose members keep their order.
func Object[M any](members []M, appendMember func([]byte, M) []byte) strictjson.Value {
	b := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendMember(b, m)
	}
	return append(b, '}')
}
