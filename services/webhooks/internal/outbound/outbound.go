package outbound

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
)

const (
	// headerBytes bounds the header of an answer.
	headerBytes = 16 << 10
	// idleConns and idleTime bound the connections that are kept for a next call.
	idleConns, idleHostConns = 256, 4
	idleTime                 = 30 * time.Second
)

// Config is what differs between deployments and tests.
type Config struct {
	// Allow are networks that are called beside the public ones, also in plain text. Their answers are not shown.
	Allow Networks
	// UserAgent is the header of each call.
	UserAgent string
	// Resolver is that of this machine if nil.
	Resolver Resolver
	// TLS is the root certificates of a test; nil: those of the machine.
	TLS *tls.Config
}

// Client makes calls.
type Client struct {
	userAgent     string
	allow         Networks
	plain, secure *http.Transport
}

// New makes a client. It does no I/O.
func New(cfg Config) *Client {
	d := &dialer{allow: cfg.Allow, resolver: cfg.Resolver, tls: cfg.TLS, net: net.Dialer{KeepAlive: idleTime}}
	if d.resolver == nil {
		d.resolver = net.DefaultResolver
	}
	if d.tls == nil {
		d.tls = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	c := &Client{userAgent: cfg.UserAgent, allow: cfg.Allow, plain: newTransport(), secure: newTransport()}
	// A connection that a call no longer waits for is still made, for the next one. So it has a bound of its own.
	c.plain.DialContext = func(ctx context.Context, _, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, contract.DeliveryWait)
		defer cancel()
		return d.dial(ctx, address, true)
	}
	c.secure.DialTLSContext = func(ctx context.Context, _, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, contract.DeliveryWait)
		defer cancel()
		return d.dialTLS(ctx, address)
	}
	return c
}

// newTransport has no proxy, neither of the environment, and HTTP/1.1 alone: a call that ends before its answer does then ends its
// connection, and no other call.
func newTransport() *http.Transport {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	return &http.Transport{
		DisableCompression: true, MaxIdleConns: idleConns, MaxIdleConnsPerHost: idleHostConns, IdleConnTimeout: idleTime,
		MaxResponseHeaderBytes: headerBytes, Protocols: &protocols,
	}
}

// Close closes the kept connections.
func (c *Client) Close() {
	c.plain.CloseIdleConnections()
	c.secure.CloseIdleConnections()
}

// Answer is what became of a call.
type Answer struct {
	// Status is that of the answer; 0: there was none.
	Status int
	// Error is why the call failed; empty: the answer was 2xx.
	Error api.TryError
	// Text is the beginning of the answer, up to contract.DeliveryAnswer; nil: there was none, or it may not be shown.
	Text *string
}

// Post sends a body with a header, and waits for contract.DeliveryWait, for all of it: names, connections, handshakes and what is
// read of the answer. It follows no redirect and keeps no cookie.
func (c *Client) Post(ctx context.Context, target string, header http.Header, body []byte) Answer {
	ctx, cancel := context.WithTimeout(ctx, contract.DeliveryWait)
	defer cancel()
	u, err := url.Parse(target)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return Answer{Error: api.TryRefused}
	}
	var peer net.Addr // of the connection that was used, which may be a kept one
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) { peer = got.Conn.RemoteAddr() }})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return Answer{Error: api.TryRefused}
	}
	req.Header = header.Clone()
	req.Header.Set("User-Agent", c.userAgent)
	req.Header["X-Idempotency-Key"] = nil // is not sent: a call that finds its kept connection closed is repeated on a new one
	transport := c.secure
	if u.Scheme == "http" {
		transport = c.plain
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return Answer{Error: reason(ctx, err)}
	}
	defer func() { _ = resp.Body.Close() }()
	a := Answer{Status: resp.StatusCode}
	if a.Status < 200 || a.Status > 299 {
		a.Error = api.TryStatus
	}
	var text []byte
	if a.Status != http.StatusSwitchingProtocols {
		// One byte more: a connection is kept if the answer is known to end.
		if text, err = io.ReadAll(io.LimitReader(resp.Body, contract.DeliveryAnswer+1)); err != nil && timedOut(ctx, err) {
			a.Error = api.TryTimeout // an answer that drips
		}
	}
	if !c.hides(peer) {
		a.Text = new(readable(text))
	}
	return a
}

// hides tells whether the answers of an address are not shown.
func (c *Client) hides(peer net.Addr) bool {
	tcp, ok := peer.(*net.TCPAddr)
	if !ok {
		return true
	}
	a, ok := netip.AddrFromSlice(tcp.IP)
	return !ok || c.allow.Contains(a) || !Public(a)
}

// reason is why a call had no answer.
func reason(ctx context.Context, err error) api.TryError {
	_, noTLS := errors.AsType[tlsError](err)
	switch {
	case errors.Is(err, errForbidden):
		return api.TryRefused
	case errors.Is(err, errUnresolved):
		return api.TryUnresolved
	case noTLS:
		return api.TryTLS
	case timedOut(ctx, err):
		return api.TryTimeout
	}
	return api.TryConnection
}

// readable is the beginning of an answer as valid UTF-8 that a database can store, in contract.DeliveryAnswer bytes.
func readable(b []byte) string {
	if len(b) > contract.DeliveryAnswer {
		b = b[:contract.DeliveryAnswer]
		for i := 1; i < utf8.UTFMax && i <= len(b); i++ { // a character that was cut
			if utf8.RuneStart(b[len(b)-i]) {
				if !utf8.FullRune(b[len(b)-i:]) {
					b = b[:len(b)-i]
				}
				break
			}
		}
	}
	const unknown = "\uFFFD"
	text := strings.ReplaceAll(strings.ToValidUTF8(string(b), unknown), "\x00", unknown)
	for len(text) > contract.DeliveryAnswer {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	return text
}
