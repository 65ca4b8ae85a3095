// Package acceptance has OpenTofu apply configurations to a real Prism, by the provider. `make compat` runs it.
package acceptance
