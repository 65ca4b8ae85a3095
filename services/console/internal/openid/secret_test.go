package openid

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/credential"
)

// A provider takes the new secret before the file has it, and after.
//
// spec: secrets-from-files
func TestTheClientSecretIsReplacedDuringASignIn(t *testing.T) {
	t.Parallel()
	accepted := "first"
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path != "/token" {
			_, _ = fmt.Fprintf(w, `{"issuer":%[1]q,"authorization_endpoint":"%[1]s/a","token_endpoint":"%[1]s/token","jwks_uri":"%[1]s/keys"}`, server.URL)
			return
		}
		_, secret, _ := r.BasicAuth()
		if secret == "" {
			secret = r.PostFormValue("client_secret")
		}
		if secret != accepted {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = fmt.Fprint(w, `{"error":"invalid_client"}`)
			return
		}
		_, _ = fmt.Fprint(w, `{"access_token":"a","token_type":"Bearer"}`) // which ends the sign-in: there is no ID token
	}))
	t.Cleanup(server.Close)
	path := filepath.Join(t.TempDir(), "secret")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("first")
	source, err := credential.File(path, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	c := New(Config{
		Issuer: server.URL, ClientID: "prism", ClientSecret: source, Scopes: []string{"openid"}, Now: time.Now, Asked: func(bool) {},
	})
	var began Transaction
	if _, err := c.Start(t.Context(), &began); err != nil {
		t.Fatal(err)
	}
	cookie, err := c.Seal(began)
	if err != nil {
		t.Fatal(err)
	}
	exchanged := func() {
		t.Helper()
		if _, err := c.Finish(t.Context(), began, "code"); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "no ID token") {
			t.Errorf("the exchange of the code: %v", err)
		}
	}
	exchanged()
	write("second")
	source.Refused("first") // which reads the file: the provider does not have the new secret yet
	exchanged()
	accepted = "second"
	exchanged()
	if got, err := c.Open(cookie); err != nil || got.State != began.State {
		t.Errorf("the sign-in that began before: %v", err)
	}
}
