package console

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/telemetry"
	"github.com/prism-results/prism/pkg/testkit/syncbuffer"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// fasthttp's housekeeping: one sleeps up to ten seconds after its server has ended, the other runs for good.
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"),
	)
}

// The texts that no log, span or address may have.
const (
	linkText  = "LinkLinkLinkLinkLinkLinkLinkLink"
	keyText   = "prism_KeyKeyKeyKeyKeyKeyKeyKeyKeyKeyKeyKeyKe"
	otherText = "OtherOtherOtherOtherOtherOtherOt"
)

var (
	accountID = prism.AccountID{UUID: prism.UUID{1}}
	memberID  = prism.MemberID{UUID: prism.UUID{2}}
)

// sessions is a contract.Console in memory.
type sessions struct {
	mu       sync.Mutex
	links    map[contract.LinkDigest]bool // unused
	sessions map[contract.SessionDigest]contract.Session
	members  map[string]bool // subjects that an account knows
	seen     []contract.Identity
	role     prism.Role
	keys     int
	accounts []string // that sign-ins named
	looked   int      // for sessions
	away     error    // of every call
}

func newSessions() *sessions {
	return &sessions{
		links:    map[contract.LinkDigest]bool{sha256.Sum256([]byte(linkText)): true},
		sessions: map[contract.SessionDigest]contract.Session{}, members: map[string]bool{}, role: prism.Owner,
	}
}

func (s *sessions) account() contract.SessionAccount {
	return contract.SessionAccount{ID: accountID, Name: "demo", Member: contract.SessionMember{ID: memberID, Name: "Operator", Role: s.role}}
}

func (s *sessions) begin(digest contract.SessionDigest, earlier *contract.SessionDigest) contract.Session {
	if earlier != nil {
		delete(s.sessions, *earlier)
	}
	now := time.Now().Add(-30 * 24 * time.Hour) // no cookie has the time of the console
	s.sessions[digest] = contract.Session{
		Accounts: []contract.SessionAccount{s.account()}, Now: now, ExpiresAt: now.Add(12 * time.Hour), EndsAt: now.Add(7 * 24 * time.Hour),
	}
	return s.sessions[digest]
}

func (s *sessions) Link(_ context.Context, link contract.LinkDigest) (contract.LinkOwner, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away != nil || !s.links[link] {
		return contract.LinkOwner{}, errors.Join(s.away, apierr.LinkInvalid())
	}
	return contract.LinkOwner{Account: s.account(), ExpiresAt: time.Unix(1_800_000_000, 0).UTC()}, nil
}

func (s *sessions) SignIn(_ context.Context, in contract.SignIn) (contract.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away != nil || !s.links[in.Link] {
		return contract.Session{}, errors.Join(s.away, apierr.LinkInvalid())
	}
	delete(s.links, in.Link)
	return s.begin(in.Session, in.Earlier), nil
}

func (s *sessions) SignInAs(_ context.Context, in contract.SignInAs) (contract.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen, s.accounts = append(s.seen, in.Identity), append(s.accounts, in.Account)
	if in.Link != nil {
		if !s.links[*in.Link] {
			return contract.Session{}, apierr.LinkInvalid()
		}
		delete(s.links, *in.Link)
		s.members[in.Identity.Subject] = true
	}
	if !s.members[in.Identity.Subject] {
		return contract.Session{}, apierr.NotAMember()
	}
	return s.begin(in.Session, in.Earlier), nil
}

func (s *sessions) Session(_ context.Context, digest contract.SessionDigest) (contract.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looked++
	found, ok := s.sessions[digest]
	if s.away != nil {
		return contract.Session{}, s.away
	}
	if !ok {
		return contract.Session{}, apierr.NotSignedIn()
	}
	found.Accounts = []contract.SessionAccount{s.account()}
	return found, nil
}

func (s *sessions) SessionKey(
	_ context.Context, digest contract.SessionDigest, account prism.AccountID,
) (contract.SessionKey, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looked++
	if _, ok := s.sessions[digest]; !ok || account != accountID && account != (prism.AccountID{}) {
		return contract.SessionKey{}, apierr.NotSignedIn()
	}
	s.keys++
	return contract.SessionKey{Key: keyText, ExpiresAt: time.Now().Add(15 * time.Minute), Account: s.account()}, nil
}

func (s *sessions) Leave(_ context.Context, digest contract.SessionDigest, account prism.AccountID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looked++
	if _, ok := s.sessions[digest]; !ok || account != accountID {
		return apierr.NotSignedIn()
	}
	delete(s.sessions, digest)
	return s.away
}

func (s *sessions) EndSession(_ context.Context, digest contract.SessionDigest) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looked++
	delete(s.sessions, digest)
	return s.away
}

// looks is how often a session was looked for.
func (s *sessions) looks() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.looked
}

func (s *sessions) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sessions)
}

// build is a build of the front end.
var build = fstest.MapFS{
	"index.html":            {Data: []byte("<!doctype html><title>Prism</title>" + strings.Repeat("<p>a page</p>", 50))},
	"docs.html":             {Data: []byte("the gateway's")},
	"assets/index-abc1.js":  {Data: []byte(strings.Repeat("console.log('prism');\n", 100))},
	"assets/icon-abc2.svg":  {Data: []byte("<svg/>")},
	"assets/sans-abc.woff2": {Data: []byte("wOF2 letters")},
	"licenses.txt":          {Data: []byte("who made the letters")},
}

// running is a console that answers on loopback.
type running struct {
	t       *testing.T
	url     string
	console *sessions
	metrics *prometheus.Registry
	log     *syncbuffer.Buffer
}

// start runs a console with settings; change may replace a dependency.
func start(t *testing.T, s Settings, change ...func(*Deps)) *running {
	t.Helper()
	r := &running{t: t, console: newSessions(), metrics: prometheus.NewRegistry(), log: &syncbuffer.Buffer{}}
	log := telemetry.Logger(r.log, slog.LevelDebug)
	server := httpkit.New(httpkit.Config{Name: "console", TrustedProxies: httpkit.Everywhere()}, httpkit.Deps{Log: log})
	d := Deps{Console: r.console, Build: build, Version: "v1.2.3", Server: server, Metrics: r.metrics, Log: log, Now: time.Now}
	for _, f := range change {
		f(&d)
	}
	if err := New(s, d); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.url = "http://" + ln.Addr().String()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx, ln) }()
	t.Cleanup(func() {
		stop()
		<-ended
		for _, secret := range []string{linkText, keyText, otherText} {
			if strings.Contains(r.log.String(), secret) {
				t.Errorf("the log has a secret: %s", r.log)
			}
		}
	})
	return r
}

// answer is a response with its body.
type answer struct {
	*http.Response
	body string
}

// ask makes a request, and follows no redirect. headers are names and values in turn.
func (r *running) ask(method, path, body string, headers ...string) answer {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.url+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
			continue
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := (&http.Transport{DisableKeepAlives: true, DisableCompression: true}).RoundTrip(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return answer{res, string(text)}
}

func (a answer) want(t *testing.T, status int, part string) answer {
	t.Helper()
	if a.StatusCode != status || !strings.Contains(a.body, part) {
		t.Errorf("%s %s: %d %s, want %d with %q", a.Request.Method, a.Request.URL.Path, a.StatusCode, a.body, status, part)
	}
	return a
}

// cookie is the cookie that a response sets, as a request sends it.
func (a answer) cookie(t *testing.T, name string) string {
	t.Helper()
	for _, c := range a.Cookies() {
		if c.Name == name {
			return c.Name + "=" + c.Value
		}
	}
	t.Fatalf("no cookie %s is set, but %q", name, a.Header.Values("Set-Cookie"))
	return ""
}

// signedIn is the cookie of a new session.
func (r *running) signedIn() string {
	r.t.Helper()
	return r.ask("POST", "/console/session", `{"token":"`+linkText+`"}`).want(r.t, 204, "").cookie(r.t, "prism")
}
