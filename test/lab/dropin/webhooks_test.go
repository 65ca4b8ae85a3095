package dropin

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/pkg/testkit/freeport"
	"github.com/prism-results/prism/pkg/testkit/model"
	"github.com/prism-results/prism/pkg/testkit/program"
)

// budget bounds the wait for a program or an event, on a machine of any load. It is below the five minutes after which the libraries
// refuse an event.
const budget = 2 * time.Minute

// guideToWebhooks is docs/webhooks.md: its receivers by their language, and its lines for a shell in their order.
type guideToWebhooks struct {
	receivers map[string]string
	shell     []string
}

func readGuideToWebhooks(t *testing.T, root string) guideToWebhooks {
	t.Helper()
	g := guideToWebhooks{receivers: map[string]string{}}
	for _, block := range regexp.MustCompile("(?ms)^( *)```(python|js|go|sh)\n(.*?)```").FindAllStringSubmatch(readPage(t, root, "docs/webhooks.md"), -1) {
		source := regexp.MustCompile("(?m)^"+block[1]).ReplaceAllString(block[3], "")
		if block[2] == "sh" {
			g.shell = append(g.shell, source)
		} else {
			g.receivers[block[2]] = source
		}
	}
	if len(g.receivers) != 3 || len(g.shell) != 3 {
		t.Fatalf("the guide has %d receivers and %d parts for a shell", len(g.receivers), len(g.shell))
	}
	return g
}

func readPage(t *testing.T, root, name string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// newGuided is a Prism for the programs of another guide.
func newGuided(t *testing.T) *prism {
	t.Helper()
	root, err := program.Root()
	if err != nil {
		t.Fatal(err)
	}
	return newPrism(t, root, readPage(t, root, "docs/drop-in.md"))
}

// sent is an event as Prism sent it.
type sent struct {
	header http.Header
	body   []byte
	result string // of which it tells
}

// with is the event with another body or another header.
func (s sent) with(change func(h http.Header, body *[]byte)) sent {
	s.header, s.body = s.header.Clone(), bytes.Clone(s.body)
	change(s.header, &s.body)
	return s
}

// The receivers of the guide, with the official libraries of Standard Webhooks, take what Prism sends and nothing else: no body, id or
// time that was changed, and no other secret. While a secret is replaced both sign, and the one before these no more.
//
// spec: event-signature, webhook-secret, webhook-rotate
func TestTheReceiversOfTheGuideToWebhooksVerifyWhatPrismSends(t *testing.T) {
	t.Parallel()
	p := newGuided(t)
	ports, commands := map[string]string{}, map[string][]string{}
	for language, source := range readGuideToWebhooks(t, p.root).receivers {
		ports[language] = freePort(t)
		commands[language] = p.receiver(t, language, source, ports[language])
	}
	events := make(chan sent, 1)
	to := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		events <- sent{header: r.Header.Clone(), body: body}
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(to.Close)
	made, err := p.client.CreateWebhook(t.Context(), client.NewWebhook{
		URL: to.URL + "/hook", Events: []client.EventType{client.EventResultCreated}, Answers: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	next := func() sent {
		script := p.model.Script(model.Answer(model.Answers{"refund": model.Yes(0.875)}))
		r, err := p.client.CreateResult(t.Context(), "refunds", client.NewResult{Fields: map[string]string{"message": said + " " + script.Tag}})
		if err != nil {
			t.Fatal(err)
		}
		select {
		case e := <-events:
			e.result = r.ID
			return e
		case <-time.After(budget):
			t.Fatal("no event came")
			return sent{}
		}
	}
	rotate := func() string {
		rotated, err := p.client.RotateWebhook(t.Context(), made.ID)
		if err != nil {
			t.Fatal(err)
		}
		return rotated.Secret.Reveal()
	}
	old, first := made.Secret.Reveal(), next()
	replacement, both := rotate(), next()
	last, after := rotate(), next()
	changed := first.with(func(_ http.Header, body *[]byte) { *body = bytes.Replace(*body, []byte("0.875"), []byte("0.125"), 1) })
	if bytes.Equal(changed.body, first.body) {
		t.Fatalf("no answer in %s", first.body)
	}
	set := func(name, value string) func(http.Header, *[]byte) {
		return func(h http.Header, _ *[]byte) { h.Set(name, value) }
	}
	another := first.with(set("Webhook-Id", both.header.Get("Webhook-Id")))
	at, err := strconv.ParseInt(first.header.Get("Webhook-Timestamp"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	later := first.with(set("Webhook-Timestamp", strconv.FormatInt(at+1, 10)))
	unsigned := first.with(func(h http.Header, _ *[]byte) { h.Del("Webhook-Signature") })
	cut := both.with(func(_ http.Header, body *[]byte) { *body = (*body)[:len(*body)-1] })
	for language, command := range commands {
		t.Run(language, func(t *testing.T) {
			for _, c := range []struct {
				name, secret string
				taken        []sent
				refused      []sent
			}{
				{"the secret of the webhook", old, []sent{first, both}, []sent{changed, another, later, unsigned, cut, after}},
				{"the one that replaced it", replacement, []sent{both, after}, []sent{first, cut}},
				{"the one that replaced that", last, []sent{after}, []sent{first, both}},
				{"another", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", nil, []sent{first, both, after}},
			} {
				t.Run(c.name, func(t *testing.T) {
					r := p.listen(t, command, ports[language], c.secret)
					for i, e := range c.refused {
						if status := r.post(t, e); status/100 == 2 {
							t.Errorf("number %d of what it is to refuse: %d", i, status)
						}
					}
					if r.State() != nil {
						t.Errorf("it has ended:\n%s", r.Output())
					}
					if output := r.Stdout(); strings.Contains(output, "result") {
						t.Errorf("it says %q of what it refused", output)
					}
					for i, e := range c.taken {
						if status := r.post(t, e); status != http.StatusNoContent {
							t.Fatalf("number %d of what it is to take: %d\n%s", i, status, r.Stderr())
						}
						r.says(t, "(?s)result.created.*"+e.result)
					}
				})
			}
		})
	}
}

// The five minutes of the guide: its lines for a shell make a webhook to its receiver, which verifies a test and a result.
//
// spec: webhook-create, webhook-test
func TestTheFiveMinutesOfTheGuideToWebhooks(t *testing.T) {
	t.Parallel()
	p := newGuided(t)
	guide := readGuideToWebhooks(t, p.root)
	s := p.shell(t, guide, guide.shell[0]+"read -r line || true\n"+guide.shell[2]+"wait\n")
	if err := s.input.Close(); err != nil {
		t.Fatal(err)
	}
	s.says(t, "webhook.test {")
	s.says(t, "result.created {.*'prism': 'tickets'.*'answers': {")
	s.says(t, "The receiver answered 204")
	s.verified(t)
}

// Live events are forwarded to the same receiver, without a webhook.
//
// spec: event-stream
func TestLiveEventsAreForwardedToTheReceiverOfTheGuide(t *testing.T) {
	t.Parallel()
	p := newGuided(t)
	guide := readGuideToWebhooks(t, p.root)
	s := p.shell(t, guide, guide.shell[1])
	ctx, cancel := context.WithTimeout(t.Context(), budget)
	defer cancel()
	forwarded := regexp.MustCompile(`result.created \{'result_id': '([^']+)', 'prism': 'refunds'`)
	made := map[string]bool{}
	if err := s.Await(ctx, func(ctx context.Context) error { // what happens before it listens is not told
		script := p.model.Script(model.Answer(model.Answers{"refund": model.Yes(0.875)}))
		r, err := p.client.CreateResult(ctx, "refunds", client.NewResult{Fields: map[string]string{"message": said + " " + script.Tag}})
		made[r.ID] = true
		if err == nil && !forwarded.MatchString(s.Stdout()) {
			err = io.EOF
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for _, told := range forwarded.FindAllStringSubmatch(s.Stdout(), -1) {
		if !made[told[1]] {
			t.Errorf("told of %s", told[1])
		}
	}
	s.says(t, "evt_[0-9_]+ → 204")
	s.verified(t)
}

// receiving is a receiver, or a shell that starts one, at a port of its own.
type receiving struct {
	*program.Process
	address string
	input   io.Closer
}

// portOfTheGuide is in all its programs.
const portOfTheGuide = "3000"

// receiver is the command of a receiver at a port.
func (p *prism) receiver(t *testing.T, language, source, port string) []string {
	t.Helper()
	if strings.Count(source, portOfTheGuide) != 1 {
		t.Fatalf("the receiver does not have its port once:\n%s", source)
	}
	return p.command(t, language, strings.ReplaceAll(source, portOfTheGuide, port))
}

// listen starts a receiver with a secret, and waits until it listens.
func (p *prism) listen(t *testing.T, command []string, port, secret string) *receiving {
	t.Helper()
	return start(t, port, program.Command{Path: command[0], Args: command[1:], Env: map[string]string{"PRISM_WEBHOOK_SECRET": secret}})
}

// shell starts lines of the guide in a folder with its Python receiver, and waits until that listens.
func (p *prism) shell(t *testing.T, guide guideToWebhooks, lines string) *receiving {
	t.Helper()
	ctl, err := program.Binary(t.Context(), "cmd/prismctl")
	if err != nil {
		t.Fatal(err)
	}
	port, dir := freePort(t), t.TempDir()
	hook := strings.ReplaceAll(guide.receivers["python"], portOfTheGuide, port)
	if err := os.WriteFile(filepath.Join(dir, "hook.py"), []byte(hook), 0o600); err != nil {
		t.Fatal(err)
	}
	python := filepath.Join(p.root, ".tools/dropin/python/bin")
	return start(t, port, program.Command{
		Path: "/bin/sh", Args: []string{"-c", "cd " + dir + "\n" + strings.ReplaceAll(lines, portOfTheGuide, port)},
		Env: map[string]string{
			"PRISM_URL": p.url, "PRISM_API_KEY": p.key, "HOME": dir,
			"PATH": strings.Join([]string{python, filepath.Dir(ctl), os.Getenv("PATH")}, string(os.PathListSeparator)),
		},
	})
}

func freePort(t *testing.T) string {
	t.Helper()
	port, err := freeport.Port()
	if err != nil {
		t.Fatal(err)
	}
	return strconv.Itoa(port)
}

// start starts a program, which ends with the test, and waits until something listens at the port.
func start(t *testing.T, port string, command program.Command) *receiving {
	t.Helper()
	in, out := io.Pipe()
	command.Stdin = in
	started, err := program.Launch(command)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = out.Close()
		_ = syscall.Kill(-started.PID(), syscall.SIGKILL) // what it has started too
		started.Kill()
	})
	r := &receiving{Process: started, address: "127.0.0.1:" + port, input: out}
	ctx, cancel := context.WithTimeout(t.Context(), budget)
	defer cancel()
	if err := r.Await(ctx, func(ctx context.Context) error {
		c, err := new(net.Dialer).DialContext(ctx, "tcp", r.address)
		if err == nil {
			err = c.Close()
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return r
}

// post sends an event, and returns the status of the answer: 0 if the receiver closes the connection without one.
func (r *receiving) post(t *testing.T, e sent) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), budget)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+r.address+"/hook", bytes.NewReader(e.body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = e.header.Clone()
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	return response.StatusCode
}

// says waits until the program has printed what matches a pattern.
func (r *receiving) says(t *testing.T, pattern string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), budget)
	defer cancel()
	if _, err := r.AwaitOutput(ctx, regexp.MustCompile(pattern)); err != nil {
		t.Fatal(err)
	}
}

// verified holds that the Python receiver refused nothing.
func (r *receiving) verified(t *testing.T) {
	t.Helper()
	if strings.Contains(r.Output(), "VerificationError") {
		t.Errorf("an event was refused:\n%s", r.Output())
	}
}
