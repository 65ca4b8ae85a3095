package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prism-results/prism/pkg/api"
)

func TestRepeats(t *testing.T) {
	t.Parallel()
	var (
		unkeyed = everyCall{"an unkeyed create", func(ctx context.Context, c *Client) error {
			_, err := c.CreateResult(ctx, "a", NewResult{Text: "t"})
			return err
		}}
		keyed = everyCall{"a keyed create", everything["createResult"]}
		// What may not be made twice, and what may.
		once = []everyCall{
			unkeyed, named("retryResult"), named("createPrism"), named("createVersion"), named("createKey"), named("deleteResults"),
			named("retryResults"), named("createFile"), named("retryRun"), named("tryDefinition"), named("addMember"), named("linkMember"),
			named("createCalibration"), named("checkModel"), named("createView"), named("createComment"), named("assignResults"),
			named("createWebhook"), named("testWebhook"), named("rotateWebhook"), named("resendDelivery"),
			{"an unkeyed run", func(ctx context.Context, c *Client) error {
				_, err := c.CreateRun(ctx, "a", NewRun{FileID: "f"})
				return err
			}},
		}
		twice = []everyCall{
			keyed, named("readResult"), named("listResults"), named("exportResults"), named("exportSelected"), named("readPrism"), named("listPrisms"),
			named("readVersion"), named("replaceLens"), named("archivePrism"), named("unarchivePrism"), named("listKeys"), named("revokeKey"),
			named("listAudit"), named("listChanges"), named("listVersions"), named("renamePrism"), named("setSearchable"), named("listModels"),
			named("readRecord"), named("readUsage"), named("deleteResult"), named("setRetention"), named("readDrift"), named("readDistribution"), named("setDrift"),
			named("putPart"), named("completeFile"), named("readFileAgain"), named("listFiles"), named("readFile"), named("listFileRows"), named("deleteFile"),
			named("createRun"), named("listRuns"), named("readRun"), named("pauseRun"), named("resumeRun"), named("cancelRun"),
			named("putLabels"), named("readLabels"), named("addLabels"), named("listLabels"), named("listLabelQueue"),
			named("listMembers"), named("changeMember"), named("removeMember"), named("replaceView"), named("deleteComment"), named("assignResult"), named("listAssignees"), named("deleteView"),
			named("listCalibrations"), named("readCalibration"), named("pinCalibrations"), named("readPinnedCalibrations"),
			named("readQuality"), named("readThresholds"), named("compareVersions"),
			named("previewLens"), named("setRunLimits"), named("listRunRows"), named("followRun"), named("replaceWebhook"), named("deleteWebhook"),
		}
	)
	for _, op := range api.Operations() { // those whose methods are generated
		isNamed := func(one everyCall) bool { return one.name == op.Declared().Name }
		if op.Declared().Method == http.MethodGet && !slices.ContainsFunc(twice, isNamed) {
			twice = append(twice, named(op.Declared().Name))
		}
	}
	all := slices.Concat(once, twice)
	if len(all) != len(everything)+2 {
		t.Fatal("an operation is neither to be repeated nor not")
	}
	page := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { answer(w, status, "text/html", "<h1>proxy</h1>") }
	}
	document := func(status int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { answer(w, status, jsonType, text) }
	}
	cases := []struct {
		name   string
		calls  []everyCall
		first  http.HandlerFunc
		repeat bool
	}{
		{"Prism's own 503 took nothing", all, document(503, unavailableJSON), true},
		{"a lost answer may have been taken", once, func(w http.ResponseWriter, _ *http.Request) { cut(w) }, false},
		{"a lost answer of what may happen twice", twice, func(w http.ResponseWriter, _ *http.Request) { cut(w) }, true},
		{"a 500 may have been taken", once, document(500, internalJSON), false},
		{"a 500 of what may happen twice", twice, document(500, internalJSON), true},
		{"a proxy's 503 may have been taken", once, page(503), false},
		{"a proxy's 503 in JSON may have been taken", once, document(503, `{"message":"no healthy upstream"}`), false},
		{"another server's 503 in Prism's shape may have been taken", once, document(503, `{"statusCode":503,"error":"Service Unavailable","message":"queue full"}`), false},
		{"a proxy's 503 of what may happen twice", twice, page(503), true},
		{"a proxy's 502 is no failed result", once, page(502), false},
		{"a proxy's 504 of what may happen twice", twice, page(504), true},
		{"a failed result is an answer", []everyCall{keyed, unkeyed, named("retryResult")}, document(502, failedJSON), false},
		{"a conflict is an answer", all, document(409, `{"error":{"code":"conflict","message":"no"}}`), false},
		{"a redirect is an answer", all, page(302), false},
	}
	for _, test := range cases {
		for _, k := range test.calls {
			t.Run(test.name+"/"+k.name, func(t *testing.T) {
				t.Parallel()
				var n atomic.Int64
				c := serving(t, func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
					if n.Add(1) == 1 {
						test.first(w, r)
						return
					}
					answer(w, 400, jsonType, `{"error":{"code":"bad_request","message":"the second"}}`)
				})
				err := k.call(t.Context(), c)
				if repeated := errors.Is(err, ErrBadRequest); repeated != test.repeat {
					t.Errorf("repeated: %t, want %t: %v", repeated, test.repeat, err)
				}
				if want := map[bool]int64{false: 1, true: 2}[test.repeat]; n.Load() != want {
					t.Errorf("%d calls, want %d", n.Load(), want)
				}
			})
		}
	}
}

type everyCall struct {
	name string
	call func(context.Context, *Client) error
}

func named(operation string) everyCall { return everyCall{operation, everything[operation]} }

func TestACallThatWasNeverSentIsRepeated(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := calling(t, "http://"+ln.Addr().String())
	_ = ln.Close()
	dialled := 0
	transport := newTransport()
	transport.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		dialled++
		return (&net.Dialer{}).DialContext(ctx, network, addr)
	}
	c.http.Transport = transport
	_, err = c.CreateResult(t.Context(), "a", NewResult{Text: "t"})
	var lost *ConnectionError
	if !errors.As(err, &lost) || lost.Sent || dialled != 4 {
		t.Errorf("%d attempts, %v", dialled, err)
	}
}

func TestAttemptsAreBounded(t *testing.T) {
	t.Parallel()
	var n atomic.Int64
	c := serving(t, func(w http.ResponseWriter, _ *http.Request) {
		n.Add(1)
		answer(w, 503, jsonType, unavailableJSON)
	})
	if _, err := c.ReadResult(t.Context(), "a"); !errors.Is(err, ErrUnavailable) || n.Load() != 4 {
		t.Errorf("%d calls: %v", n.Load(), err)
	}
}

// spec: retry-after-of-a-503
func TestAnErrorTellsWhenToTryAgain(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]time.Duration{"7": 7 * time.Second, "": 0, "-1": 0, "soon": 0, "99999999999": 0} {
		c := serving(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", header)
			answer(w, 503, jsonType, unavailableJSON)
		})
		c.attempts = 1
		_, err := c.ReadResult(t.Context(), "a")
		if got := RetryAfter(fmt.Errorf("a wrapper: %w", err)); got != want || !errors.Is(err, ErrUnavailable) {
			t.Errorf("%q: got %s, want %s: %v", header, got, want, err)
		}
	}
	if got := RetryAfter(io.EOF); got != 0 {
		t.Errorf("another error: %s", got)
	}
}

func TestPauses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, err := New(Config{URL: "http://prism", Key: "k"})
		if err != nil {
			t.Fatal(err)
		}
		p := c.pause
		for n, most := range map[int]time.Duration{1: 200 * time.Millisecond, 2: 400 * time.Millisecond, 3: 800 * time.Millisecond, 60: 10 * time.Second} {
			began := time.Now()
			if !p.wait(t.Context(), n, 0) {
				t.Fatal("it did not wait")
			}
			if took := time.Since(began); took < most/2 || took > most {
				t.Errorf("the pause after attempt %d took %s, want up to %s", n, took, most)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		began := time.Now()
		if p.wait(ctx, 1, 0) || time.Since(began) != 0 {
			t.Error("a pause that the deadline would cut was begun")
		}
		left, leave := context.WithCancel(t.Context())
		time.AfterFunc(time.Millisecond, leave)
		began = time.Now()
		if p.wait(left, 1, 0) || time.Since(began) != time.Millisecond {
			t.Error("a pause went on after its context")
		}
		began = time.Now()
		waited := p.wait(t.Context(), 1, time.Second)
		if took := time.Since(began); !waited || took < time.Second || took > time.Second+100*time.Millisecond {
			t.Errorf("a pause of a second took %s", took)
		}
		began = time.Now()
		if p.wait(t.Context(), 1, time.Minute+1) || time.Since(began) != 0 {
			t.Error("a pause of more than a minute was begun")
		}
	})
}
