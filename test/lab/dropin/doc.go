// Package dropin runs the programs of docs/drop-in.md, with the official clients, against Prism.
package dropin
