// Package httpkit is the HTTP server of every service: exact paths, bounded bodies, one place that writes errors, and a stop
// that finishes the requests in flight.
//
// Fiber routes. What must hold before a route, after a route or without a route is in a guard around Fiber's handler, and in
// a connection type under fasthttp. A connection moves through these states:
//
//	         first byte          request parsed             handler returned
//	waiting ───────────▶ reading ──────────────▶ handling ──────────────────▶ responding
//	   ▲                                                                          │
//	   └─────────────────── next read: the response was sent ─────────────────────┘
//
//	waiting          ──▶ cut      when a new connection needs the place of the one that has been idle longest
//	waiting, reading ──▶ cut      when the server has drained: no request was taken
//	any              ──▶ closed   after a last response, half-closed first and read until the client closes ("linger"), so
//	                              that the response arrives
//
// A request takes a place among the requests in flight when it begins to be handled. A request whose body is still to come
// takes that place when ReadBody has the whole body, and counts as arriving before (spec: arriving-bodies).
//
// When MaxConnections are open and none has been idle for 5 s, a new connection is served if its address has fewer connections
// than its share. Otherwise its first request gets the 503, and the connection is closed after a linger.
//
// A server moves through these states:
//
//	new ──Run──▶ serving ──ctx done──▶ leaving ──DrainDelay──▶ refusing ──in-flight done──▶ stopped
//
// A leaving server still serves, with Connection: close, and is not ready. A refusing server responds 503 to new requests
// (spec: stopping, drain-delay).
package httpkit
