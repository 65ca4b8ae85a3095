package httpkit

import (
	"testing"
	"time"
)

// The other tests set bounds of their own. These are the ones that a server has.
//
// spec: body-limit, header-limit, request-time, arriving-bodies, stalled-readers, export-limits, event-streams, overload
func TestTheBoundsOfAServerAreThoseOfTheSpecification(t *testing.T) {
	t.Parallel()
	const requests = 1000
	got := Config{MaxInFlight: requests}.withDefaults()
	for name, c := range map[string][2]int{
		"body": {got.BodyLimit, 1_048_576}, "headers": {got.HeaderLimit, 16 << 10}, "bodies": {got.MaxBodyBytes, 256 << 20},
		"responses": {got.MaxResponseBytes, 64 << 20}, "arriving bodies": {got.MaxArriving, requests},
		"connections": {got.MaxConnections, 4 * requests}, "refused connections": {maxRefused, 1024},
		"exports": {got.MaxStreams, 64}, "exports of an account": {got.MaxStreamsOfAccount, 8},
		"exports of a small server": {Config{MaxInFlight: 100}.withDefaults().MaxStreams, 50},
		"events":                    {got.MaxEventStreams, requests / 4}, "events of an account": {got.MaxEventStreamsOfAccount, 100},
		"bytes of a body a second": {leastRate, 1 << 10}, "bytes of a stream": {streamBytes, 256 << 10},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %d, want %d", name, c[0], c[1])
		}
	}
	for name, c := range map[string][2]time.Duration{
		"headers": {got.HeaderTimeout, 5 * time.Second}, "request": {got.ReadTimeout, 20 * time.Second}, "idle": {got.IdleTimeout, 75 * time.Second},
		"a client that takes nothing": {got.WriteTimeout, 30 * time.Second}, "the same at a stop": {got.StopStall, 5 * time.Second},
		"a body behind the rate": {rateGrace, 2 * time.Second}, "a stream that makes room": {streamPatience, 5 * time.Second},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %v, want %v", name, c[0], c[1])
		}
	}
}
