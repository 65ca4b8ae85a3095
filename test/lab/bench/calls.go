package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"

	"github.com/prism-results/prism/test/internal/load"
	"github.com/prism-results/prism/test/lab/bench/internal/system"
)

// The calls that are measured.
const (
	readCall   = "read"
	createCall = "create"
	keyedCall  = "create with a key"
)

// callNames are the flags' words for the calls, in the order of reports.
var callNames = []struct{ flag, name string }{{"read", readCall}, {"create", createCall}, {"keyed", keyedCall}}

// work is calls of one kind to one system, for the nth prism.
func work(s *system.System, call string, n int) load.Work {
	switch call {
	case readCall:
		return reads(s, s.IDs[n])
	case keyedCall:
		return keyedCreates(s, system.Prisms()[n])
	}
	return creates(s, system.Prisms()[n])
}

// request is the text of a request.
func request(s *system.System, method, path, body string) []byte {
	b := method + " " + path + " HTTP/1.1\r\nHost: prism\r\nAuthorization: Bearer " + s.Key + "\r\n"
	if body != "" {
		b += "Content-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n"
	}
	return []byte(b + "\r\n" + body)
}

// reads are reads of random results among ids.
func reads(s *system.System, ids []string) load.Work {
	requests := make([][]byte, len(ids))
	for i, id := range ids {
		requests[i] = request(s, http.MethodGet, "/v1/results/"+id, "")
	}
	return load.Work{
		Addr: s.Addr, Status: http.StatusOK,
		Request: func(int) []byte { return requests[rand.IntN(len(requests))] },
	}
}

func creates(s *system.System, p system.Prism) load.Work {
	b := s.Request
	if b == nil {
		b = request(s, http.MethodPost, p.CreatePath(), p.Body(""))
	}
	return load.Work{Addr: s.Addr, Status: http.StatusOK, Request: func(int) []byte { return b }}
}

// keyedCreates have a fresh idempotency key each.
func keyedCreates(s *system.System, p system.Prism) load.Work {
	run := strconv.FormatUint(rand.Uint64(), 36)
	path := p.CreatePath() + s.Query
	return load.Work{Addr: s.Addr, Status: http.StatusOK, Request: func(n int) []byte {
		return request(s, http.MethodPost, path, p.Body(run+"-"+strconv.Itoa(n)))
	}}
}

// sample is one measurement of one kind of call to one system.
type sample struct {
	Rate float64            `json:"per_second"`
	P50  float64            `json:"p50_ms"`
	P99  float64            `json:"p99_ms"`
	CPU  map[string]float64 `json:"cpu_us"` // processor time of one call, by process
}

// total is the processor time of one call in all processes of the system, Postgres and Redis, in µs. The load generator
// and the model are not part of the total.
func (s sample) total() (us float64) {
	for name, n := range s.CPU {
		if name != system.LoadAndModel {
			us += n
		}
	}
	return us
}

// measure runs calls in a closed loop, after a moment that is not measured. The processor time of a call has what is done of it beside
// the calls and behind them, such as the index: measure ends when the system rests, and so does not slow down what is measured next.
func (b *bench) measure(ctx context.Context, s *system.System, call string, prism int) (sample, error) {
	got, err := b.measureWork(ctx, s, work(s, call, prism), b.Conns)
	if err != nil {
		return got, fmt.Errorf("%s: %s: %w", s.Name, call, err)
	}
	return got, nil
}

func (b *bench) measureWork(ctx context.Context, s *system.System, w load.Work, conns int) (sample, error) {
	if _, err := load.Closed(ctx, w, conns, b.Length/10); err != nil {
		return sample{}, err
	}
	return b.sample(s, func() (load.Figures, error) {
		f, err := load.Closed(ctx, w, conns, b.Length)
		return f, errors.Join(err, s.Rest(ctx))
	})
}

// sample runs calls to a system.
func (b *bench) sample(s *system.System, calls func() (load.Figures, error)) (sample, error) {
	before, err := s.CPU()
	if err != nil {
		return sample{}, err
	}
	f, err := calls()
	if err != nil {
		return sample{}, fmt.Errorf("%s: %w", s.Name, err)
	}
	after, err := s.CPU()
	if err != nil {
		return sample{}, err
	}
	b.tellRefused(f)
	cpu := map[string]float64{}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		cpu[name] = float64((after[name] - before[name]).Microseconds()) / float64(max(1, len(f.Took)))
	}
	return sample{f.Rate(), milliseconds(f.Percentile(50)), milliseconds(f.Percentile(99)), cpu}, nil
}

func (b *bench) tellRefused(f load.Figures) {
	if f.Refused > 0 {
		fmt.Fprintf(b.out, "  %d calls got 503, %d succeeded\n", f.Refused, len(f.Took))
	}
}
