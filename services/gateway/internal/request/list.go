package request

import (
	"math"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// sentID reports whether a query parameter is a UUID.
func (r *reader) sentID(q Query, name string) bool {
	sent := q(name)
	if len(sent) != 1 {
		return false
	}
	_, err := prism.ParseUUID(sent[0])
	return err == nil
}

// uuid reads a query parameter that is a UUID. It is nil if absent or empty.
func (r *reader) uuid(q Query, name string) *prism.UUID {
	s := r.single(q, name, kindString)
	if s == "" {
		return nil
	}
	id, err := prism.ParseUUID(s)
	if err != nil {
		r.add(name, textUUID)
		return nil
	}
	return &id
}

// cursor reads a cursor of the list (spec: page-cursor). It is empty if absent.
func (r *reader) cursor(q Query, list contract.List) string {
	before := len(r.problems)
	s := r.singleStr(q, "cursor", maxCursor)
	if _, ok := list.ParseCursor(s); !ok && s != "" && len(r.problems) == before {
		r.add("cursor", textCursor)
	}
	return s
}

// datetime reads an RFC 3339 date-time as UTC. It is the zero time if absent.
func (r *reader) datetime(q Query, name string) time.Time {
	s := r.singleStr(q, name, math.MaxInt)
	if s == "" {
		return time.Time{}
	}
	t, ok := parseDatetime(s)
	if !ok {
		r.add(name, textDatetime)
	}
	return asBound(t)
}

// asBound returns t, or the next nanosecond if t is the zero time, which stands for no bound. No result was saved between the two.
func asBound(t time.Time) time.Time {
	if t.IsZero() {
		return t.Add(1)
	}
	return t
}

// parseDatetime reads an RFC 3339 date-time as UTC.
func parseDatetime(s string) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil || !strict(s) || !writable(t) {
		return time.Time{}, false
	}
	return t.UTC(), true
}

// strict tells whether s, which time.Parse has accepted, is RFC 3339. time.Parse also accepts hours of one digit, commas
// and offsets of any size (go.dev/issue/54580).
func strict(s string) bool {
	const date, seconds = len("2006-01-02T"), len("2006-01-02T15:04:05")
	if s[date+1] == ':' || s[seconds] == ',' {
		return false
	}
	n := len(s)
	return s[n-1] == 'Z' || s[n-len("00:00"):n-len(":00")] < "24" && s[n-len("00"):] < "60"
}

// writable tells whether the year in UTC has four digits, as in every stored time.
func writable(t time.Time) bool {
	year := t.UTC().Year()
	return year >= 0 && year <= 9999
}
