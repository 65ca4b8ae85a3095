package chaos

import (
	"context"
	"crypto/tls"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/certs"
	"github.com/prism-results/prism/test/chaos/internal/system"
	"github.com/prism-results/prism/test/internal/history"
	"github.com/prism-results/prism/test/internal/load"
	"github.com/prism-results/prism/test/internal/upstream"
)

// Certificates and their authority are renewed, and then everything is wrong with them and with handshakes, while results are made and
// retried, and files are run, labelled and exported. Nothing is lost or doubled. Calls are refused while the services do not accept each
// other, a log says why, and all goes on without a restart when the certificates are right again.
//
// spec: internal-tls, internal-tls-rotation, rotation-without-restart, linearizable, one-result-a-row, run-counts
func TestEverythingHoldsWhateverTheCertificatesAre(t *testing.T) {
	t.Parallel()
	c := &certificates{dir: t.TempDir(), authority: newAuthority(t)}
	c.write(t, c.sound(time.Hour), everybody...)
	lc := contended(t)
	lc.Clients = few
	c.world = startWorld(t, system.Config{
		TLS: c.dir, Forgetful: true, Workers: 2, Console: true, Model: upstream.Config{Pause: 5 * time.Millisecond, MaxPause: time.Second},
	}, lc)
	w := newUserWorld(t, c.System, c.Gateways[0].URL(), c.Model)
	w.cut, w.races = true, 1<<20 // behind those of the load
	c.browser = signIn(t, c.System)
	c.key = c.browser.key(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go c.strangers(ctx)
	loaded := make(chan struct{})
	go func() {
		defer close(loaded)
		c.load.Run(ctx)
	}()
	w.during(t, func() {
		c.renew(t)
		for _, f := range c.faults(t) {
			c.suffer(t, f)
		}
		c.cutHandshakes(t)
		for _, p := range c.Results {
			c.logged(t, p, 0, "client didn't provide a certificate")
		}
	})
	stop()
	<-loaded
	c.Model.Heal()
	c.load.Finish(t.Context())
	c.report(t, nil, history.Check(c.load.Histories()), c.problems(t))
}

// certificates are those of the services of a world.
type certificates struct {
	*world
	dir       string
	authority *certs.Authority
	browser   *session
	key       string // of the runner
}

// The folders of the certificates of those who are called, and of those who call.
var (
	called    = []string{"results", "model-proxy"}
	callers   = []string{"gateway", "runs", "console"}
	everybody = slices.Concat(called, callers)
)

const here = "127.0.0.1"

func newAuthority(t *testing.T) *certs.Authority {
	t.Helper()
	a, err := certs.New()
	must(t, err)
	return a
}

// issue makes certificates of an authority for a host. Their owners trust the authority of the system.
func (c *certificates) issue(from *certs.Authority, expires time.Duration, host string) func(t *testing.T) certs.Files {
	return func(t *testing.T) certs.Files {
		t.Helper()
		f, err := from.Issue(expires, host)
		must(t, err)
		f.CA = c.authority.PEM
		return f
	}
}

func (c *certificates) sound(expires time.Duration) func(t *testing.T) certs.Files {
	return c.issue(c.authority, expires, here)
}

func (c *certificates) write(t *testing.T, files func(t *testing.T) certs.Files, folders ...string) {
	t.Helper()
	for _, folder := range folders {
		must(t, files(t).Write(filepath.Join(c.dir, folder)))
	}
}

// renew renews all certificates, and then their authority in the three steps of docs/operations.md.
func (c *certificates) renew(t *testing.T) {
	t.Helper()
	const expiry, authorities = "prism_internal_tls_expiry_seconds", "prism_internal_tls_authorities"
	expires := func(after time.Duration) func(float64) bool {
		return func(left float64) bool { return left > (after - 10*time.Minute).Seconds() }
	}
	trusts := func(n float64) func(float64) bool { return func(got float64) bool { return got == n } }
	c.write(t, c.sound(2*time.Hour), everybody...)
	c.measure(t, expiry, expires(2*time.Hour))
	c.works(t)
	next := newAuthority(t)
	both := slices.Concat(c.authority.PEM, next.PEM)
	with := func(f certs.Files, ca []byte) func(*testing.T) certs.Files {
		return func(*testing.T) certs.Files { f.CA = ca; return f }
	}
	c.write(t, with(certs.Files{}, both), everybody...)
	c.measure(t, authorities, trusts(2))
	c.works(t)
	for _, folder := range everybody {
		c.write(t, with(c.issue(next, 3*time.Hour, here)(t), both), folder)
	}
	c.measure(t, expiry, expires(3*time.Hour))
	c.works(t)
	c.authority = next
	c.write(t, with(certs.Files{}, next.PEM), everybody...)
	c.measure(t, authorities, trusts(1))
	c.works(t)
}

// measure waits until a metric of all parts is as it should be.
func (c *certificates) measure(t *testing.T, metric string, want func(float64) bool) {
	t.Helper()
	for _, p := range c.Parts() {
		until(t, p.Name+" reports "+metric, func() bool {
			value, err := p.Metric(t.Context(), metric)
			return err == nil && want(value)
		})
	}
}

// tlsFault is something that is wrong with certificates.
type tlsFault struct {
	name    string
	folders []string
	files   func(t *testing.T) certs.Files
	part    *system.Part // that logs why
	says    string
}

// kept is what a service logs that goes on with the files that it has.
const kept = "the previous ones stay in use"

func (c *certificates) faults(t *testing.T) []tlsFault {
	t.Helper()
	sound, stranger := c.sound(time.Hour), newAuthority(t)
	but := func(change func(f, other *certs.Files)) func(t *testing.T) certs.Files {
		return func(t *testing.T) certs.Files {
			f, other := sound(t), sound(t)
			change(&f, &other)
			return f
		}
	}
	trusting := but(func(f, _ *certs.Files) { f.CA = stranger.PEM })
	return []tlsFault{
		{"those who are called have expired", called, c.issue(c.authority, -time.Second, here), c.Gateways[0], "certificate has expired"},
		{"half a certificate", everybody, but(func(f, _ *certs.Files) { f.Cert = f.Cert[:len(f.Cert)/2] }), c.Results[0], kept},
		{"those who call have expired", callers, c.issue(c.authority, -time.Second, here), c.Results[0], "certificate has expired"},
		{"half a key", everybody, but(func(f, _ *certs.Files) { f.Key = f.Key[:len(f.Key)/2] }), c.Gateways[0], kept},
		{"a stranger signed for those who are called", called, c.issue(stranger, time.Hour, here), c.Gateways[1], "signed by unknown authority"},
		{"half an authority", everybody, but(func(f, _ *certs.Files) { f.CA = slices.Concat(f.CA, stranger.PEM[:99]) }), c.Models, kept},
		{"a stranger signed for those who call", callers, c.issue(stranger, time.Hour, here), c.Results[1], "signed by unknown authority"},
		{"the key of another certificate", everybody, but(func(f, other *certs.Files) { f.Key = other.Key }), c.Workers[0], kept},
		{"those who are called trust a stranger", called, trusting, c.Results[0], "signed by unknown authority"},
		{"certificate and key are swapped", everybody, but(func(f, _ *certs.Files) { f.Cert, f.Key = f.Key, f.Cert }), c.Console, kept},
		{"those who call trust a stranger", callers, trusting, c.Workers[0], "signed by unknown authority"},
		{"empty files", everybody, but(func(f, _ *certs.Files) { *f = certs.Files{Cert: []byte{}, Key: []byte{}, CA: []byte{}} }), c.Results[1], kept},
		{"certificates of other services", called, c.issue(c.authority, time.Hour, "elsewhere"), c.Workers[1], "doesn't contain any IP SANs"},
		{"no files", everybody, func(t *testing.T) certs.Files {
			for _, folder := range everybody {
				must(t, os.RemoveAll(filepath.Join(c.dir, folder)))
			}
			return certs.Files{}
		}, c.Gateways[1], kept},
	}
}

// suffer has the services live with a fault, and after it.
func (c *certificates) suffer(t *testing.T, f tlsFault) {
	t.Helper()
	before := len(f.part.Process().Stderr())
	c.write(t, f.files, f.folders...)
	c.logged(t, f.part, before, f.says)
	c.cut() // connections that were made before all have read the files
	refused := 0
	late := map[string]bool{} // a busy machine may have no time for a call, but for a later one of its kind
	ask := func() {
		for what, status := range c.ask(t) {
			switch {
			case status == http.StatusServiceUnavailable && f.says != kept:
				refused++
			case status == http.StatusServiceUnavailable:
				late[what] = true
			case status != http.StatusOK:
				t.Errorf("VIOLATION: %s: %s is answered %d", f.name, what, status)
			default:
				delete(late, what)
			}
		}
	}
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); pass(100 * time.Millisecond) {
		ask()
	}
	for end := time.Now().Add(recoveryBudget); len(late) > 0; ask() {
		if time.Now().After(end) {
			t.Fatalf("VIOLATION: %s: refused is %v", f.name, late)
		}
	}
	if f.says != kept && refused == 0 {
		t.Errorf("%s: no call was refused, so nothing is shown", f.name)
	}
	c.write(t, c.sound(time.Hour), everybody...)
	c.works(t)
}

// logged waits for what a part logs behind a place of its log, and has all parts connect anew meanwhile.
func (c *certificates) logged(t *testing.T, p *system.Part, behind int, says string) {
	t.Helper()
	until(t, fmt.Sprintf("%s logs %q", p.Name, says), func() bool {
		if strings.Contains(p.Process().Stderr()[behind:], says) {
			return true
		}
		c.cut()
		_, err := p.Metric(t.Context(), "prism_internal_tls_authorities") // the metrics read changed files
		must(t, err)
		pass(300 * time.Millisecond)
		return false
	})
}

// links are those between services.
func (c *certificates) links() []*system.Link {
	return slices.DeleteFunc(slices.Clone(c.Links), func(l *system.Link) bool {
		return !strings.HasSuffix(l.Name, " to results") && !strings.HasSuffix(l.Name, " to model-proxy")
	})
}

func (c *certificates) cut() {
	for _, l := range c.links() {
		l.Cut()
	}
}

// ask makes a call of each kind through each gateway and returns the statuses.
func (c *certificates) ask(t *testing.T) map[string]int {
	t.Helper()
	client := load.NewClient(0, 1)
	defer client.Close()
	all := map[string]int{}
	for _, g := range c.Gateways {
		results := "/v1/prisms/" + load.Slugs[0] + "/results"
		for _, path := range []string{"/v1/results?limit=1", results + "?format=csv&status=failed", "/v1/files"} {
			all[g.Name+path] = client.Do(t.Context(), load.Request{Method: http.MethodGet, URL: g.URL() + path, Key: c.key}).Status
		}
		all[g.Name+results] = client.Do(t.Context(), load.Request{
			Method: http.MethodPost, URL: g.URL() + results, Key: c.key,
			Body: map[string]any{"fields": map[string]string{"message": upstream.Tag{Race: 1 << 19}.String()}},
		}).Status
		page := *c.browser
		page.url = g.URL()
		all[g.Name+" console"], _ = page.answer(t, http.MethodGet, "/console/session", "")
	}
	return all
}

// works waits until every kind of call was answered.
func (c *certificates) works(t *testing.T) {
	t.Helper()
	answered := map[string]bool{}
	untilWithin(t, 5*recoveryBudget, "every call is answered", func() bool {
		for call, status := range c.ask(t) {
			answered[call] = answered[call] || status == http.StatusOK
		}
		return !slices.Contains(slices.Collect(maps.Values(answered)), false)
	})
}

// cutHandshakes ends connections in each part of a handshake and of the call behind it, and has handshakes wait.
func (c *certificates) cutHandshakes(t *testing.T) {
	t.Helper()
	for _, stream := range []string{"upstream", "downstream"} {
		toxics := []system.Toxic{{Type: "timeout", Stream: stream, Toxicity: 1, Attributes: map[string]int{"timeout": 0}}}
		for _, bytes := range []int{0, 1, 100, 300, 600, 900, 1200, 1500, 2000, 3000} {
			toxics = append(toxics, system.Toxic{Type: "limit_data", Stream: stream, Toxicity: 1, Attributes: map[string]int{"bytes": bytes}})
		}
		for _, toxic := range toxics {
			for _, l := range c.links() {
				must(t, l.Poison(toxic))
			}
			c.cut()
			pass(500 * time.Millisecond)
			for _, l := range c.links() {
				must(t, l.Cure())
			}
		}
		c.works(t)
	}
}

// strangers connect to each service that is called, without a certificate, in plain text, and with nothing.
func (c *certificates) strangers(ctx context.Context) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		for _, p := range slices.Concat(c.Results, []*system.Part{c.Models, c.Console}) {
			for _, greet := range []func(net.Conn) error{
				func(conn net.Conn) error {
					secure := tls.Client(conn, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13})
					if err := secure.HandshakeContext(ctx); err != nil {
						return err
					}
					_, err := secure.Read(make([]byte, 1))
					return err
				},
				func(conn net.Conn) error { _, err := fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); return err },
				func(net.Conn) error { return nil },
			} {
				if conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", p.Listen); err == nil {
					_ = conn.SetDeadline(time.Now().Add(time.Second))
					_ = greet(conn) // who is refused or not: the log of the service tells
					_ = conn.Close()
				}
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
