package e2e

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/testkit/model"
	"github.com/prism-results/prism/test/e2e/internal/openapi"
	"github.com/prism-results/prism/test/internal/load"
)

// client calls a stack as one account.
type client struct {
	stack   *stack
	key     string
	account string
	// impatient clients take the 503 for the answer. Others repeat their calls, as a busy machine may need longer than Prism lets a call
	// wait for its turn.
	impatient bool
}

// call is a request. The zero value of each member fits most cases.
type call struct {
	method string // GET without a body, POST with one
	path   string // from the first slash, with the query, sent byte for byte
	// body is sent as it is. contentType is application/json by default if there is a body; "none" sends no such header.
	body        string
	contentType string
	// auth is the Authorization header instead of the client's own; "none" sends no such header.
	auth   string
	header http.Header
	// sent is called when the request has been written.
	sent func()
}

const none = "none"

// reply is a response, read whole.
type reply struct {
	status  int
	header  http.Header
	body    []byte // decompressed
	arrived int    // bytes of the body as they came
	closes  bool   // says Connection: close
	request string // its X-Request-Id as sent
	took    time.Duration
}

func (c *client) request(ctx context.Context, in call) (*http.Request, error) {
	if in.method == "" {
		in.method = http.MethodGet
		if in.body != "" {
			in.method = http.MethodPost
		}
	}
	var body io.Reader
	if in.body != "" {
		body = strings.NewReader(in.body)
	}
	req, err := http.NewRequestWithContext(ctx, in.method, "http://"+c.stack.front.Listen, body)
	if err != nil {
		return nil, err
	}
	req.URL.Opaque = in.path // the path as it is, be it malformed
	if strings.HasPrefix(in.path, "//") {
		req.URL = &url.URL{Scheme: "http", Host: c.stack.front.Listen, Path: in.path}
	}
	switch {
	case in.contentType == none:
	case in.contentType != "":
		req.Header.Set("Content-Type", in.contentType)
	case in.body != "":
		req.Header.Set("Content-Type", "application/json")
	}
	switch in.auth {
	case none:
	case "":
		req.Header.Set("Authorization", "Bearer "+c.key)
	default:
		req.Header.Set("Authorization", in.auth)
	}
	req.Header.Set("X-Request-Id", "e2e-"+rand.Text())
	for name, values := range in.header {
		req.Header[name] = values
	}
	return req, nil
}

// try sends a call and checks what holds for every response: the response has X-Request-Id, an error repeats no value of
// the call and nothing of the model's response, and the OpenAPI document describes the response, and the call if the gateway
// accepted the call (spec: request-id, values-are-never-repeated, error-texts-hold-no-secrets, openapi-document).
func (c *client) try(t *testing.T, in call) (reply, error) {
	t.Helper()
	ctx := t.Context()
	if in.sent != nil {
		ctx = whenWritten(ctx, in.sent)
	}
	req, err := c.request(ctx, in)
	if err != nil {
		return reply{}, err
	}
	began := time.Now()
	resp, err := c.stack.http.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	arrived, err := io.ReadAll(resp.Body)
	if err != nil {
		return reply{}, err
	}
	b := arrived
	if resp.Header.Get("Content-Encoding") == "gzip" {
		if b, err = unzip(arrived); err != nil {
			return reply{}, err
		}
	}
	r := reply{
		status: resp.StatusCode, header: resp.Header, body: b, arrived: len(arrived), closes: resp.Close,
		request: req.Header.Get("X-Request-Id"), took: time.Since(began),
	}
	if r.header.Get("X-Request-Id") == "" {
		t.Errorf("%s %s: no X-Request-Id in the response", req.Method, in.path)
	}
	if strings.Contains(string(b), model.BodyMark) {
		t.Errorf("%s %s: the response repeats what the model said: %s", req.Method, in.path, b)
	}
	if strings.Contains(string(b), `"error":{`) && strings.Contains(string(b), model.Mark) {
		t.Errorf("%s %s: the error repeats a value sent: %s", req.Method, in.path, b)
	}
	doc, err := world.stacks[c.stack.topology].document()
	if err != nil {
		return r, err
	}
	err = doc.Check(openapi.Exchange{
		Method: req.Method, Target: in.path, ContentType: req.Header.Get("Content-Type"), Body: in.body,
		Status: r.status, Header: r.header, Response: r.body,
	})
	if err != nil {
		t.Errorf("%s %s is not as the OpenAPI document says: %v", req.Method, in.path, err)
	}
	return r, nil
}

func unzip(zipped []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// do sends a call that gets a response.
func (c *client) do(t *testing.T, in call) reply {
	t.Helper()
	r, err := c.repeat(t, in, c.impatient)
	if err != nil {
		t.Fatalf("%s: %v", in.path, err)
	}
	return r
}

// repeat sends a call, and unless its client is impatient again while a service had no time for it.
func (c *client) repeat(t *testing.T, in call, impatient bool) (reply, error) {
	t.Helper()
	for end := time.Now().Add(patience); ; {
		r, err := c.try(t, in)
		again := r.status == 503 && r.header.Get("Retry-After") == "1" || r.late() && in.method == http.MethodPut
		if err != nil || impatient || !again || time.Now().After(end) {
			return r, err
		}
		load.Wait(t.Context(), time.Second)
	}
}

// late tells whether nobody knows what a call did, as results took longer than they are waited for (spec: error-internal).
func (r reply) late() bool { return r.status == 500 && r.took >= contract.ResultsWait }

func (c *client) get(t *testing.T, path string) reply {
	t.Helper()
	return c.do(t, call{path: path})
}

func (c *client) post(t *testing.T, path, body string) reply {
	t.Helper()
	return c.do(t, call{method: http.MethodPost, path: path, body: body})
}

func (c *client) put(t *testing.T, path, body string) reply {
	t.Helper()
	return c.do(t, call{method: http.MethodPut, path: path, body: body})
}

// create makes a result of a prism.
func (c *client) create(t *testing.T, prism, body string) reply {
	t.Helper()
	return c.post(t, "/v1/prisms/"+prism+"/results", body)
}

// retry retries a result.
func (c *client) retry(t *testing.T, id string) reply {
	t.Helper()
	return c.post(t, "/v1/results/"+id+"/retry", "")
}

// read reads a result.
func (c *client) read(t *testing.T, id, format string) reply {
	t.Helper()
	path := "/v1/results/" + id
	if format != "" {
		path += "?format=" + format
	}
	return c.get(t, path)
}

// outcome is the reply or the error of a concurrent call.
type outcome struct {
	reply reply
	err   error
}

// start sends a call in the background.
func (c *client) start(t *testing.T, in call) <-chan outcome {
	t.Helper()
	out, impatient := make(chan outcome, 1), c.impatient
	go func() {
		r, err := c.repeat(t, in, impatient)
		if in.sent != nil {
			in.sent() // nobody waits for a call that could not be sent
		}
		out <- outcome{r, err}
	}()
	return out
}

// await waits for a call that was started.
func await(t *testing.T, calls <-chan outcome) reply {
	t.Helper()
	select {
	case a := <-calls:
		if a.err != nil {
			t.Fatal(a.err)
		}
		return a.reply
	case <-time.After(patience):
		t.Fatal("no answer")
		return reply{}
	}
}

// patience bounds the wait for what must happen.
const patience = 2 * time.Minute
