// Package model is a scripted decision model: an HTTP server that answers in the systemone wire format with the bytes of
// a script, after a pause. Unlike the model of pkg/testkit it parses no request, because it shares the processors with what
// is measured.
package model

import (
	"bytes"
	"cmp"
	"net"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp" //nolint:depguard // the cheapest server
)

// Script is the answer to the questions of one prism.
type Script struct {
	Question string // key of the first question; the requests of a prism contain this key
	Marker   string // what the requests contain in place of the key, if they are not those of systemone
	Response []byte // the whole response body
}

// Model is the running server.
type Model struct {
	server   *fasthttp.Server
	listener net.Listener
	scripts  []script
	pause    time.Duration
	waiting  atomic.Int64
	release  chan struct{}
	keep     atomic.Bool
	last     atomic.Pointer[[]byte]
}

type script struct{ marker, response []byte }

// New starts a model that responds after a pause, or at once after Release. A request that no script matches gets the
// response of the first script. Close ends the model.
func New(pause time.Duration, scripts ...Script) (*Model, error) {
	m := &Model{pause: pause, release: make(chan struct{})}
	for _, s := range scripts {
		m.scripts = append(m.scripts, script{[]byte(cmp.Or(s.Marker, `"questions":{"`+s.Question+`"`)), s.Response})
	}
	var err error
	if m.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	m.server = &fasthttp.Server{Handler: m.serve, NoDefaultServerHeader: true}
	go func() { _ = m.server.Serve(m.listener) }() // ends with the listener
	return m, nil
}

// URL is the base URL for PRISM_MODEL_BASE_URL.
func (m *Model) URL() string { return "http://" + m.Addr() }

// Addr is host and port.
func (m *Model) Addr() string { return m.listener.Addr().String() }

// Waiting is the number of calls that have no response yet.
func (m *Model) Waiting() int { return int(m.waiting.Load()) }

// Release ends the pause of the present and of all later calls.
func (m *Model) Release() { close(m.release) }

// Close stops the server and cuts its connections.
func (m *Model) Close() { _ = m.listener.Close() }

// Capture returns the body of the last request that the model received during call.
func (m *Model) Capture(call func() error) ([]byte, error) {
	m.keep.Store(true)
	defer m.keep.Store(false)
	if err := call(); err != nil {
		return nil, err
	}
	return *m.last.Load(), nil
}

func (m *Model) serve(ctx *fasthttp.RequestCtx) {
	body := ctx.PostBody()
	if m.keep.Load() {
		m.last.Store(new(bytes.Clone(body)))
	}
	response := m.scripts[0].response
	for _, s := range m.scripts {
		if bytes.Contains(body, s.marker) {
			response = s.response
			break
		}
	}
	m.wait()
	ctx.SetContentType("application/json")
	ctx.SetBody(response)
}

func (m *Model) wait() {
	if m.pause <= 0 {
		return
	}
	m.waiting.Add(1)
	defer m.waiting.Add(-1)
	timer := time.NewTimer(m.pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-m.release:
	}
}
