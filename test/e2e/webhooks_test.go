package e2e

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/prism-results/prism/test/e2e/internal/openapi"
)

// webhookBudget bounds the wait for an event, on a machine of any load.
const webhookBudget = 2 * time.Minute

// told is an event as a receiver got it.
type told struct {
	header http.Header
	body   []byte
	Type   string `json:"type"`
	Data   struct {
		ResultID string `json:"result_id"`
	} `json:"data"`
}

func (e told) id() string { return e.header.Get("webhook-id") }

// receiver is a server to which a webhook sends.
type receiver struct {
	URL string

	mu   sync.Mutex
	told []told
	next []int // statuses of the next answers; then 200
	came chan struct{}
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{came: make(chan struct{}, 1)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		e := told{header: req.Header.Clone(), body: body}
		_ = json.Unmarshal(body, &e)
		r.mu.Lock()
		defer r.mu.Unlock()
		status := http.StatusOK
		if len(r.next) > 0 {
			status, r.next = r.next[0], r.next[1:]
		}
		r.told = append(r.told, e)
		w.WriteHeader(status)
		select {
		case r.came <- struct{}{}:
		default:
		}
	}))
	t.Cleanup(server.Close)
	r.URL = server.URL
	return r
}

// answer has the next tries answered with statuses.
func (r *receiver) answer(statuses ...int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next = statuses
}

// await waits for so many tries in all.
func (r *receiver) await(t *testing.T, n int) []told {
	t.Helper()
	timeout := time.After(webhookBudget)
	for {
		r.mu.Lock()
		got := slices.Clone(r.told)
		r.mu.Unlock()
		if len(got) >= n {
			return got
		}
		select {
		case <-r.came:
		case <-timeout:
			t.Fatalf("of %d tries %d came", n, len(got))
		}
	}
}

// verify holds the signature of an event, as the official library of Standard Webhooks does.
func verify(t *testing.T, e told, secrets ...string) {
	t.Helper()
	for _, secret := range secrets {
		w, err := standardwebhooks.NewWebhook(secret)
		if err == nil {
			err = w.Verify(e.body, e.header)
		}
		if err != nil {
			t.Errorf("%s %s: %v", e.Type, e.id(), err)
		}
	}
}

// webhook makes a webhook, and returns its path and its secret.
func (c *client) webhook(t *testing.T, body string) (path, secret string) {
	t.Helper()
	r := c.post(t, "/v1/webhooks", body)
	r.wantStatus(t, 201)
	var made struct{ ID, Secret string }
	r.decode(t, &made)
	return "/v1/webhooks/" + made.ID, made.Secret
}

// TestWebhooks holds that what happens is told to receivers.
func TestWebhooks(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		// spec: event-signature, delivery-order, delivery-tries, delivery-at-least-once
		t.Run("events are signed, in order, and tried again", func(t *testing.T) {
			t.Parallel()
			own, to := s.ownAccount(t), newReceiver(t)
			path, secret := own.webhook(t, object("url", to.URL+"/hook", "events", []string{"result.created"}))
			slug := own.triage(t)
			var want []string
			create := func() { want = append(want, own.create(t, slug, text("hello")).ok(t).ID) }
			for range 3 {
				create()
			}
			to.await(t, 3)
			to.answer(500)
			create()
			create()
			got := to.await(t, 6)
			if got[3].id() != got[4].id() || string(got[3].body) == "" {
				t.Errorf("a failed try of %s was followed by %s", got[3].id(), got[4].id())
			}
			var results []string
			for i, e := range got {
				verify(t, e, secret)
				if e.Type != "result.created" || e.header.Get("Content-Type") != "application/json" {
					t.Errorf("got %s: %s", e.Type, e.body)
				}
				if i != 3 {
					results = append(results, e.Data.ResultID)
				}
			}
			wantEqual(t, "the results in their order", results, want)

			own.post(t, path+"/test", "").wantStatus(t, 200)
			got = to.await(t, 7)
			wantEqual(t, "the test", got[6].Type, "webhook.test")
			verify(t, got[6], secret)

			r := own.post(t, path+"/rotate", "")
			r.wantStatus(t, 200)
			var rotated struct{ Secret string }
			r.decode(t, &rotated)
			create()
			got = to.await(t, 8)
			verify(t, got[7], secret, rotated.Secret)
		})
		// spec: webhook-resend, webhook-disabled, delivery-list
		t.Run("an event is sent again, and a disabled webhook is told nothing", func(t *testing.T) {
			t.Parallel()
			own, to := s.ownAccount(t), newReceiver(t)
			hook := []any{"url", to.URL, "events", []string{"result.created"}}
			path, _ := own.webhook(t, object(hook...))
			slug := own.triage(t)
			own.create(t, slug, text("one")).ok(t)
			first := to.await(t, 1)[0].id()
			delivered := func() string {
				var page struct{ Data []struct{ ID, Status string } }
				r := own.get(t, path+"/deliveries?status=delivered")
				r.wantStatus(t, 200)
				r.decode(t, &page)
				if len(page.Data) == 0 {
					return ""
				}
				return page.Data[0].ID
			}
			for end := time.Now().Add(webhookBudget); delivered() != first; {
				if time.Now().After(end) {
					t.Fatalf("%s is not delivered", first)
				}
			}
			own.post(t, path+"/deliveries/"+first+"/resend", "").wantStatus(t, 200)
			wantEqual(t, "what was sent again", to.await(t, 2)[1].id(), first)

			own.put(t, path, object(append(hook, "enabled", false)...)).wantStatus(t, 200)
			own.create(t, slug, text("two")).ok(t)
			own.post(t, path+"/test", "").wantStatus(t, 409)
			own.put(t, path, object(hook...)).wantStatus(t, 200)
			last := own.create(t, slug, text("three")).ok(t).ID
			wantEqual(t, "what is told when it is enabled", to.await(t, 3)[2].Data.ResultID, last)
		})
		// spec: slow-receivers
		t.Run("a receiver that hangs delays no other", func(t *testing.T) {
			t.Parallel()
			own, to := s.ownAccount(t), newReceiver(t)
			release := make(chan struct{})
			hanging := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				select {
				case <-release:
				case <-r.Context().Done():
				}
			}))
			t.Cleanup(hanging.Close)
			t.Cleanup(func() { close(release) })
			for _, url := range []string{hanging.URL, to.URL} {
				own.webhook(t, object("url", url, "events", []string{"result.created"}))
			}
			slug := own.triage(t)
			for i := range 5 {
				own.create(t, slug, text("hello")).ok(t)
				to.await(t, i+1)
			}
		})
		// spec: delivery-addresses, delivery-answers
		t.Run("an address that is not public is not called", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			path, _ := own.webhook(t, object("url", "https://10.255.255.1/", "events", []string{"result.created"}))
			own.create(t, own.triage(t), text("hello")).ok(t)
			type try struct{ Error, Answer string }
			for end := time.Now().Add(webhookBudget); ; {
				var page struct{ Data []struct{ Tries []try } }
				r := own.get(t, path+"/deliveries")
				r.wantStatus(t, 200)
				r.decode(t, &page)
				if len(page.Data) > 0 && len(page.Data[0].Tries) > 0 {
					wantEqual(t, "the try", page.Data[0].Tries[0], try{Error: "forbidden_address"})
					break
				}
				if time.Now().After(end) {
					t.Fatal("nothing was tried")
				}
			}
		})
		// spec: webhook-read, webhook-list, webhook-delete, webhook-disabled-by-prism
		t.Run("a receiver that is gone has its webhook disabled, which is then deleted", func(t *testing.T) {
			t.Parallel()
			own, to := s.ownAccount(t), newReceiver(t)
			path, _ := own.webhook(t, object("url", to.URL, "events", []string{"result.created"}))
			to.answer(410)
			own.create(t, own.triage(t), text("hello")).ok(t)
			to.await(t, 1)
			var w struct {
				Enabled bool
				Reason  string `json:"disabled_reason"`
			}
			for end := time.Now().Add(webhookBudget); w.Reason != "gone" || w.Enabled; own.get(t, path).decode(t, &w) {
				if time.Now().After(end) {
					t.Fatalf("got %+v", w)
				}
			}
			var page struct {
				Data []struct{ URL, Secret string }
			}
			own.get(t, "/v1/webhooks").decode(t, &page)
			if len(page.Data) != 1 || page.Data[0].URL != to.URL || page.Data[0].Secret != "" {
				t.Errorf("listed %+v", page.Data)
			}
			own.delete(t, path).wantStatus(t, 204)
			own.get(t, path).wantStatus(t, 404)
		})
		// spec: event-list, event-stream
		t.Run("what happens is listed and streamed until the key is revoked", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			slug := own.triage(t)
			var from struct{ Next string }
			own.get(t, "/v1/events").decode(t, &from)
			id := own.create(t, slug, text("hello")).ok(t).ID
			var page struct{ Data []told }
			for end := time.Now().Add(webhookBudget); len(page.Data) == 0; own.get(t, "/v1/events?event=result.created&after="+from.Next).decode(t, &page) {
				if time.Now().After(end) {
					t.Fatal("nothing is listed")
				}
			}
			wantEqual(t, "what is listed", page.Data[0].Data.ResultID, id)
			var key struct{ ID, Key string }
			own.post(t, "/v1/keys", `{"name":"stream","role":"editor"}`).decode(t, &key)
			own.streams(t, key.Key, "/v1/events/stream?after="+from.Next, id, func() {
				own.post(t, "/v1/keys/"+key.ID+"/revoke", "").wantStatus(t, 200)
			})
			own.post(t, "/v1/keys", `{"name":"reader","role":"reader"}`).decode(t, &key)
			own.do(t, call{path: "/v1/events/stream", auth: "Bearer " + key.Key}).wantStatus(t, 403)
		})
	}, spread)
}

// streams reads a stream until it has a text, calls seen, and reads on until it ends.
func (c *client) streams(t *testing.T, key, path, want string, seen func()) {
	t.Helper()
	in := call{path: path, auth: "Bearer " + key}
	req, err := c.request(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.stack.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var body strings.Builder
	found := false
	for lines := bufio.NewReader(resp.Body); ; {
		line, err := lines.ReadString('\n')
		body.WriteString(line)
		if !found && strings.Contains(line, want) {
			found = true
			seen()
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	doc, err := world.stacks[c.stack.topology].document()
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Check(openapi.Exchange{
		Method: req.Method, Target: path, Status: resp.StatusCode, Header: resp.Header, Response: []byte(body.String()),
	}); err != nil || !found {
		t.Errorf("the stream has %s: %v", body.String(), err)
	}
}
