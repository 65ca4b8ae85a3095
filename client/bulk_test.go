package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// model answers creates in memory: after wait, with status. It keeps how many calls there were at once, and the keys.
type fakeModel struct {
	wait   func(ref int) time.Duration
	status func(ref int, key string) int

	sync.Mutex
	now, most, calls int
	keys             map[string]int
}

func (m *fakeModel) RoundTrip(req *http.Request) (*http.Response, error) {
	var sent NewResult
	if err := json.NewDecoder(req.Body).Decode(&sent); err != nil {
		return nil, err
	}
	ref, err := strconv.Atoi(sent.Ref)
	if err != nil {
		return nil, err
	}
	m.Lock()
	m.now, m.calls = m.now+1, m.calls+1
	m.most = max(m.most, m.now)
	m.keys[sent.IdempotencyKey]++
	m.Unlock()
	defer func() {
		m.Lock()
		m.now--
		m.Unlock()
	}()
	select {
	case <-time.After(m.wait(ref)):
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
	text, status := strings.Replace(okJSON, `"ref":null`, `"ref":"`+sent.Ref+`"`, 1), http.StatusOK
	if m.status != nil {
		status = m.status(ref, sent.IdempotencyKey)
	}
	switch status {
	case http.StatusBadRequest:
		text = `{"error":{"code":"validation_failed","message":"no"}}`
	case http.StatusBadGateway:
		text = failedJSON
	case http.StatusServiceUnavailable:
		text = unavailableJSON
	}
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {jsonType}, "X-Request-Id": {"r-" + sent.Ref}},
		Body: io.NopCloser(strings.NewReader(text)), Request: req,
	}, nil
}

func (m *fakeModel) client(t *testing.T) *Client {
	t.Helper()
	m.keys = map[string]int{}
	c, err := New(Config{URL: "http://prism.test", Key: testKey, Transport: m})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// numbered are n inputs, and how many of them were read.
func numbered(n int, read *int) iter.Seq[NewResult] {
	return func(yield func(NewResult) bool) {
		for i := range n {
			if *read = i + 1; !yield(NewResult{Text: "t", Ref: strconv.Itoa(i)}) {
				return
			}
		}
	}
}

func TestABulkKeepsTheOrderAndItsConcurrency(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		// The first of each ten takes long, the others end before it.
		m := &fakeModel{wait: func(ref int) time.Duration {
			if ref%10 == 0 {
				return 10 * time.Second
			}
			return time.Second
		}}
		read, next := 0, 0
		for one, err := range m.client(t).CreateResults(t.Context(), "a", numbered(100, &read), Bulk{Job: "j", Concurrency: 3}) {
			if err != nil || one.Index != next || *one.Result.Ref != strconv.Itoa(next) || one.Meta.RequestID != "r-"+strconv.Itoa(next) ||
				one.Input.IdempotencyKey == "" {
				t.Errorf("got %+v, %v; want input %d", one, err, next)
			}
			next++
		}
		if next != 100 || m.most != 3 || m.calls != 100 || len(m.keys) != 100 {
			t.Errorf("%d of 100 results, %d calls with %d keys, %d at once", next, m.calls, len(m.keys), m.most)
		}
	})
}

func TestABulkReadsNoFurtherThanItsLoopKeepsUpWith(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &fakeModel{wait: func(int) time.Duration { return time.Second }}
		read, yielded := 0, 0
		for _, err := range m.client(t).CreateResults(t.Context(), "a", numbered(1000, &read), Bulk{Job: "j", Concurrency: 2}) {
			if err != nil {
				t.Fatal(err)
			}
			yielded++
			<-time.After(time.Minute) // of the bubble: all that may go on goes on
			synctest.Wait()
			// Those ahead, and one more that waits to be.
			if most := yielded + readAhead*2 + 1; read > most {
				t.Fatalf("%d inputs were read when %d results were yielded, want at most %d", read, yielded, most)
			}
			if yielded == 20 {
				break
			}
		}
		if m.calls >= 40 {
			t.Errorf("%d calls were made for 20 results", m.calls)
		}
	})
}

func TestEachInputOfABulkHasItsError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &fakeModel{
			wait: func(int) time.Duration { return time.Second },
			status: func(ref int, _ string) int {
				return map[int]int{2: http.StatusBadRequest, 3: http.StatusBadGateway}[ref%5] + map[bool]int{true: http.StatusOK}[ref%5 < 2 || ref%5 == 4]
			},
		}
		read, seen := 0, 0
		for one, err := range m.client(t).CreateResults(t.Context(), "a", numbered(20, &read), Bulk{Job: "j"}) {
			seen++
			var failed *FailedError
			switch one.Index % 5 {
			case 2:
				if !errors.Is(err, ErrValidationFailed) || one.Result.ID != "" || one.Meta.Status != http.StatusBadRequest {
					t.Errorf("got %+v, %v", one, err)
				}
			case 3:
				if !errors.As(err, &failed) || one.Result.Status != Failed || one.Result.ID != resultID {
					t.Errorf("got %+v, %v", one, err)
				}
			default:
				if err != nil || one.Result.Status != OK {
					t.Errorf("got %+v, %v", one, err)
				}
			}
		}
		if seen != 20 {
			t.Errorf("got %d outcomes", seen)
		}
	})
}

func TestABulkIsPatient(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		m := &fakeModel{
			wait: func(int) time.Duration { return 0 },
			status: func(int, string) int {
				if time.Since(began) < 15*time.Second { // as long as a server restarts
					return http.StatusServiceUnavailable
				}
				return http.StatusOK
			},
		}
		read := 0
		for one, err := range m.client(t).CreateResults(t.Context(), "a", numbered(9, &read), Bulk{Job: "j"}) {
			if err != nil || one.Meta.Attempts < 2 && one.Index == 0 {
				t.Errorf("%d attempts: %v", one.Meta.Attempts, err)
			}
		}
		began = time.Now()
		for one, err := range m.client(t).CreateResults(t.Context(), "a", numbered(1, &read), Bulk{Job: "j"}, WithAttempts(2)) {
			if !errors.Is(err, ErrUnavailable) || one.Meta.Attempts != 2 {
				t.Errorf("%d attempts: %v", one.Meta.Attempts, err)
			}
		}
	})
}

func TestABulkEndsWithItsContext(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]time.Duration{"at the begin": 0, "between calls": 2500 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := &fakeModel{wait: func(int) time.Duration { return time.Second }}
				ctx, cancel := context.WithTimeout(t.Context(), after)
				defer cancel()
				read, answered := 0, 0
				var last error
				for _, err := range m.client(t).CreateResults(ctx, "a", numbered(1000, &read), Bulk{Job: "j", Concurrency: 2}) {
					if last = err; err == nil {
						answered++
					}
				}
				if !errors.Is(last, context.DeadlineExceeded) || answered != 2*int(after/time.Second) || read > 10 {
					t.Errorf("%d answered, %d read: %v", answered, read, last)
				}
			})
		})
	}
}

func TestABulkIsLeftWithNothingUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &fakeModel{wait: func(ref int) time.Duration { return time.Duration(ref+1) * time.Minute }}
		read := 0
		for range m.client(t).CreateResults(t.Context(), "a", numbered(1000, &read), Bulk{Job: "j"}, WithTimeout(time.Hour)) {
			break
		}
		if m.now != 0 || m.calls != 8 && m.calls != 9 {
			t.Errorf("%d calls are under way, %d were made", m.now, m.calls)
		}
	})
}

func TestABulkNeedsAJob(t *testing.T) {
	t.Parallel()
	c := answering(t, 200, jsonType, okJSON)
	read := 0
	for _, b := range []Bulk{{}, {Job: "j", Concurrency: -1}} {
		n := 0
		for _, err := range c.CreateResults(t.Context(), "a", numbered(3, &read), b) {
			if n++; err == nil || !strings.Contains(err.Error(), "Bulk.Job") {
				t.Error(err)
			}
		}
		if n != 1 || read != 0 {
			t.Errorf("%d outcomes, %d inputs were read", n, read)
		}
	}
}

// A job that was begun with one release, or with the TypeScript client, must have the same keys in the next.
func TestTheKeysOfABulkStayTheSame(t *testing.T) {
	t.Parallel()
	input := NewResult{Fields: map[string]string{"b": "2", "a": "1"}, Text: "t", Version: 3, Ref: "r", Context: "c"}
	key := func(job, prism string, r NewResult) string { return (&bulk{Bulk: Bulk{Job: job}, prism: prism}).key(r) }
	if got := key("j", "p", input); got != "c4bea5d5160516a14c70895b6d4686b0fcd3ab2a7b6712f54ac27d4e8abab309" {
		t.Errorf("got %s", got)
	}
	// The TypeScript client has this key too, for characters that only Go escapes in JSON.
	escaped := NewResult{Text: "<é & \u2028\u2029>\b\f\u0001\u007f🙂\n"}
	if got := key("j", "p", escaped); got != "904ed2e954b4c9eee6d31df2360cf0a63c912860ddcdaae0ef486477bb195df6" {
		t.Errorf("got %s", got)
	}
	seen := map[string]string{key("j", "p", input): "the input"}
	for name, other := range map[string]string{
		"another job":     key("k", "p", input),
		"another prism":   key("j", "q", input),
		"another text":    key("j", "p", NewResult{Fields: input.Fields, Text: "u", Version: 3, Ref: "r", Context: "c"}),
		"another field":   key("j", "p", NewResult{Fields: map[string]string{"b": "2", "a": "2"}, Text: "t", Version: 3, Ref: "r", Context: "c"}),
		"another version": key("j", "p", NewResult{Fields: input.Fields, Text: "t", Ref: "r", Context: "c"}),
		"another ref":     key("j", "p", NewResult{Fields: input.Fields, Text: "t", Version: 3, Context: "c"}),
		"another context": key("j", "p", NewResult{Fields: input.Fields, Text: "t", Version: 3, Ref: "r"}),
	} {
		if same := seen[other]; same != "" {
			t.Errorf("%s has the key of %s", name, same)
		}
		seen[other] = name
	}
	if got := key("j", "p", NewResult{Text: "t", IdempotencyKey: "mine"}); got != "mine" {
		t.Errorf("a key of its own is replaced by %s", got)
	}
}
