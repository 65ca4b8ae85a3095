// Package load is callers of Prism that call at a constant rate, whatever happens to earlier calls, compare every response
// with the only correct one, and read every result again at the end.
//
// A call failed when it got no response, a 500 or a 503, or a failed result without a failure of the model. Failed calls are
// counted and explained, because some faults cannot be hidden from a caller. A call is wrong when its response contradicts
// the specification: the result of another call, other bytes than before, or a result that no longer exists.
//
// The callers repeat nothing, except what every HTTP client repeats: a GET, or a request of which nothing was sent, goes over
// a new connection when the kept connection is closed.
package load
