package openid

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
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
	url := providerOf(t, func(secret string) bool { return secret == accepted })
	path := filepath.Join(t.TempDir(), "secret")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("first")
	c, source, began := beginSignIn(t, url, path)
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

// People sign in all the time while the secret is replaced in the file and then at the provider, several times.
//
// spec: secrets-from-files
func TestTheClientSecretIsReplacedWhileManySignIn(t *testing.T) {
	t.Parallel()
	const people, rounds = 8, 3
	var (
		mu             sync.Mutex
		accepted       = "secret-0"
		refused, taken = map[string]int{}, map[string]int{}
	)
	url := providerOf(t, func(secret string) bool {
		mu.Lock()
		defer mu.Unlock()
		if secret != accepted {
			refused[secret]++
			return false
		}
		taken[secret]++
		return true
	})
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte(accepted), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _, began := beginSignIn(t, url, path)
	ctx, stop := context.WithCancel(t.Context())
	var finished [people]atomic.Int64
	var all sync.WaitGroup
	for i := range people {
		all.Go(func() {
			for ctx.Err() == nil {
				if _, err := c.Finish(t.Context(), began, "code"); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "no ID token") {
					t.Errorf("a sign-in failed: %v", err)
					return
				}
				finished[i].Add(1)
			}
		})
	}
	defer all.Wait()
	defer stop()
	until := func(what string, is func() bool) {
		t.Helper()
		tick, late := time.NewTicker(10*time.Millisecond), time.NewTimer(2*time.Minute)
		defer tick.Stop()
		defer late.Stop()
		for !is() && !t.Failed() {
			select {
			case <-tick.C:
			case <-late.C:
				t.Fatal("it takes too long until " + what)
			}
		}
	}
	each := func() { // each of them has signed in twice since: what they began before is over
		t.Helper()
		var before [people]int64
		for i := range finished {
			before[i] = finished[i].Load()
		}
		for i := range finished {
			until("all have signed in", func() bool { return finished[i].Load() >= before[i]+2 })
		}
	}
	for round := 1; round <= rounds; round++ {
		next := fmt.Sprintf("secret-%d", round)
		if err := os.WriteFile(path+".new", []byte(next), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
		seen := func(in map[string]int) func() bool {
			return func() bool { mu.Lock(); defer mu.Unlock(); return in[next] > 0 }
		}
		until("the new secret is shown", seen(refused))
		each()
		mu.Lock()
		accepted = next
		mu.Unlock()
		until("the new secret is taken", seen(taken))
		each()
	}
}

// providerOf is the address of a provider that accepts some client secrets. It sends no ID token, which ends each sign-in.
func providerOf(t *testing.T, accepts func(secret string) bool) (url string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path != "/token" {
			issuer := "http://" + r.Host
			_, _ = fmt.Fprintf(w, `{"issuer":%[1]q,"authorization_endpoint":"%[1]s/a","token_endpoint":"%[1]s/token","jwks_uri":"%[1]s/keys"}`, issuer)
			return
		}
		_, secret, _ := r.BasicAuth()
		if secret == "" {
			secret = r.PostFormValue("client_secret")
		}
		if !accepts(secret) {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = fmt.Fprint(w, `{"error":"invalid_client"}`)
			return
		}
		_, _ = fmt.Fprint(w, `{"access_token":"a","token_type":"Bearer"}`)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// beginSignIn begins a sign-in at a provider with the client secret of a file.
func beginSignIn(t *testing.T, issuer, path string) (c *Client, secret credential.Source, began Transaction) {
	t.Helper()
	secret, err := credential.File(path, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	c = New(Config{
		Issuer: issuer, ClientID: "prism", ClientSecret: secret, Scopes: []string{"openid"}, Now: time.Now, Asked: func(bool) {},
	})
	if _, err := c.Start(t.Context(), &began); err != nil {
		t.Fatal(err)
	}
	return c, secret, began
}
