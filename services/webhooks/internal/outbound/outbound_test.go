package outbound

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"go.uber.org/goleak"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// names is a resolver of hosts, each of whose answers is used once; the last one stays.
type names struct {
	mu   sync.Mutex
	list map[string][][]netip.Addr
	n    int
}

func (r *names) LookupNetIP(_ context.Context, network, host string) ([]netip.Addr, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n++
	answers := r.list[host]
	if network != "ip" || len(answers) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	if len(answers) > 1 {
		r.list[host] = answers[1:]
	}
	return append([]netip.Addr(nil), answers[0]...), nil
}

func addrs(texts ...string) (list []netip.Addr) {
	for _, text := range texts {
		list = append(list, netip.MustParseAddr(text))
	}
	return list
}

var loopback = Networks{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// newClient makes a client that ends with the test.
func newClient(t *testing.T, cfg Config) *Client {
	t.Helper()
	cfg.UserAgent = "Prism-Webhooks/test"
	c := New(cfg)
	t.Cleanup(c.Close)
	return c
}

// receiver is a server of the test, over TLS for the name example.com if secure.
func receiver(t *testing.T, secure bool, h http.HandlerFunc) (base string, roots *tls.Config) {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	if !secure {
		s.Start()
		t.Cleanup(s.Close)
		return s.URL, nil
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	return s.URL, &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
}

func port(t *testing.T, base string) string {
	t.Helper()
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	return u.Port()
}

func post(t *testing.T, c *Client, target string) Answer {
	t.Helper()
	return c.Post(t.Context(), target, http.Header{"Webhook-Id": {"x"}}, []byte("{}"))
}

// spec: delivery-addresses
func TestEachAddressOfAHostIsChecked(t *testing.T) {
	t.Parallel()
	d := func(allow Networks, r *names) *dialer { return &dialer{allow: allow, resolver: r} }
	r := &names{list: map[string][][]netip.Addr{
		"public": {addrs("8.8.8.8", "2606:4700::1")}, "mixed": {addrs("8.8.8.8", "10.0.0.1")}, "mapped": {addrs("::ffff:8.8.8.8")},
		"inside": {addrs("::ffff:169.254.169.254")}, "zone": {addrs("fe80::1%eth0")}, "own": {addrs("127.0.0.1")}, "both": {addrs("127.0.0.1", "8.8.8.8")}, "none": {{}},
	}}
	for _, c := range []struct {
		host  string
		plain bool
		allow Networks
		want  error
	}{
		{host: "public"},
		{host: "mapped"},
		{host: "8.8.8.8"},
		{host: "public", plain: true, want: errForbidden},
		{host: "mixed", want: errForbidden},
		{host: "inside", want: errForbidden},
		{host: "zone", want: errForbidden},
		{host: "own", want: errForbidden},
		{host: "own", allow: loopback},
		{host: "own", allow: loopback, plain: true},
		{host: "both", allow: loopback},
		{host: "both", allow: loopback, plain: true, want: errForbidden},
		{host: "127.0.0.1", want: errForbidden},
		{host: "::1", want: errForbidden},
		{host: "fe80::1%eth0", allow: Networks{netip.MustParsePrefix("fe80::/10")}, want: errForbidden},
		{host: "0x7f.1", want: errForbidden},
		{host: "2130706433", allow: loopback, want: errForbidden},
		{host: "none", want: errUnresolved},
		{host: "unknown", want: errUnresolved},
	} {
		list, err := d(c.allow, r).addresses(t.Context(), c.host, c.plain)
		if !errors.Is(err, c.want) || c.want == nil && len(list) == 0 {
			t.Errorf("%+v: %v, %v", c, list, err)
		}
		for _, a := range list {
			if a.Is4In6() {
				t.Errorf("%s is dialled as %s", c.host, a)
			}
		}
	}
}

// spec: delivery-addresses
func TestAHostThatChangesItsAddressIsNotReached(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	base, _ := receiver(t, false, func(w http.ResponseWriter, _ *http.Request) { calls.Add(1); w.Header().Set("Connection", "close") })
	allowed := Networks{netip.MustParsePrefix("127.0.0.1/32")}
	r := &names{list: map[string][][]netip.Addr{"rebinds.example": {addrs("127.0.0.1"), addrs("127.0.0.2")}}}
	c := newClient(t, Config{Allow: allowed, Resolver: r})
	target := "http://rebinds.example:" + port(t, base) + "/"
	if a := post(t, c, target); a.Status != 200 || a.Error != "" || r.n != 1 {
		t.Fatalf("%+v after %d look-ups", a, r.n)
	}
	if a := post(t, c, target); a.Error != api.TryRefused || a.Status != 0 || calls.Load() != 1 || r.n != 2 {
		t.Errorf("%+v after %d look-ups and %d calls", a, r.n, calls.Load())
	}
}

func TestACallHasTheNameOfItsHostAndNothingElse(t *testing.T) {
	t.Parallel()
	var got *http.Request
	var body []byte
	base, roots := receiver(t, true, func(w http.ResponseWriter, r *http.Request) {
		got = r.Clone(context.Background()) //nolint:usetesting // it outlives the handler
		body, _ = io.ReadAll(r.Body)
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
		w.WriteHeader(http.StatusNoContent)
	})
	r := &names{list: map[string][][]netip.Addr{"example.com": {addrs("127.0.0.1")}, "other.example": {addrs("127.0.0.1")}}}
	c := newClient(t, Config{Allow: loopback, Resolver: r, TLS: roots})
	for range 2 { // the second has no cookie either
		if a := post(t, c, "https://example.com:"+port(t, base)+"/hook?a=b#c"); a.Status != 204 || a.Error != "" {
			t.Fatalf("%+v", a)
		}
		if string(body) != "{}" || got.Method != http.MethodPost || got.RequestURI != "/hook?a=b" || got.TLS.ServerName != "example.com" || got.ProtoMajor != 1 {
			t.Errorf("%s %s %q", got.Method, got.RequestURI, body)
		}
		want := http.Header{"User-Agent": {"Prism-Webhooks/test"}, "Webhook-Id": {"x"}, "Content-Length": {"2"}}
		if len(got.Header) != len(want) || got.Header.Get("User-Agent") != "Prism-Webhooks/test" || got.Header.Get("Webhook-Id") != "x" {
			t.Errorf("the header is %v", got.Header)
		}
	}
	if r.n != 1 {
		t.Errorf("the connection was not kept: %d look-ups", r.n)
	}
	if a := post(t, c, "https://other.example:"+port(t, base)+"/"); a.Error != api.TryTLS {
		t.Errorf("a certificate of another host: %+v", a)
	}
}

// spec: delivery-answers
func TestAnswersOfAllowedNetworksAreNotShown(t *testing.T) {
	t.Parallel()
	base, _ := receiver(t, false, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "secret", http.StatusTeapot) })
	c := newClient(t, Config{Allow: loopback})
	for range 2 { // also on a kept connection
		if a := post(t, c, base); a.Status != 418 || a.Error != api.TryStatus || a.Text != nil {
			t.Errorf("%+v", a)
		}
	}
	if !c.hides(nil) || c.hides(&net.TCPAddr{IP: net.IPv4(8, 8, 8, 8)}) || !c.hides(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}) {
		t.Error("answers of public addresses are shown, and no others")
	}
}

func TestAFailedCallHasAReason(t *testing.T) {
	t.Parallel()
	closing, _ := receiver(t, false, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, _ := w.(http.Hijacker).Hijack()
		_ = conn.Close()
	})
	redirecting, _ := receiver(t, false, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) })
	large, _ := receiver(t, false, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("x", 64<<10)) })
	plain, _ := receiver(t, false, func(http.ResponseWriter, *http.Request) {})
	untrusted, _ := receiver(t, true, func(http.ResponseWriter, *http.Request) {})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refusing := "http://" + ln.Addr().String()
	_ = ln.Close()
	c := newClient(t, Config{Allow: loopback, Resolver: &names{}})
	for target, want := range map[string]Answer{
		closing: {Error: api.TryConnection}, refusing: {Error: api.TryConnection}, large: {Error: api.TryConnection},
		redirecting:                   {Error: api.TryStatus, Status: 302},
		untrusted:                     {Error: api.TryTLS},
		"https" + plain[len("http"):]: {Error: api.TryTLS},
		"https://unknown.example/":    {Error: api.TryUnresolved}, "http://8.8.8.8/": {Error: api.TryRefused}, "https://10.0.0.1/": {Error: api.TryRefused},
		"https://[fe80::1%25eth0]/": {Error: api.TryRefused}, "https://2130706433/": {Error: api.TryRefused}, "ftp://127.0.0.1/": {Error: api.TryRefused}, "https:///x": {Error: api.TryRefused},
	} {
		if a := post(t, c, target); a != want {
			t.Errorf("%s: %+v, want %+v", target, a, want)
		}
	}
}

func TestAnAnswerIsReadToItsBoundAndNoFurther(t *testing.T) {
	t.Parallel()
	written := make(chan int, 1)
	base, _ := receiver(t, false, func(w http.ResponseWriter, _ *http.Request) { // 10 GB
		n, chunk := 0, make([]byte, 1<<20)
		for range 10_000 {
			m, err := w.Write(chunk)
			if n += m; err != nil {
				break
			}
		}
		written <- n
	})
	c := newClient(t, Config{Allow: loopback})
	if a := post(t, c, base); a.Status != 200 || a.Error != "" {
		t.Errorf("%+v", a)
	}
	if n := <-written; n > 1<<30 {
		t.Errorf("%d bytes were sent", n)
	}
}

// spec: delivery-tries
func TestACallHasItsTimeForAllOfIt(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"a receiver that hangs": "", "a header that drips": "HTTP/1.1 200 OK\r\nX: ", "a body that drips": "HTTP/1.1 200 OK\r\nContent-Length: 4000\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				near, far := net.Pipe()
				c := New(Config{Allow: loopback})
				c.plain.DialContext = func(context.Context, string, string) (net.Conn, error) { return near, nil }
				go func() {
					_, _ = http.ReadRequest(bufio.NewReader(far))
					_, _ = io.WriteString(far, answer)
				}()
				a := post(t, c, "http://127.0.0.1/")
				if a.Error != api.TryTimeout || (a.Status == 200) != strings.Contains(answer, "Length") {
					t.Errorf("%+v", a)
				}
				_ = far.Close()
				c.Close()
			})
		})
	}
}

func TestAnswersAreReadable(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]string{
		"invalid": strings.Repeat("a\xff", contract.DeliveryAnswer), "nul": strings.Repeat("\x00", contract.DeliveryAnswer), "cut": strings.Repeat("€", contract.DeliveryAnswer),
		"short": "ok €", "empty": "", "one more": "xx" + strings.Repeat("é", contract.DeliveryAnswer/2),
	} {
		got := readable([]byte(b))
		if len(got) > contract.DeliveryAnswer || !utf8.ValidString(got) || strings.Contains(got, "\x00") || strings.Contains(got, "\uFFFD") && utf8.ValidString(b) && name != "nul" {
			t.Errorf("%s: %d bytes %.20q", name, len(got), got)
		}
	}
	if got := readable([]byte("ok €")); got != "ok €" {
		t.Errorf("%q", got)
	}
}
