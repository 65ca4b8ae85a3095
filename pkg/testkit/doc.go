// Package testkit is what tests run programs with. pgtest, pgbouncer and redistest start real throwaway servers on Unix
// sockets in temporary folders; program builds and starts the repository's own programs, launch starts Prism with them, and
// model is a scripted model, chathost a scripted host of chat models; metrictest reads metrics, and syncbuffer keeps logs. A server that cannot be started fails the
// test: no test is skipped. Every program is killed when the process that started it ends, in whatever way.
package testkit
