// Package portkey tries the headers of a model (spec: model-headers) against a gateway that needs some: Portkey's, from npm,
// which learns from headers which provider is behind it and where.
//
//	prism ──▶ Portkey's gateway ──▶ scripted chat model
package portkey
