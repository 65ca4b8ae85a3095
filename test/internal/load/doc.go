// Package load calls Prism, for the benchmark, the chaos tests and the tests of a cluster.
//
// A Load is clients that make every kind of call and check every response: the histories of their calls must be linearizable
// (package history), bytes never change, no response is outside of the specification, and at the end every result is read
// again. The clients repeat nothing, except what every HTTP client repeats: a request of which nothing was sent goes over a
// new connection when the kept connection is closed.
//
// Closed, Steady and Once measure. They send ready-made requests and read no more of a response than necessary, because the
// processor time of the load generator is missing for what is measured.
package load
