package upstream

import (
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/prism-results/prism/services/model-proxy/internal/failure"
)

// proxy is an HTTP proxy for the user u with the password sk-proxy. Every name leads to the upstream.
func proxy(t *testing.T, upstream string) *url.URL {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Proxy-Authorization") != "Basic "+base64.StdEncoding.EncodeToString([]byte("u:sk-proxy")) {
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		if r.Method != http.MethodConnect {
			_, _ = io.WriteString(w, "through "+r.URL.String())
			return
		}
		to, err := (&net.Dialer{}).DialContext(r.Context(), "tcp", upstream)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer to.Close()
		w.WriteHeader(http.StatusOK)
		from, sent, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer from.Close()
		go func() { _, _ = io.Copy(to, sent) }() // of which the server may have read the begin
		_, _ = io.Copy(from, to)
	}))
	t.Cleanup(server.Close)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword("u", "sk-proxy")
	return u
}

// spec: upstream-proxies
func TestCallsGoThroughTheProxy(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Host+r.Header.Get("Proxy-Authorization"))
	}))
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	through := proxy(t, server.Listener.Addr().String())
	without := *through
	without.User = nil
	away := proxy(t, "127.0.0.1:1")
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	for name, c := range map[string]struct {
		base  string
		proxy *url.URL
		roots *x509.CertPool
		want  string
		fault Fault
	}{
		"with TLS":                       {"https://example.com", through, roots, "example.com", Fault{}},
		"an authority that nobody knows": {"https://example.com", through, nil, "", Fault{Class: failure.Unavailable, Cause: "tls"}},
		"without TLS":                    {"http://models.internal", through, nil, "through http://models.internal/x", Fault{}},
		"a wrong password":               {"https://example.com", &without, roots, "", Fault{Class: failure.RefusedKey, Status: 407, Cause: ByProxy}},
		"a wrong password without TLS":   {"http://models.internal", &without, nil, "", Fault{Class: failure.RefusedKey, Status: 407}},
		"the upstream is away":           {"https://example.com", away, roots, "", Fault{Class: failure.Unavailable, Status: 502, Cause: ByProxy}},
		"the proxy is away":              {"https://example.com", &url.URL{Scheme: "http", Host: closed.Addr().String()}, roots, "", Fault{Class: failure.Unavailable, Cause: ByProxy}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, fault := post(t.Context(), client(t, Config{BaseURL: c.base, Proxy: c.proxy, Roots: c.roots}), nil)
			if fault == nil {
				fault = &Fault{}
			}
			if string(got) != c.want || fault.Class != c.fault.Class || fault.Status != c.fault.Status || fault.Cause != c.fault.Cause {
				t.Errorf("got %q, %+v", got, *fault)
			}
			if strings.Contains(fmt.Sprint(*fault), "sk-proxy") {
				t.Errorf("the password is in %+v", *fault)
			}
		})
	}
}
