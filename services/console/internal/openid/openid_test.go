package openid

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/prism-results/prism/pkg/credential"
)

// spec: openid-sign-in
func TestAMiBOfAResponseOfTheProviderIsRead(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(bytes.Repeat([]byte(" "), 2<<20))
	}))
	t.Cleanup(server.Close)
	c := New(Config{ClientSecret: credential.Static("secretsecretsecretsecretsecretse")})
	res, err := c.http.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if n, err := io.Copy(io.Discard, res.Body); n != 1<<20 || err != nil {
		t.Errorf("%d bytes are read: %v", n, err)
	}
}
