// Package chaos proves the promises of Prism under concurrency, crashes and broken connections.
// spec: linearizable, one-save-per-result, durable-before-response
//
// Many clients share idempotency keys, retry each other's results and read, against two gateways, two results, one
// model-proxy, a real Postgres and a real Redis, while a plan that a seed decides kills, stops, cuts and delays them. Then
// everything that the clients were told is checked:
//
//   - each race (a key, or a create without one, with all that is reachable from it) against a small model of the contract,
//     by porcupine (internal/history);
//   - what was served against what Postgres holds, byte by byte (audit_test.go);
//   - what the model was asked against what was saved (internal/upstream);
//   - that nothing is stuck once the faults have ended, and that no service ended by itself.
//
// crash_test.go has a process die at each named step of a call, for each kind of call, and looks at exactly what is left;
// lapse_test.go has a gateway killed that holds a lock; overload_test.go floods a gateway. broken_test.go breaks Prism, to
// see that all this is seen.
//
// The tests are for machines of any load. What is right or wrong at any speed is checked at once. What is promised of time
// is measured until the machine lets it be seen (onceOf), with the services as they are shipped. -services.race builds
// those of the histories with the race detector, which is the default when the tests have it.
//
// CHAOS is how long the faults last (10s unless set), CHAOS_SEED repeats a run's plan.
package chaos
