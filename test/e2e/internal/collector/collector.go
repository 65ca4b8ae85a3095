// Package collector receives the traces that processes export over OTLP, so that a test can search them.
package collector

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
)

// Collector is an OTLP endpoint for http/protobuf.
type Collector struct {
	server *httptest.Server

	mu     sync.Mutex
	bodies [][]byte
}

// New starts a collector.
func New() *Collector {
	c := &Collector{}
	c.server = httptest.NewServer(http.HandlerFunc(c.receive))
	return c
}

// URL is what OTEL_EXPORTER_OTLP_ENDPOINT is set to.
func (c *Collector) URL() string { return c.server.URL }

// Close stops the server.
func (c *Collector) Close() { c.server.Close() }

// Bodies are the received messages. Protocol buffers hold strings unencoded.
func (c *Collector) Bodies() [][]byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([][]byte(nil), c.bodies...)
}

func (c *Collector) receive(w http.ResponseWriter, r *http.Request) {
	var body io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		zipped, err := gzip.NewReader(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = zipped
	}
	b, err := io.ReadAll(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bodies = append(c.bodies, b)
	w.Header().Set("Content-Type", "application/x-protobuf")
}
