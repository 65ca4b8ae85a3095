package modelsfile

import (
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

// spec: upstream-proxies
func TestAProxyIsThatOfTheModelElseThatOfTheEnvironment(t *testing.T) {
	t.Parallel()
	environment := EnvironmentProxy(func(name string) string {
		return map[string]string{"HTTPS_PROXY": "http://e:" + secret + "@env:3128", "no_proxy": ".internal,10.0.0.0/8", "HTTP_PROXY": "http://plain:1"}[name]
	})
	for _, c := range []struct {
		own, base string
		from      func(*url.URL) (*url.URL, error)
		want      string
	}{
		{"", "https://api.example.com/v1", nil, ""},
		{"", "https://api.example.com/v1", environment, "http://e:" + secret + "@env:3128"},
		{"", "https://models.internal/v1", environment, ""},
		{"", "https://10.1.2.3/v1", environment, ""},
		{"", "http://api.example.com/v1", environment, ""},
		{"http://own:3128", "https://models.internal/v1", environment, "http://own:3128"},
	} {
		got := ""
		if u := proxyOf(c.own, c.base, c.from); u != nil {
			got = u.String()
		}
		if got != c.want {
			t.Errorf("%+v: got %s", c, got)
		}
	}
}

// spec: upstream-proxies
func TestTheProxyAndTheAuthorityOfAFileAreUsed(t *testing.T) {
	t.Parallel()
	var asked *http.Request
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r
		_, _ = io.WriteString(w, "{}")
	}))
	t.Cleanup(proxy.Close)
	signed := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(signed.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(config(write(t, `default: a
models:
  - {name: a, provider: systemone, base_url: http://models.test/v1, proxy: "http://u@`+at.Host+`", proxy_password_env: KEY, ca_file: `+ca+`}
`)))
	if err != nil {
		t.Fatal(err)
	}
	set := s.Acquire()
	defer set.Release()
	m := set.Models()[0]
	if m.Proxy != "http://u:"+secret+"@"+at.Host || rootsOf(m.Roots) == nil {
		t.Fatalf("got %+v", m.Spec)
	}
	client, err := upstream.New(upstream.Config{BaseURL: m.BaseURL, Proxy: proxyOf(m.Proxy, m.BaseURL, nil), Roots: rootsOf(m.Roots)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	if fault := client.Post(t.Context(), "/x", nil, 1, func([]byte) *upstream.Fault { return nil }); fault != nil || asked.URL.String() != "http://models.test/v1/x" {
		t.Errorf("got %+v, %v", fault, asked.URL)
	}
}
