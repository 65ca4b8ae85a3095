// Package e2e holds every line of the contract and of its decisions over real HTTP, from outside the processes.
//
// There is one set of cases and two topologies that run it:
//
//	standalone   cases ──▶ prism ──▶ scripted model
//
//	services     cases ──▶ prism-gateway ──▶ prism-results ──▶ Postgres
//	                          │      └─────▶ prism-model-proxy ──▶ scripted model
//	                          └────────────▶ Redis
//
// A topology is started once and shared; cases stay apart by their own prisms, idempotency keys and model scripts, and
// those that count or stop things bring an account or a stack of their own. docs/contract-map.md says which case holds
// which line. Every call and every answer is also held against the OpenAPI document, and the whole suite fails when a
// described operation was never used.
package e2e
