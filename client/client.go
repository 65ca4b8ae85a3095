package client

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// How long one attempt may take.
const (
	// AnswerTimeout is for a create, a retry or a try: up to 35 s for other calls, 15 s for the model, and saving.
	AnswerTimeout = 75 * time.Second
	// Timeout is for other calls without a timeout of their own, and for each read of a response body.
	Timeout = 30 * time.Second
)

// Config selects a Prism and how it is called.
type Config struct {
	// URL is the address of the API without /v1, such as "https://prism.example.com". Required.
	URL string
	// Key is the API key. Required.
	Key string
	// Attempts is the most attempts of a call whose repeat is safe; 0 is 4, and 1 never repeats.
	Attempts int
	// Transport makes the requests; nil is a transport with time limits.
	Transport http.RoundTripper
	// UserAgent names the program in the server's logs; "prism-client" when empty.
	UserAgent string
}

// Client calls one Prism with one key. It is safe for concurrent use.
type Client struct {
	base     string
	http     *http.Client
	attempts int
	agent    string
	// authorize adds the key. It is a function, so that printing or encoding a Client does not show the key.
	authorize func(http.Header)
	pause     pauses
	poll      pauses // between reads of a file or run until it is done
}

// New makes a client. It makes no request.
func New(c Config) (*Client, error) {
	base, err := parseBase(c.URL)
	if err != nil {
		return nil, fmt.Errorf("client: URL %w", err)
	}
	if err := checkKey(c.Key); err != nil {
		return nil, fmt.Errorf("client: Key %w", err)
	}
	if c.Attempts < 0 {
		return nil, errors.New("client: Attempts is below zero")
	}
	if c.Transport == nil {
		c.Transport = newTransport()
	}
	header := "Bearer " + c.Key
	return &Client{
		base: base,
		http: &http.Client{
			Transport: c.Transport,
			// Prism does not redirect API calls. Another server that does must not get the key.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		attempts:  cmp.Or(c.Attempts, 4),
		agent:     cmp.Or(c.UserAgent, "prism-client"),
		authorize: func(h http.Header) { h.Set("Authorization", header) },
		pause:     pauses{first: 200 * time.Millisecond, longest: 10 * time.Second},
		poll:      pauses{first: 100 * time.Millisecond, longest: 2 * time.Second},
	}, nil
}

// parseBase checks the address that paths are appended to. Its errors do not repeat the address, which may contain a
// password or a key.
func parseBase(s string) (string, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return "", errors.New(`is not an address such as "https://prism.example.com"`)
	case u.User != nil:
		return "", errors.New("holds a user or password; Prism takes an API key instead")
	case u.RawQuery != "" || u.Fragment != "" || u.ForceQuery:
		return "", errors.New("ends in a query or fragment")
	}
	return strings.TrimRight(u.String(), "/"), nil
}

func checkKey(key string) error {
	if key == "" || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("is empty or holds characters that no API key has")
	}
	return nil
}

func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   32,
		IdleConnTimeout:       30 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ExpectContinueTimeout: time.Second,
		DisableCompression:    true, // Prism compresses only exports and the rows of runs
	}
}
