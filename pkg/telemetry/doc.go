// Package telemetry makes the logger, the tracer and the metrics registry that a binary passes to its services. Nothing in it is
// global.
//
// Logs, labels and span attributes hold no account, key, id of a result, or value that a caller sent
// (spec: values-are-never-repeated, admin-port).
package telemetry
