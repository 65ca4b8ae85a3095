// Package chart renders the chart as Helm does and checks what comes out: against the types of Kubernetes, against Pod
// Security, object against object, and against the binaries that the Pods run. No cluster is needed.
package chart
