package mtls

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/pkg/testkit/certs"
	"github.com/prism-results/prism/pkg/testkit/metrictest"
)

func authority(t *testing.T) *certs.Authority {
	t.Helper()
	a, err := certs.New()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func issue(t *testing.T, a *certs.Authority, expires time.Duration) certs.Files {
	t.Helper()
	f, err := a.Issue(expires, "results")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// spec: internal-tls-rotation
func TestAHalfWrittenPairIsNotUsed(t *testing.T) {
	t.Parallel()
	a := authority(t)
	first, second := issue(t, a, time.Hour), issue(t, a, time.Hour)
	half := func(pem []byte) []byte { return pem[:len(pem)/2] }
	if _, err := parse(first.Cert, first.Key, first.CA); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		cert, key, ca []byte
		says          string
	}{
		"the key of another certificate": {second.Cert, first.Key, first.CA, "tls.crt, tls.key: tls: private key does not match"},
		"half a certificate":             {half(first.Cert), first.Key, first.CA, "tls.crt: 0 of 1 blocks are whole"},
		"half an intermediate":           {slices.Concat(first.Cert, half(first.CA)), first.Key, first.CA, "tls.crt: 1 of 2 blocks are whole"},
		"half a second authority":        {first.Cert, first.Key, slices.Concat(first.CA, half(first.CA)), "ca.crt: 1 of 2 blocks are whole"},
		"the key in the certificate":     {first.Key, first.Cert, first.CA, "tls.crt, tls.key: "},
		"no key":                         {first.Cert, nil, first.CA, "tls.crt, tls.key: "},
		"no authority":                   {first.Cert, first.Key, nil, "ca.crt: has no certificate"},
		"a key as the authority":         {first.Cert, first.Key, first.Key, "ca.crt: has no certificate"},
		"a broken authority":             {first.Cert, first.Key, bytes.Replace(first.CA, []byte("MII"), []byte("AAA"), 1), "ca.crt: "},
	} {
		_, err := parse(c.cert, c.key, c.ca)
		if err == nil || !strings.HasPrefix(err.Error(), c.says) || strings.Contains(err.Error(), "PRIVATE KEY-") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOnlyTLS13WithACertificateIsSpoken(t *testing.T) {
	t.Parallel()
	f := issue(t, authority(t), time.Hour)
	p, err := parse(f.Cert, f.Key, f.CA)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []*tls.Config{p.server, p.client} {
		if c.MinVersion != tls.VersionTLS13 || c.InsecureSkipVerify || !c.SessionTicketsDisabled {
			t.Errorf("%+v", c)
		}
	}
	if p.server.ClientAuth != tls.RequireAndVerifyClientCert || p.server.ClientCAs == nil || p.client.RootCAs == nil {
		t.Error("a peer is not verified")
	}
}

// The expiry is that of the chain, and with two authorities that of the chain that is valid longer.
func TestTheExpiryIsWhenCallsFail(t *testing.T) {
	t.Parallel()
	a, other := authority(t), authority(t)
	both := func(f certs.Files) certs.Files { f.CA = append(f.CA[:len(f.CA):len(f.CA)], other.PEM...); return f }
	foreign := issue(t, a, 48*time.Hour)
	foreign.CA = other.PEM
	for name, c := range map[string]struct {
		files       certs.Files
		expires     time.Duration
		authorities int
	}{
		"the certificate ends first":       {issue(t, a, time.Hour), time.Hour, 1},
		"the authority ends first":         {issue(t, a, 48*time.Hour), 24 * time.Hour, 1},
		"with a second authority":          {both(issue(t, a, time.Hour)), time.Hour, 2},
		"it has expired":                   {issue(t, a, -time.Minute), -time.Minute, 1},
		"another authority vouches for it": {foreign, 48 * time.Hour, 1},
	} {
		p, err := parse(c.files.Cert, c.files.Key, c.files.CA)
		if err != nil {
			t.Fatal(err)
		}
		if off := time.Until(p.expires) - c.expires; off.Abs() > 10*time.Minute || p.authorities != c.authorities {
			t.Errorf("%s: in %s, %d authorities", name, time.Until(p.expires), p.authorities)
		}
	}
}

// spec: internal-tls
func TestOpenNamesTheSetting(t *testing.T) {
	t.Parallel()
	if i, err := (Settings{}).Open(nil, nil); i != nil || err != nil {
		t.Errorf("without a folder: %v, %v", i, err)
	}
	dir := t.TempDir()
	log := slog.New(slog.DiscardHandler)
	if _, err := (Settings{Dir: dir}).Open(log, prometheus.NewRegistry()); err == nil || !strings.HasPrefix(err.Error(), "PRISM_INTERNAL_TLS_DIR: "+dir) {
		t.Errorf("an empty folder: %v", err)
	}
}

func TestTheMetricsFollowTheFiles(t *testing.T) {
	t.Parallel()
	dir, a := t.TempDir(), authority(t)
	if err := issue(t, a, time.Hour).Write(dir); err != nil {
		t.Fatal(err)
	}
	metrics := prometheus.NewRegistry()
	if _, err := (Settings{Dir: dir}).Open(slog.New(slog.DiscardHandler), metrics); err != nil {
		t.Fatal(err)
	}
	got := metrictest.Values(t, metrics)
	for name, want := range map[string]float64{
		"prism_internal_tls_expiry_seconds": 3600, "prism_internal_tls_lifetime_seconds": 7200, "prism_internal_tls_authorities": 1,
	} {
		if math.Abs(got[name]-want) > 600 {
			t.Errorf("%s is %v", name, got[name])
		}
	}
}

// While every connection fails, one line in ten seconds says why, and strangers who connect again and again hide no other cause.
func TestWarningsAreFewAndNameEachCause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var logged bytes.Buffer
		i := &Identity{log: slog.New(slog.NewTextHandler(&logged, nil)), warned: map[string]time.Time{}}
		causes := []func() error{
			func() error { return nil },
			func() error { return errors.New("no certificate") },
			func() error { return &net.OpError{Op: "remote error", Err: tls.AlertError(42)} },
			func() error { return &net.OpError{Op: "remote error", Err: tls.AlertError(45)} },
			func() error {
				err := x509.CertificateInvalidError{Cert: &x509.Certificate{}, Reason: x509.Expired, Detail: time.Now().String()}
				return fmt.Errorf("failed to verify: %w", err)
			},
		}
		for range 101 {
			for n, cause := range causes {
				i.Warn("no connection", strconv.Itoa(n), cause())
			}
			<-time.After(warnPause/100 + time.Millisecond)
		}
		for n := range causes {
			if lines := strings.Count(logged.String(), fmt.Sprintf("peer=%d", n)); lines != 2 {
				t.Errorf("%d warnings of cause %d in ten seconds, want 2", lines, n)
			}
		}
	})
}

// A folder of Kubernetes is replaced by a link: all three files change at once.
func TestAFolderThatIsReplacedByALinkIsRead(t *testing.T) {
	t.Parallel()
	dir, a, b := t.TempDir(), authority(t), authority(t)
	for name, from := range map[string]*certs.Authority{"one": a, "two": b} {
		if err := issue(t, from, time.Hour).Write(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(dir, "tls")
	must(t, os.Symlink("one", link))
	open := func() *Identity {
		i, err := (Settings{Dir: link}).Open(slog.New(slog.DiscardHandler), prometheus.NewRegistry())
		must(t, err)
		return i
	}
	before := open()
	must(t, os.Symlink("two", link+".new"))
	must(t, os.Rename(link+".new", link))
	after := open()
	if shake(before, before) != nil || shake(after, after) != nil {
		t.Error("one side does not accept its own certificate")
	}
	if shake(before, after) == nil {
		t.Error("the certificate of another authority is accepted")
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// shake makes a handshake in memory and returns what the client says of it.
func shake(client, server *Identity) error {
	near, far := net.Pipe()
	defer func() { _ = near.Close() }()
	go func() {
		_ = tls.Server(far, server.Server()).Handshake()
		_ = far.Close()
	}()
	return tls.Client(near, client.Client("results")).Handshake()
}
