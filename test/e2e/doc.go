// Package e2e holds the rules of docs/specification over real HTTP, from outside the processes.
//
// There is one set of cases and two topologies that run it:
//
//	standalone   cases ──▶ prism ──▶ scripted model
//
//	services     cases ──▶ prism-gateway ──▶ prism-results ──▶ Postgres
//	                          │      └─────▶ prism-model-proxy ──▶ scripted model
//	                          └────────────▶ Redis
//
// The services run as they are shipped, without recorded traces, so their look-ups share round trips. Standalone exports its
// traces. TestTraces has a third topology, services that export their traces. What accounts do runs against services over four databases
// too, and with PRISM_TEST_DATABASES=1 all cases of the services do.
//
// A topology is started once and shared. Cases are kept apart by their own prisms, idempotency keys and model scripts. Cases
// that count or stop things bring an account or a stack of their own. A comment with `spec:` and a name says
// which rule a case holds. Every call and every response is also checked against the OpenAPI document, and the whole suite
// fails when a described operation was never used.
package e2e
