// Package visit uses the console as a browser does that is signed in: it loads a page, reads its session, has a key of the session
// made and calls the API with it, again and again, until it signs out. It stands behind a proxy that ends TLS and calls Prism by
// another Host, as many an Ingress does: what the browser sees is the origin of the sign-in link alone.
package visit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// maxProblems bounds the problems of a report.
const maxProblems = 20

// callBudget is longer than any call here may take.
const callBudget = 2 * time.Minute

// Config of a visit.
type Config struct {
	URL   string        // of Prism, where the proxy sends requests
	Link  string        // of the sign-in
	Pause time.Duration // between two rounds of calls
}

// Report is what was seen of a visit.
type Report struct {
	Rounds   int // of calls
	Failed   int // of these rounds
	Problems []string
}

// Line is a line that a visit prints: how many rounds there were, and at the end its report.
type Line struct {
	Rounds int
	Report *Report `json:",omitempty"`
}

// Right is an error unless there were rounds and no call failed.
func (r *Report) Right() error {
	var errs []error
	for _, p := range r.Problems {
		errs = append(errs, errors.New(p))
	}
	if r.Rounds == 0 {
		errs = append(errs, errors.New("there was no round of calls"))
	}
	if r.Failed > 0 {
		errs = append(errs, fmt.Errorf("%d of %d rounds failed", r.Failed, r.Rounds))
	}
	return errors.Join(errs...)
}

// Do signs in, calls until stop ends, and signs out. progress is called after each round.
func Do(ctx, stop context.Context, c Config, progress func(rounds int)) (*Report, error) {
	link, err := url.Parse(c.Link)
	if err != nil || link.Fragment == "" {
		return nil, errors.New("visit: the link has no token") // the link itself is secret
	}
	b := &browser{base: c.URL, secure: link.Scheme == "https", origin: link.Scheme + "://" + link.Host, client: &http.Client{
		Timeout:       callBudget,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if _, err := b.call(ctx, http.MethodPost, "/console/session", `{"token":"`+link.Fragment+`"}`, "", http.StatusNoContent); err != nil {
		return nil, err
	}
	r := &Report{}
	problem := func(err error) {
		if err != nil && len(r.Problems) < maxProblems {
			r.Problems = append(r.Problems, err.Error())
		}
	}
	var key string
	for stop.Err() == nil {
		if r.Rounds%keyRounds == 0 {
			key = "" // another page is opened
		}
		last, err := b.round(ctx, key)
		r.Rounds++
		if problem(err); err != nil {
			r.Failed++
		} else {
			key = last
		}
		progress(r.Rounds)
		select {
		case <-stop.Done():
		case <-time.After(c.Pause):
		}
	}
	problem(b.end(ctx, key))
	return r, nil
}

// browser has the session's cookie.
type browser struct {
	base, origin string
	secure       bool
	cookie       *http.Cookie
	client       *http.Client
}

// keyRounds is how many rounds have one key. A session has at most 100 keys.
const keyRounds = 20

// round is what a page of the console does, with the key of the page. A page without one gets it first.
func (b *browser) round(ctx context.Context, key string) (string, error) {
	page, err := b.call(ctx, http.MethodGet, "/console/prisms", "", "", http.StatusOK)
	if err != nil {
		return "", err
	}
	if !bytes.Contains(page, []byte(`<div id="root">`)) {
		return "", fmt.Errorf("visit: /console/prisms is no page of the console: %.200s", page)
	}
	if _, err := b.call(ctx, http.MethodGet, "/console/session", "", "", http.StatusOK); err != nil {
		return "", err
	}
	if key == "" {
		body, err := b.call(ctx, http.MethodPost, "/console/session/key", "{}", "", http.StatusOK)
		if err != nil {
			return "", err
		}
		var made struct{ Key string }
		if err := json.Unmarshal(body, &made); err != nil || made.Key == "" {
			return "", errors.New("visit: the session has no key made") // the response may have one
		}
		key = made.Key
	}
	_, err = b.call(ctx, http.MethodGet, "/v1/prisms", "", key, http.StatusOK)
	return key, err
}

// end signs out, which ends the session and its keys.
func (b *browser) end(ctx context.Context, key string) error {
	session := b.cookie
	_, err := b.call(ctx, http.MethodDelete, "/console/session", "", "", http.StatusNoContent)
	b.cookie = session
	_, errSession := b.call(ctx, http.MethodGet, "/console/session", "", "", http.StatusUnauthorized)
	_, errKey := b.call(ctx, http.MethodGet, "/v1/prisms", "", key, http.StatusUnauthorized)
	return errors.Join(err, errSession, errKey)
}

// call makes a request as the proxy passes it on, and returns the body of a response with the status. Calls of the API have a key,
// and no cookie.
func (b *browser) call(ctx context.Context, method, path, body, key string, status int) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, b.base+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if b.secure {
		req.Header.Set("X-Forwarded-Proto", "https")
	}
	if method != http.MethodGet {
		req.Header.Set("Origin", b.origin)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	switch {
	case key != "":
		req.Header.Set("Authorization", "Bearer "+key)
	case b.cookie != nil:
		req.Header.Set("Cookie", b.cookie.Name+"="+b.cookie.Value)
	}
	resp, err := b.client.Do(req)
	if err != nil {
		return nil, err
	}
	got, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return nil, fmt.Errorf("visit: %s %s: %w", method, path, err)
	}
	if resp.StatusCode != status {
		return nil, fmt.Errorf("visit: %s %s: %d instead of %d: %.300s", method, path, resp.StatusCode, status, got)
	}
	for _, cookie := range resp.Cookies() {
		if err := b.keep(cookie); err != nil {
			return nil, fmt.Errorf("visit: %s %s: %w", method, path, err)
		}
	}
	return got, nil
}

// keep takes a cookie as a browser does: one that is over is forgotten.
func (b *browser) keep(c *http.Cookie) error {
	if c.MaxAge < 0 || !c.Expires.IsZero() && c.Expires.Before(time.Now()) {
		b.cookie = nil
		return nil
	}
	name := "prism"
	if b.secure {
		name = "__Host-prism"
	}
	if c.Name != name || c.Secure != b.secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" {
		c.Value = "hidden"
		return fmt.Errorf("the cookie is %s", c)
	}
	b.cookie = c
	return nil
}
