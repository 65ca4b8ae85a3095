package bodies

import (
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/store"
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

// Filter is the part of a store's filter that lists, counts and exports have in common.
func Filter(c store.Caller, status prism.Status, f api.ResultFilter) store.Filter {
	return store.Filter{
		Status: status, Ref: f.Ref, Version: f.Version, Model: f.Model, Key: f.Key, Assignee: Assignee(c, f.Assignee), Run: f.Run,
		From: WholeMillisecond(f.From), To: WholeMillisecond(f.To),
	}
}

// Assignee is the member whose results a caller asks for: nil for those of all, zero for those of nobody. A key that is no member's has no
// results of its own (spec: assignee-filter).
func Assignee(c store.Caller, asked string) *prism.MemberID {
	switch asked {
	case "":
		return nil
	case "none":
		return &prism.MemberID{}
	case "me":
		return &prism.MemberID{UUID: c.Key.UUID}
	}
	id, err := prism.ParseUUID(asked)
	if err != nil { // the gateway has checked its form
		return nil
	}
	return &prism.MemberID{UUID: id}
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

// Fields is the object of the values that a result was made of, by field.
func Fields(fields []prism.FieldValue) strictjson.Value {
	return Object(fields, func(b []byte, f prism.FieldValue) []byte {
		return strictjson.AppendString(append(strictjson.AppendString(b, f.Key), ':'), f.Value)
	})
}
