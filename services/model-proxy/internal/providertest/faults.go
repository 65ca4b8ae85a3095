package providertest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/model-proxy/internal/failure"
)

// A permanent fault gets 11 attempts: after pauses of 0.1, 0.2, 0.4, 0.8, 1.6 and five times 2 s, one more pause of 2 s
// would not fit in the wait.
const (
	attempts = 11
	tookMS   = 100 + 200 + 400 + 800 + 1600 + 5*2000
)

func refusedText(status int) string {
	return "The model service refused the call (status " + strconv.Itoa(status) + ")."
}

// fail answers with a status and a body that must not come out.
func fail(w http.ResponseWriter, status int) {
	w.WriteHeader(status)
	_, _ = io.WriteString(w, `{"error":{"message":"`+BodySecret+" "+FieldValue+`"}}`)
}

// spec: upstream-retries, error-texts, error-texts-hold-no-secrets, one-owner-of-retries
func faults(t *testing.T, w Wire) {
	for status, c := range map[int]struct {
		class failure.Class
		text  string
	}{
		400: {failure.Parameter, refusedText(400)},
		401: {failure.RefusedKey, "The model service refused the key."},
		402: {failure.Exhausted, "The model service has no balance left."},
		403: {failure.RefusedKey, "The model service refused the key."},
		404: {failure.NotFound, "The model service does not know the model."},
		413: {failure.TooLong, "The text is too long for the model."},
		415: {failure.Parameter, refusedText(415)},
		422: {failure.Parameter, refusedText(422)},
		451: {failure.Parameter, refusedText(451)},
	} {
		t.Run("status "+strconv.Itoa(status)+" is not tried again", func(t *testing.T) {
			t.Parallel()
			in(t, w, func(rw http.ResponseWriter, _ *http.Request, _ int, _ string) { fail(rw, status) },
				func(t *testing.T, e *env) {
					v := e.ask(t, only(Team()))
					if v.Error != c.text || v.Class != c.class || v.Call.ErrorCode != prism.ErrorCode(c.class) || v.Status != status ||
						v.TookMS > 1000 || e.count() != 1 {
						t.Errorf("got %s %q after %d requests", v.Class, v.Error, e.count())
					}
				})
		})
	}
	for _, status := range []int{301, 302, 303, 307, 308} {
		t.Run("redirect "+strconv.Itoa(status)+" is not followed", func(t *testing.T) {
			t.Parallel()
			in(t, w, func(rw http.ResponseWriter, r *http.Request, _ int, _ string) {
				http.Redirect(rw, r, "http://elsewhere.example/", status)
			}, func(t *testing.T, e *env) {
				if v := e.ask(t, only(Team())); v.Error != refusedText(status) || e.count() != 1 {
					t.Errorf("got %q after %d requests", v.Error, e.count())
				}
			})
		})
	}
	for _, status := range []int{408, 409, 429, 500, 501, 502, 503, 504, 529} {
		t.Run("status "+strconv.Itoa(status)+" is tried again", func(t *testing.T) {
			t.Parallel()
			in(t, w, func(rw http.ResponseWriter, _ *http.Request, n int, body string) {
				if n < 3 {
					fail(rw, status)
					return
				}
				_, _ = io.WriteString(rw, w.render(Says(), body))
			}, func(t *testing.T, e *env) {
				v := e.ask(t, only(Urgent()))
				if parse(t, v); e.count() != 3 || v.TookMS != 300 {
					t.Errorf("%d requests in %d ms, want 3 with pauses of 100 and 200 ms", e.count(), v.TookMS)
				}
			})
		})
	}
	for _, status := range []int{429, 503} {
		t.Run("status "+strconv.Itoa(status)+" for ever is tried until no pause fits in the wait", func(t *testing.T) {
			t.Parallel()
			in(t, w, func(rw http.ResponseWriter, _ *http.Request, _ int, _ string) { fail(rw, status) },
				func(t *testing.T, e *env) {
					v := e.ask(t, only(Urgent()))
					if v.Error != refusedText(status) || e.count() != attempts || v.TookMS != tookMS {
						t.Errorf("got %q after %d requests in %d ms", v.Error, e.count(), v.TookMS)
					}
				})
		})
	}
	t.Run("a fault of twelve seconds is outlasted", func(t *testing.T) {
		t.Parallel()
		began := time.Time{}
		in(t, w, func(rw http.ResponseWriter, _ *http.Request, n int, body string) {
			if n == 1 {
				began = time.Now()
			}
			if time.Since(began) < 12*time.Second {
				fail(rw, 503)
				return
			}
			_, _ = io.WriteString(rw, w.render(Says(), body))
		}, func(t *testing.T, e *env) {
			if v := e.ask(t, only(Urgent())); v.TookMS != tookMS {
				t.Errorf("took %d ms", v.TookMS)
			} else {
				parse(t, v)
			}
		})
	})
	t.Run("a connection that nobody takes is unreachable", func(t *testing.T) {
		t.Parallel()
		unreachable(t, w, syscall.ECONNREFUSED, "refused")
	})
	t.Run("a name that nobody knows is unreachable", func(t *testing.T) {
		t.Parallel()
		unreachable(t, w, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}, "dns")
	})
	t.Run("a connection cut inside the body is tried again", func(t *testing.T) {
		t.Parallel()
		in(t, w, func(rw http.ResponseWriter, _ *http.Request, n int, body string) {
			if n == 1 {
				cut(rw)
			}
			_, _ = io.WriteString(rw, w.render(Says(), body))
		}, func(t *testing.T, e *env) {
			if parse(t, e.ask(t, only(Urgent()))); e.count() != 2 {
				t.Errorf("%d requests", e.count())
			}
		})
	})
	t.Run("connections that are always cut are unreachable", func(t *testing.T) {
		t.Parallel()
		in(t, w, func(rw http.ResponseWriter, _ *http.Request, _ int, _ string) { cut(rw) },
			func(t *testing.T, e *env) {
				v := e.ask(t, only(Urgent()))
				if v.Error != contract.UnreachableText || v.Code != prism.CodeUnreachable || v.Cause != "cut" || e.count() != attempts {
					t.Errorf("got %s %q (%s) after %d requests", v.Code, v.Error, v.Cause, e.count())
				}
			})
	})
	t.Run("a connection closed without a response is tried again by the loop alone", func(t *testing.T) {
		t.Parallel()
		in(t, w, func(http.ResponseWriter, *http.Request, int, string) { panic(http.ErrAbortHandler) },
			func(t *testing.T, e *env) {
				if v := e.ask(t, only(Urgent())); v.Error != contract.UnreachableText || e.count() != attempts {
					t.Errorf("got %q after %d requests", v.Error, e.count())
				}
			})
	})
}

// cut sends a part of a body and ends the connection.
func cut(w http.ResponseWriter) {
	w.Header().Set("Content-Length", "4096")
	_, _ = io.WriteString(w, `{"answers":{`)
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

func unreachable(t *testing.T, w Wire, dialError error, cause string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		e := &env{wire: w, log: &bytes.Buffer{}}
		dial := func(context.Context, string, string) (net.Conn, error) {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.dials++
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: dialError}
		}
		e.open(t, dial, func() {}, func(t *testing.T, e *env) {
			v := e.ask(t, only(Urgent()))
			if v.Error != contract.UnreachableText || v.Cause != cause || e.dials != attempts {
				t.Errorf("got %q (%s) after %d connections", v.Error, v.Cause, e.dials)
			}
		})
	})
}

// spec: model-wait, model-wait-is-hard, retry-after, client-disconnect
func timing(t *testing.T, w Wire) {
	waits := map[string]http.Header{
		"seconds":         {"Retry-After": {"2"}},
		"parts of them":   {"Retry-After": {"2.0"}},
		"an HTTP date":    {"Retry-After": {"date"}},
		"milliseconds":    {"Retry-After-Ms": {"2000"}},
		"both, the finer": {"Retry-After": {"9"}, "Retry-After-Ms": {"2000"}},
	}
	for name, header := range waits {
		t.Run("a pause asked for in "+name+" is kept", func(t *testing.T) {
			t.Parallel()
			in(t, w, func(rw http.ResponseWriter, _ *http.Request, n int, body string) {
				if n == 1 {
					for k, v := range header {
						if v[0] == "date" {
							v = []string{time.Now().Add(2 * time.Second).UTC().Format(http.TimeFormat)}
						}
						rw.Header()[k] = v
					}
					fail(rw, 429)
					return
				}
				_, _ = io.WriteString(rw, w.render(Says(), body))
			}, func(t *testing.T, e *env) {
				v := e.ask(t, only(Urgent()))
				if parse(t, v); v.TookMS != 2000 || e.count() != 2 {
					t.Errorf("took %d ms and %d requests", v.TookMS, e.count())
				}
			})
		})
	}
	for _, after := range []string{"15", "16", "3600", "99999999999999999999"} {
		t.Run("a pause of "+after+" s fails right away", func(t *testing.T) {
			t.Parallel()
			in(t, w, func(rw http.ResponseWriter, _ *http.Request, _ int, _ string) {
				rw.Header().Set("Retry-After", after)
				fail(rw, 429)
			}, func(t *testing.T, e *env) {
				v := e.ask(t, only(Urgent()))
				if v.Error != refusedText(429) || v.TookMS != 0 || e.count() != 1 {
					t.Errorf("got %q after %d ms and %d requests", v.Error, v.TookMS, e.count())
				}
			})
		})
	}
	slow := map[string]handler{
		"hangs before the response": func(_ http.ResponseWriter, r *http.Request, _ int, _ string) { <-r.Context().Done() },
		"hangs inside the body": func(rw http.ResponseWriter, r *http.Request, _ int, _ string) {
			_, _ = io.WriteString(rw, `{"answers":{`)
			_ = http.NewResponseController(rw).Flush()
			<-r.Context().Done()
		},
		"drips bytes": drip(200),
		"drips a refusal's body, which nobody reads, after faults": func(rw http.ResponseWriter, r *http.Request, n int, b string) {
			if n < 4 {
				drip(503)(rw, r, n, b)
				return
			}
			<-r.Context().Done()
		},
		"asks for a pause, then hangs": func(rw http.ResponseWriter, r *http.Request, n int, _ string) {
			if n == 1 {
				rw.Header().Set("Retry-After", "14")
				fail(rw, 429)
				return
			}
			<-r.Context().Done()
		},
	}
	for name, h := range slow {
		t.Run("an upstream that "+name+" ends at 15 s", func(t *testing.T) {
			t.Parallel()
			in(t, w, h, func(t *testing.T, e *env) {
				v := e.ask(t, Ask())
				if v.Error != contract.TimeoutText || v.Code != prism.CodeTimeout || v.TookMS != 15000 {
					t.Errorf("got %s %q after %d ms", v.Code, v.Error, v.TookMS)
				}
			})
		})
	}
	t.Run("an answer after 14.9 s counts", func(t *testing.T) {
		t.Parallel()
		in(t, w, func(rw http.ResponseWriter, _ *http.Request, _ int, body string) {
			<-time.After(14900 * time.Millisecond) // the bubble's clock
			_, _ = io.WriteString(rw, w.render(Says(), body))
		}, func(t *testing.T, e *env) {
			v := e.ask(t, Ask())
			if good(t, parse(t, v)); v.TookMS != 14900 {
				t.Errorf("took %d ms", v.TookMS)
			}
		})
	})
	t.Run("a caller that leaves does not stop the model", func(t *testing.T) {
		t.Parallel()
		in(t, w, func(rw http.ResponseWriter, _ *http.Request, _ int, body string) {
			<-time.After(time.Second) // the bubble's clock
			_, _ = io.WriteString(rw, w.render(Says(), body))
		}, func(t *testing.T, e *env) {
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(errors.New("gone"))
			v, err := e.asker.Ask(ctx, Ask())
			if err != nil {
				t.Fatal(err)
			}
			good(t, parse(t, v))
		})
	})
}

// drip sends a byte a second for ever.
func drip(status int) handler {
	return func(rw http.ResponseWriter, r *http.Request, _ int, _ string) {
		rw.WriteHeader(status)
		for _, b := range strings.Repeat(" ", 1000) {
			if _, err := io.WriteString(rw, string(b)); err != nil {
				return
			}
			_ = http.NewResponseController(rw).Flush()
			select {
			case <-time.After(time.Second):
			case <-r.Context().Done():
				return
			}
		}
	}
}
