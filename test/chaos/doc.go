// Package chaos proves the promises of Prism under concurrency, crashes and broken connections.
// spec: linearizable, one-save-per-result, durable-before-response
//
// Many clients share idempotency keys, retry each other's results and read, against two gateways, two results services, one
// model-proxy, a real Postgres and a real Redis. Meanwhile a plan, which a seed decides, kills, stops, cuts and delays the
// services and their connections. Then all responses are checked:
//
//   - porcupine checks each race against a small model of the specification (test/internal/history). A race is an idempotency
//     key, or a create without a key, with all results that are reachable from it;
//   - the bodies of responses are compared with Postgres, byte by byte (audit_test.go);
//   - the model calls are compared with the saved results (test/internal/upstream);
//   - nothing is stuck once the faults have ended, and no service has ended by itself;
//   - a consumer of changes that dies at random has the table of results that is stored (consumers_test.go).
//
// crash_test.go kills a process at each named step of each kind of call and checks what is left. lapse_test.go kills a
// gateway that holds a lock. redis_test.go fails Redis alone, and clock_test.go sets wall clocks. databases_test.go breaks one
// of four Postgres, which accounts in the others must not notice. overload_test.go floods a gateway. memory_test.go attacks
// processes with a memory limit, which need the right to make control groups. broken_test.go breaks Prism, to prove that the
// checks above find violations.
//
// TestRunsAnswerEachRowOnceForEachSeed of cmd/prism is beside this package: it makes many histories of runs in one process, in a time
// of its own. CHAOS_SEEDS is their number.
//
// The tests are for machines of any load. A test checks what is right or wrong at any speed at once, and repeats a late
// measurement of time (onceOf). Measurements use the services as they are shipped. The services of the histories have the
// race detector when the tests have it, or when PRISM_TEST_RACE is set.
//
// CHAOS is the duration of the faults (10s unless set). CHAOS_SEED repeats the plan of a run.
package chaos
