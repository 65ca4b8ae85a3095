// Package providertest is the suite that every remote provider passes. The tests of a provider describe its wire format
// (Wire); the suite scripts an upstream that speaks the format, with correct and with broken responses, and asks through
// the real retry loop and the real HTTP client. It runs in testing/synctest over a network in memory, so that 15 seconds
// take no time.
package providertest

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/model-proxy/internal/ask"
	"github.com/prism-results/prism/services/model-proxy/internal/models"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

// Wire is what the suite knows of a provider's wire format.
type Wire struct {
	Format provider.Format
	// Path and Header are what requests must have, with Secret as the key.
	Path   string
	Header http.Header
	// Render is a documented response with these answers.
	Render func(says []Say) string
	// Refusals are documented responses with status 200 in which the model refuses everything.
	Refusals []string
	// Filtered are documented responses with status 200 to a text that a content filter stopped.
	Filtered []string
	// NoLogProbs are responses with status 200 of a model that returns no log-probabilities.
	NoLogProbs []string
	// PerQuestion: each question has a call of its own.
	PerQuestion bool
	// LogProbs: the answers are computed from probabilities of tokens, whose sum may be anything. Other answers are stated.
	LogProbs bool
}

// Say is one answer of a scripted upstream.
type Say struct {
	Question prism.Question
	// Options are the options' or levels' probabilities, as JSON, in the order in which they are sent.
	Options []Pair
	// Yes is the probability of yes, as JSON.
	Yes string
	// Refused: the model declines this question.
	Refused bool
}

// Pair is the probability of an option or level key.
type Pair struct{ Key, P string }

// Values that no outcome and no log may contain.
const (
	Secret     = "sk-secret-3141592653"
	FieldValue = "My card <4111> was charged twice & I am furious"
	Context    = "a context nobody may see"
	BodySecret = "an upstream body nobody may see"
	host       = "model.internal.example"
)

// Model is the model that is asked.
const Model = "m-1"

// Ask is the suite's ask: one question of each type.
func Ask() contract.Ask {
	return contract.Ask{
		Definition: prism.Definition{
			Instructions: "Judge as the support team would.",
			Fields:       []prism.Field{{Key: "subject"}, {Key: "body"}},
			Questions:    []prism.Question{Team(), Urgent(), Tone()},
		},
		Fields:  []prism.FieldValue{{Key: "subject", Value: "Order 77"}, {Key: "body", Value: FieldValue}},
		Context: Context,
	}
}

// Team is a choice question.
func Team() prism.Question {
	return prism.Question{
		Key: "team", Type: prism.Choice, Text: "Which team takes this ticket?", InsufficientInformation: true,
		Options: []prism.Option{
			{Key: "billing", Label: "Billing", Description: "charges and refunds"},
			{Key: "shipping", Label: "Shipping"},
			{Key: "security", Label: "Security", Description: "stolen accounts"},
		},
	}
}

// Urgent is a yes_no question.
func Urgent() prism.Question {
	return prism.Question{Key: "urgent", Type: prism.YesNo, Text: "Must somebody reply within the hour?"}
}

// Tone is a scale question.
func Tone() prism.Question {
	return prism.Question{
		Key: "tone", Type: prism.Scale, Text: "How upset is the writer?",
		Levels: []prism.Level{
			{Key: "calm", Label: "Calm", Value: new(1.0)},
			{Key: "cross", Label: "Cross", Value: new(2.0)},
			{Key: "raging", Label: "Raging", Value: new(3.0)},
		},
	}
}

// Says has a good answer to every question of Ask.
func Says() []Say {
	return []Say{
		{Question: Team(), Options: []Pair{
			{"billing", "0.7"},
			{"shipping", "0.1"},
			{"security", "0.15"},
			{"insufficient_information", "0.05"},
		}},
		{Question: Urgent(), Yes: "0.8"},
		{Question: Tone(), Options: []Pair{{"calm", "0.125"}, {"cross", "0.25"}, {"raging", "0.625"}}},
	}
}

// env is a scripted upstream with an asker in front of it.
type env struct {
	wire     Wire
	asker    *ask.Asker
	log      *bytes.Buffer
	mu       sync.Mutex
	requests []request
	dials    int
}

type request struct {
	path   string
	header http.Header
	body   string
}

// handler scripts the n-th request, the first being 1.
type handler func(w http.ResponseWriter, r *http.Request, n int, body string)

// in runs fn in a synctest bubble with an upstream that is scripted by h.
func in(t *testing.T, w Wire, h handler, fn func(t *testing.T, e *env)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		e := &env{wire: w, log: &bytes.Buffer{}}
		network := newPipes()
		server := &http.Server{Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			e.mu.Lock()
			e.requests = append(e.requests, request{r.URL.Path, r.Header, string(body)})
			n := len(e.requests)
			e.mu.Unlock()
			h(rw, r, n, string(body))
		})}
		served := make(chan struct{})
		go func() { defer close(served); _ = server.Serve(network) }()
		e.open(t, func(ctx context.Context, _, _ string) (net.Conn, error) {
			e.mu.Lock()
			e.dials++
			e.mu.Unlock()
			return network.dial(ctx)
		}, func() { _ = server.Close(); <-served }, fn)
	})
}

func (e *env) open(t *testing.T, dial func(context.Context, string, string) (net.Conn, error), stop func(),
	fn func(t *testing.T, e *env),
) {
	t.Helper()
	client, err := upstream.New(upstream.Config{
		Provider: "suite", BaseURL: "http://" + host + "/v1", Header: e.wire.Format.Header(Secret), Dial: dial,
	})
	if err != nil {
		t.Fatal(err)
	}
	m := models.New(models.Spec{Name: "suite", Model: Model}, e.wire.Format.Open(client, Model), nil)
	e.asker = ask.New(models.NewCurrent(m), ask.Config{
		Jitter: func() float64 { return 0 }, Log: slog.New(slog.NewTextHandler(e.log, nil)),
	})
	defer func() {
		client.Close()
		stop()
		synctest.Wait() // the test fails if an ask has left a goroutine
		if n := e.asker.InFlight(); n != 0 {
			t.Errorf("%d asks still have a slot", n)
		}
	}()
	fn(t, e)
}

// ask executes an ask and checks what holds for every outcome (spec: error-texts-hold-no-secrets).
func (e *env) ask(t *testing.T, a contract.Ask) ask.Report {
	t.Helper()
	v, err := e.asker.Ask(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	if v.Failed() != (v.Answers == nil) {
		t.Errorf("an outcome has either answers or an error: %+v", v.Outcome)
	}
	for _, secret := range []string{Secret, FieldValue, "4111", Context, BodySecret, host, "Order 77"} {
		if strings.Contains(v.Error, secret) || strings.Contains(v.Cause, secret) || strings.Contains(e.log.String(), secret) {
			t.Errorf("%q leaked: %q, log %q", secret, v.Error, e.log)
		}
	}
	return v
}

func (e *env) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.requests)
}

// render is the response to a request, with the answers to its questions.
func (w Wire) render(says []Say, body string) string {
	if !w.PerQuestion {
		return w.Render(says)
	}
	for _, s := range says {
		if strings.Contains(body, s.Question.Text) {
			return w.Render([]Say{s})
		}
	}
	return "{}"
}

// always answers every request with the answers to its questions.
func always(w Wire, says []Say) handler {
	return func(rw http.ResponseWriter, _ *http.Request, _ int, body string) {
		_, _ = io.WriteString(rw, w.render(says, body))
	}
}

// parse reads an outcome's answers.
func parse(t *testing.T, v ask.Report) prism.Answers {
	t.Helper()
	if v.Failed() {
		t.Fatalf("failed: %s", v.Error)
	}
	as, err := answerjson.Parse(v.Answers)
	if err != nil {
		t.Fatal(err)
	}
	return as
}

// only is Ask with a single question, so that requests can be counted whichever way a provider splits them.
func only(q prism.Question) contract.Ask {
	a := Ask()
	a.Definition.Questions = []prism.Question{q}
	return a
}

// Answer asks a question of an upstream that responds to everything with the body, and checks the report. asked is how often the
// upstream was asked.
func Answer(t *testing.T, w Wire, q prism.Question, body string, check func(t *testing.T, v ask.Report, asked int)) {
	t.Helper()
	in(t, w, func(rw http.ResponseWriter, _ *http.Request, _ int, _ string) { _, _ = io.WriteString(rw, body) },
		func(t *testing.T, e *env) {
			v := e.ask(t, only(q))
			check(t, v, e.count())
		})
}

// Script asks an upstream that responds to the n-th request, from 1, as respond says, and checks the report and what was sent.
func Script(t *testing.T, w Wire, a contract.Ask, respond func(n int) (status int, body string),
	check func(t *testing.T, v ask.Report, bodies []string),
) {
	t.Helper()
	in(t, w, func(rw http.ResponseWriter, _ *http.Request, n int, _ string) {
		status, body := respond(n)
		rw.WriteHeader(status)
		_, _ = io.WriteString(rw, body)
	}, func(t *testing.T, e *env) {
		v := e.ask(t, a)
		synctest.Wait() // calls that a refusal of another one has ended may have come to the upstream
		var bodies []string
		e.mu.Lock()
		for _, r := range e.requests {
			bodies = append(bodies, r.body)
		}
		e.mu.Unlock()
		check(t, v, bodies)
	})
}

// pipes is a network in memory whose waits synctest can see through.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), done: make(chan struct{})} }

func (p *pipes) dial(ctx context.Context) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		return client, nil
	case <-p.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements net.Listener.
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (p *pipes) Close() error { p.once.Do(func() { close(p.done) }); return nil }

// Addr implements net.Listener.
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }
