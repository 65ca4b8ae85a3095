// Package failure has the classes of failed calls: what is done about a failure depends on its class alone
// (spec: failure-classes).
package failure

import "slices"

// Class is a kind of failure. It is a label of metrics and a member of log lines.
type Class string

// The classes. OK is that of a call that did not fail.
const (
	OK          Class = "ok"
	Unavailable Class = "unavailable"
	Limited     Class = "limited"
	Exhausted   Class = "exhausted"
	RefusedKey  Class = "refused_key"
	NotFound    Class = "not_found"
	Content     Class = "content"
	TooLong     Class = "too_long"
	Parameter   Class = "parameter"
	Unreadable  Class = "unreadable"
	NoAnswer    Class = "no_answer"
)

// Classes are the classes of failures.
func Classes() []Class {
	return []Class{Unavailable, Limited, Exhausted, RefusedKey, NotFound, Content, TooLong, Parameter, Unreadable, NoAnswer}
}

// FallsBack reports whether the next model is asked after such a failure, unless the model says otherwise (spec: fallback).
func (c Class) FallsBack() bool {
	return slices.Contains([]Class{Unavailable, Limited, Exhausted, Unreadable}, c)
}

// OfRequest reports whether such a failure says something about the request, and nothing about the model: another request may succeed
// (spec: model-breaker).
func (c Class) OfRequest() bool { return slices.Contains([]Class{Content, TooLong, NoAnswer}, c) }
