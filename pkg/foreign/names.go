package foreign

import (
	"strconv"
	"strings"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/strictjson"
)

// The keys of questions of ad-hoc prisms, and of their options and levels, are these and their place, from 1 (spec: adhoc-names).
const (
	questionPrefix = "q"
	memberPrefix   = "o"
)

// QuestionKey is the key of the question of an ad-hoc prism at a place, from 0.
func QuestionKey(at int) string { return questionPrefix + strconv.Itoa(at+1) }

// MemberKey is the key of the option or level at a place, from 0.
func MemberKey(at int) string { return memberPrefix + strconv.Itoa(at+1) }

// Names are what a call names the questions of an ad-hoc prism, by their places (spec: adhoc-names). Without them, keys are names.
type Names []api.NamesOfQuestion

// appendQuestion appends the name of a question in OpenAI's format, which is null if the call has none.
func (n Names) appendQuestion(b []byte, at int, q Question) []byte {
	switch {
	case at >= len(n):
		return strictjson.AppendString(b, q.Name())
	case n[at].Name == nil:
		return append(b, "null"...)
	}
	return strictjson.AppendString(b, *n[at].Name)
}

// question is the name of a question in TypeSafe's format, which always has one.
func (n Names) question(at int, q Question) string {
	if at < len(n) && n[at].Name != nil {
		return *n[at].Name
	}
	return q.Name()
}

// value is the JSON that the call has as the option or level with a key; "" if it names none.
func (n Names) value(at int, key string) string {
	if at >= len(n) {
		return ""
	}
	place, err := strconv.Atoi(strings.TrimPrefix(key, memberPrefix))
	if err != nil || place < 1 || place > len(n[at].Values) {
		return ""
	}
	return n[at].Values[place-1]
}

// appendValue appends the value of an option or a level, or a text that stands for it if the call names none.
func (n Names) appendValue(b []byte, at int, key, otherwise string) []byte {
	if v := n.value(at, key); v != "" {
		return append(b, v...)
	}
	return strictjson.AppendString(b, otherwise)
}

// text is the value of an option as a text: that of the call, or its key.
func (n Names) text(at int, key string) string {
	var s string
	if v := n.value(at, key); v != "" && read([]byte(v), &s) {
		return s
	}
	return key
}
