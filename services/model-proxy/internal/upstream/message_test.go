package upstream

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// spec: upstream-error-logs
func TestAMessageHasNoValueOfTheCall(t *testing.T) {
	t.Parallel()
	const value = "My card \"4111\" was\ncharged twice"
	for name, c := range map[string]struct {
		body   string
		values []string
		want   string
	}{
		"OpenAI's form":             {`{"error":{"message":"no such model: x","type":"invalid_request_error"}}`, nil, "no such model: x"},
		"a text as the error":       {`{"error":"model not found"}`, nil, "model not found"},
		"a message":                 {`{"message":"too long"}`, nil, "too long"},
		"a detail":                  {`{"detail":"Not Found"}`, nil, "Not Found"},
		"another form":              {`{"errors":["a"]}`, nil, `{"errors":["a"]}`},
		"no JSON":                   {"<h1>Bad Gateway</h1>", nil, "<h1>Bad Gateway</h1>"},
		"nothing":                   {"", nil, ""},
		"a value":                   {"bad: " + value + "!", []string{value}, "bad: …!"},
		"a value in JSON":           {`bad: My card \"4111\" was\ncharged twice!`, []string{value}, "bad: …!"},
		"a value in JSON in JSON":   {`{"oops":"{\"body\":\"My card \\\"4111\\\" was\\ncharged twice\"}"}`, []string{value}, `{"oops":"{\"body\":\"…\"}"}`},
		"a value in ASCII":          {`{"error":{"message":"bad: {\"a\": \"J\\u00fcrgen M\\u00fcller, K\\u00f6ln\"}"}}`, []string{"Jürgen Müller, Köln"}, `bad: {"a": "…"}`},
		"a value in ASCII in JSON":  {`{"errors":["{\"a\":\"m\\u00FCde \\uD83D\\uDE00\"}"]}`, []string{"müde 😀"}, `{"errors":["{\"a\":\"…\"}"]}`},
		"a value that has escapes":  {`bad: \u00fc and \ud800 again`, []string{`\u00fc and \ud800`}, "bad: … again"},
		"the beginning of a value":  {"bad: My card \"41 (cut)", []string{value}, "bad: … (cut)"},
		"the end of a value":        {"bad: …charged twice", []string{value}, "bad: …"},
		"a short value":             {"bad: 41 of 41", []string{"41"}, "bad: … of …"},
		"a value inside of another": {"a 4111 card: My card", []string{"card", "My card", ""}, "a 4111 …: …"},
		"values side by side":       {"xyxy z", []string{"x", "y"}, "… z"},
		"bytes that are no text":    {"a\xffb", nil, "a…b"},
		"a long message":            {strings.Repeat("é", 150), nil, strings.Repeat("é", 100)},
		"an odd long message":       {"x" + strings.Repeat("é", 150), nil, "x" + strings.Repeat("é", 99)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &Fault{body: []byte(c.body)}
			if got := f.Message(c.values); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// spec: upstream-error-logs
func TestNoPartOfAValueOfEightBytesIsInAMessage(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.StringMatching(`[a-d\n"é]{0,30}`), 0, 3).Draw(t, "values")
		body := rapid.StringMatching(`[a-f "é]{0,20}`).Draw(t, "before")
		for _, v := range values {
			from := rapid.IntRange(0, len(v)).Draw(t, "from")
			body += v[from:] + rapid.StringMatching(`[ a-d]{0,3}`).Draw(t, "between")
		}
		got := (&Fault{body: []byte(body)}).Message(values)
		if len(got) > maxMessage || !utf8.ValidString(got) {
			t.Fatalf("%d bytes: %q", len(got), got)
		}
		for _, v := range values {
			if v != "" && strings.Contains(got, v) {
				t.Fatalf("%q is in %q", v, got)
			}
			for i := range max(0, len(v)-leastEcho+1) {
				if part := v[i : i+leastEcho]; strings.Contains(got, part) {
					t.Fatalf("%q of %q is in %q", part, v, got)
				}
			}
		}
	})
}

// spec: upstream-error-logs
func TestAnErrorIsReadOnlyToExplainItAndNotForLong(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, `no room for the key sk-secret of team-7`)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done() // the body never ends
	}))
	defer server.Close()
	for _, explain := range []bool{true, false} {
		c, err := New(Config{
			BaseURL: server.URL, Header: http.Header{"Authorization": {"Bearer sk-secret"}, "X-Team": {"team-7"}},
			Explain: func(context.Context) bool { return explain },
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		_, fault := post(ctx, c, nil)
		cancel()
		c.Close()
		want := ""
		if explain {
			want = "no room for the key … of …"
		}
		if fault == nil || fault.Status != 503 || fault.Message(nil) != want {
			t.Errorf("got %+v, %q", fault, fault.Message(nil))
		}
	}
}
