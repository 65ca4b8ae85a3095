package attack

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prism-results/prism/pkg/apikey"
	"github.com/prism-results/prism/test/internal/wide"
)

// Account is the account of an attacker.
type Account struct {
	Addr string // host and port of the API
	Key  string // one of many
	Slug string // of a prism with many results
	Hang string // the body of a create to which the model does not respond, up to its last brace
	Once string // an idempotency key that no result holds
}

// Kind is an attack with its name in reports.
type Kind struct {
	Name string
	Attack
}

// Kinds are the attacks of one account, which comes from one address. most is how many connections it opens.
func Kinds(a Account, conns int) []Kind {
	results := "/v1/prisms/" + a.Slug + "/results"
	same := func(request []byte) func(int) []byte { return func(int) []byte { return request } }
	half := []byte("POST " + results + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
	kinds := []Kind{
		{"sockets that send chunked headers alone", Attack{Conns: conns, Request: same(half)}},
		{"exports that nobody reads", Attack{Conns: conns, Stall: true, Request: same(Request(http.MethodGet, results, a.Key, nil))}},
		{"lists of all keys", Attack{
			Conns: min(conns, 8), Request: same(Request(http.MethodGet, "/v1/keys?limit=100", a.Key, nil)), Pause: 10 * time.Millisecond,
		}},
		{"hanging creates", Attack{Conns: conns, Request: same(Request(http.MethodPost, results, a.Key, []byte(a.Hang+"}")))}},
		{"waiters on one idempotency key", Attack{
			Conns: conns, Request: same(Request(http.MethodPost, results, a.Key, []byte(a.Hang+`,"idempotency_key":"`+a.Once+`"}`))),
		}},
		{"unknown keys", Attack{Conns: min(conns, 16), Request: func(int) []byte { return unknown(results) }, Pause: 10 * time.Millisecond}},
	}
	for i := range kinds {
		k := &kinds[i].Attack
		k.Addr = a.Addr
		if k.Pause == 0 {
			k.Pause, k.Ramp = 5*time.Second, 3*time.Second // a refused connection costs the attacker little
		}
	}
	return kinds
}

// Measurer is an account with a wide prism (package wide), and one of its results.
type Measurer struct{ Key, Result string }

// Measures are calls of accounts that measure everything of so many results. Before each, a label changes, so that nothing was measured
// before.
func Measures(addr string, conns, results int, by ...Measurer) Kind {
	quality := "/v1/prisms/" + wide.Slug + "/versions/1/quality"
	var calls atomic.Int64
	return Kind{fmt.Sprintf("measures of %d results with %d labels each, by %d callers", results, wide.Questions, conns), Attack{
		Addr: addr, Conns: conns, Pause: 10 * time.Millisecond, Request: func(n int) []byte {
			m, call := by[n%len(by)], calls.Add(1)
			if call%2 == 0 {
				return Request(http.MethodGet, quality, m.Key, nil)
			}
			label := fmt.Sprintf(`{"sample":"random","labels":{"q%d":"o%d"}}`, call%wide.Questions, call/wide.Questions%wide.Options)
			return Request(http.MethodPut, "/v1/results/"+m.Result+"/labels", m.Key, []byte(label))
		},
	}}
}

// DryRuns are dry runs of a file with a column message.
func DryRuns(addr string, conns int, key, file string) Kind {
	body := fmt.Sprintf(`{"file_id":%q,"fields":{"message":"message"},"dry_run":true}`, file)
	return Kind{fmt.Sprintf("dry runs by %d callers", conns), Attack{
		Addr: addr, Conns: conns, Pause: 10 * time.Millisecond,
		Request: func(int) []byte { return Request(http.MethodPost, "/v1/prisms/"+wide.Slug+"/runs", key, []byte(body)) },
	}}
}

// Pages are the largest pages of lists with large rows, each path in turn.
func Pages(addr string, conns int, key string, paths ...string) Kind {
	return Kind{fmt.Sprintf("pages of large results by %d callers", conns), Attack{
		Addr: addr, Conns: conns, Pause: 10 * time.Millisecond,
		Request: func(n int) []byte { return Request(http.MethodGet, paths[n%len(paths)], key, nil) },
	}}
}

// unknown is a request with a key that is well-formed and of no account.
func unknown(path string) []byte {
	key, err := apikey.New(rand.Reader)
	if err != nil {
		panic(err) // the system has no random numbers
	}
	return Request(http.MethodGet, path, key.Reveal(), nil)
}

// Request is the bytes of a request. A body, if there is one, is JSON.
func Request(method, path, key string, body []byte) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n", method, path, key)
	if body != nil {
		fmt.Fprintf(&b, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	b.WriteString("\r\n")
	b.Write(body)
	return b.Bytes()
}
