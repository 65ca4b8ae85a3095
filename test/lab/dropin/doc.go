// Package dropin runs the programs of docs/drop-in.md and docs/agents.md, with the official clients, against Prism.
package dropin
