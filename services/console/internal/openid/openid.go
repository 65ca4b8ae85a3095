// Package openid signs people in with OpenID Connect: the code flow with PKCE, state and nonce, at one provider.
//
//	start ──▶ the provider ──▶ callback: state, code ──▶ ID token ──▶ signature, audience, expiry, nonce ──▶ contract.Identity
//
// The provider is asked for its metadata when somebody first signs in, so the console starts while the provider is down.
package openid

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"

	"github.com/prism-results/prism/pkg/credential"
)

// Config configures a Client.
type Config struct {
	Issuer       string // exactly as in its ID tokens
	ClientID     string
	ClientSecret credential.Source
	RedirectURL  string
	Scopes       []string // openid among them
	Claims       []string // that rules of members may name
	Now          func() time.Time
	// Asked is told after each request for the provider's metadata or for a token whether the provider answered.
	Asked func(answered bool)
}

// Client is the client of a provider. It is safe for concurrent use.
type Client struct {
	cfg   Config
	seals seals
	http  *http.Client

	finding singleflight.Group
	mu      sync.Mutex
	known   *provider
	failed  time.Time // when the last request for the metadata failed; zero if it did not
}

// provider is a provider whose metadata are known.
type provider struct {
	*oidc.Provider
	verifier *oidc.IDTokenVerifier
	oauth    oauth2.Config
}

const (
	// requestTime bounds each request to the provider.
	requestTime = 6 * time.Second
	// idleTime is how long a connection to the provider is kept for the next request.
	idleTime = 30 * time.Second
	// responseLimit bounds a response of the provider, in bytes.
	responseLimit = 1 << 20
	// retryPause is how long a provider that did not answer is not asked again.
	retryPause = 2 * time.Second
)

// ErrUnavailable is a provider that does not answer, or whose answers are not those of a provider.
var ErrUnavailable = errors.New("openid: the provider is away")

// ErrRefused is an answer of the provider with which nobody can be signed in.
var ErrRefused = errors.New("openid: refused")

// New makes the client. It does no I/O.
func New(cfg Config) *Client {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, IdleConnTimeout: idleTime}
	return &Client{cfg: cfg, http: &http.Client{Transport: bounded{transport}, Timeout: requestTime}}
}

// provider returns the provider. Its metadata are requested until a request succeeds.
func (c *Client) provider(ctx context.Context) (*provider, error) {
	c.mu.Lock()
	known, failed := c.known, c.failed
	c.mu.Unlock()
	switch {
	case known != nil:
		return known, nil
	case !failed.IsZero() && c.cfg.Now().Sub(failed) < retryPause:
		return nil, ErrUnavailable
	}
	discovered := c.finding.DoChan("", func() (any, error) { return c.discover(context.WithoutCancel(ctx)) })
	select {
	case r := <-discovered:
		if r.Err != nil {
			return nil, r.Err
		}
		return r.Val.(*provider), nil
	case <-ctx.Done():
		return nil, errors.Join(ErrUnavailable, ctx.Err())
	}
}

func (c *Client) discover(ctx context.Context) (*provider, error) {
	discovered, err := oidc.NewProvider(oidc.ClientContext(ctx, c.http), c.cfg.Issuer)
	c.cfg.Asked(err == nil)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.failed = c.cfg.Now()
		return nil, fmt.Errorf("%w: %s", ErrUnavailable, discoveryProblem(err))
	}
	c.failed = time.Time{}
	c.known = &provider{
		Provider: discovered,
		verifier: discovered.VerifierContext(oidc.ClientContext(ctx, c.http), &oidc.Config{ClientID: c.cfg.ClientID, Now: c.cfg.Now}),
		oauth: oauth2.Config{
			ClientID: c.cfg.ClientID, Endpoint: discovered.Endpoint(), RedirectURL: c.cfg.RedirectURL,
			Scopes: c.cfg.Scopes,
		},
	}
	return c.known, nil
}

// discoveryProblem says what is wrong without the text of a response.
func discoveryProblem(err error) string {
	var mismatch *oidc.IssuerMismatchError
	if errors.As(err, &mismatch) {
		return mismatch.Error() // two addresses, of which one is a setting
	}
	return transportProblem(err)
}

// Start begins a sign-in: it completes the transaction, which the browser keeps, and returns the address at the provider.
func (c *Client) Start(ctx context.Context, t *Transaction) (address string, err error) {
	p, err := c.provider(ctx)
	if err != nil {
		return "", err
	}
	t.State, t.Nonce, t.Verifier = rand.Text(), rand.Text(), oauth2.GenerateVerifier()
	t.Ends = c.cfg.Now().Add(TransactionTime).UTC()
	return p.oauth.AuthCodeURL(t.State, oidc.Nonce(t.Nonce), oauth2.S256ChallengeOption(t.Verifier)), nil
}

// bounded ends a response of the provider after responseLimit bytes.
type bounded struct{ http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(res.Body, responseLimit), res.Body}
	}
	return res, err
}
