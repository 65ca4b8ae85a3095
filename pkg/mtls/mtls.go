// Package mtls is the mutual TLS between the services (spec: internal-tls): a certificate with its key, and the authorities of
// the other services' certificates, from files that are read again when they change.
package mtls

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/pkg/reload"
)

// Settings are the settings of every service.
type Settings struct {
	Dir string `env:"PRISM_INTERNAL_TLS_DIR" example:"/etc/prism/tls" help:"folder with tls.crt, tls.key and ca.crt for mutual TLS between the services; read again when they change; without it the services speak plain HTTP"`
}

// ServerSettings are the settings of a service that others call.
type ServerSettings struct {
	Settings
	Mode string `env:"PRISM_INTERNAL_TLS_MODE" default:"strict" oneof:"strict permissive" help:"strict: TLS alone; permissive: plain HTTP too, while TLS is switched on or off"`
}

// Permissive tells whether callers may speak plain HTTP.
func (s ServerSettings) Permissive() bool { return s.Mode == "permissive" }

// Identity is what a service shows to other services, and what it trusts. It is safe for concurrent use.
type Identity struct {
	files *reload.Value[pair]
	log   *slog.Logger

	mu     sync.Mutex
	warned map[string]time.Time // the last time of each kind of warning
}

// pair is the configurations that the files make.
type pair struct {
	server, client *tls.Config
	authorities    int
	expires        time.Time     // of the certificate, or of the authorities that vouch for it
	lifetime       time.Duration // of the certificate
}

// Open reads the files. Without a folder the Identity is nil.
func (s Settings) Open(log *slog.Logger, metrics prometheus.Registerer) (*Identity, error) {
	if s.Dir == "" {
		return nil, nil
	}
	var paths []string
	for _, name := range []string{"tls.crt", "tls.key", "ca.crt"} {
		paths = append(paths, filepath.Join(s.Dir, name))
	}
	files, err := reload.New(log, func(contents [][]byte) (pair, error) {
		p, err := parse(contents[0], contents[1], contents[2])
		if err == nil {
			log.Info("read the certificates", "folder", s.Dir, "expires", p.expires, "authorities", p.authorities)
		}
		return p, err
	}, paths...)
	if err != nil {
		return nil, fmt.Errorf("PRISM_INTERNAL_TLS_DIR: %w (for example PRISM_INTERNAL_TLS_DIR=/etc/prism/tls)", err)
	}
	i := &Identity{files: files, log: log, warned: map[string]time.Time{}}
	return i, i.measure(metrics)
}

// measure exports the metrics. Each look reads changed files, so that a service without new connections follows them too.
func (i *Identity) measure(metrics prometheus.Registerer) error {
	var failed error
	for _, gauge := range []struct {
		name, help string
		value      func(pair) float64
	}{
		{
			"expiry_seconds", "Seconds until the certificate for calls between services, or the authority that vouches for it, expires.",
			func(p pair) float64 { return time.Until(p.expires).Seconds() },
		},
		{
			"lifetime_seconds", "Seconds for which the certificate for calls between services was issued.",
			func(p pair) float64 { return p.lifetime.Seconds() },
		},
		{
			"authorities", "Certificate authorities that other services' certificates may come from.",
			func(p pair) float64 { return float64(p.authorities) },
		},
	} {
		failed = errors.Join(failed, metrics.Register(prometheus.NewGaugeFunc(
			prometheus.GaugeOpts{Name: "prism_internal_tls_" + gauge.name, Help: gauge.help},
			func() float64 { return gauge.value(i.files.Get()) },
		)))
	}
	return failed
}

// Server is the configuration of a connection from another service. Each new connection asks for it.
func (i *Identity) Server() *tls.Config { return i.files.Get().server }

// Client is the configuration of a connection to the service of this name. Each new connection asks for it.
func (i *Identity) Client(name string) *tls.Config {
	c := i.files.Get().client.Clone()
	c.ServerName = name
	return c
}

// warnPause is the time between two warnings: while a certificate is wrong, every connection fails.
const warnPause = 10 * time.Second

// Warn logs why a connection was not made, and its cause if there is one. Of several failures of one kind within ten seconds the
// first is logged: strangers who connect again and again hide no other cause.
func (i *Identity) Warn(event, peer string, cause error) {
	kind, args := event, []any{"peer", peer}
	if cause != nil {
		kind, args = kind+kindOf(cause), append(args, "error", cause.Error())
	}
	now := time.Now() // with the monotonic clock
	i.mu.Lock()
	last, before := i.warned[kind]
	due := !before || now.Sub(last) >= warnPause
	if due {
		i.warned[kind] = now
	}
	i.mu.Unlock()
	if due {
		i.log.Warn(event, args...)
	}
}

// kindOf is the alert of the peer, or the type of the innermost error: other texts have times and names.
func kindOf(err error) string {
	if fault, ok := errors.AsType[*net.OpError](err); ok && fault.Op == "remote error" {
		return fault.Error()
	}
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return fmt.Sprintf("%T", err)
}

// parse fails if the key is not that of the certificate, as while both files are being replaced, or if a file ends early.
func parse(cert, key, ca []byte) (pair, error) {
	if err := whole(cert); err != nil {
		return pair{}, fmt.Errorf("tls.crt: %w", err)
	}
	own, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return pair{}, fmt.Errorf("tls.crt, tls.key: %w", err)
	}
	trusted, count, err := authorities(ca)
	if err != nil {
		return pair{}, fmt.Errorf("ca.crt: %w", err)
	}
	config := func() *tls.Config {
		return &tls.Config{
			MinVersion:   tls.VersionTLS13,
			Certificates: []tls.Certificate{own},
			// A resumed connection would not show its certificate again.
			SessionTicketsDisabled: true,
			// Small first records are for browsers far away.
			DynamicRecordSizingDisabled: true,
		}
	}
	p := pair{
		server: config(), client: config(), authorities: count,
		expires: expiry(own, trusted), lifetime: own.Leaf.NotAfter.Sub(own.Leaf.NotBefore),
	}
	p.server.ClientAuth, p.server.ClientCAs = tls.RequireAndVerifyClientCert, trusted
	p.client.RootCAs = trusted
	// Without this, a client whose authority the server does not name sends no certificate, and neither log says which one is wrong.
	p.client.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &own, nil }
	return p, nil
}

// whole fails if a block of the text has no end, as while the file is being written. Parsers skip such a block, and what is left would
// do without an authority or an intermediate certificate.
func whole(text []byte) error {
	blocks := 0
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		blocks++
	}
	if begun := bytes.Count(text, []byte("-----BEGIN ")); blocks < begun {
		return fmt.Errorf("%d of %d blocks are whole", blocks, begun)
	}
	return nil
}

func authorities(text []byte) (*x509.CertPool, int, error) {
	if err := whole(text); err != nil {
		return nil, 0, err
	}
	pool, count := x509.NewCertPool(), 0
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, 0, err
		}
		pool.AddCert(cert)
		count++
	}
	if count == 0 {
		return nil, 0, errors.New("has no certificate")
	}
	return pool, count, nil
}

// expiry is when the certificate stops being accepted: of the chains to an authority, the one that is valid longest. A
// certificate that comes from other authorities, those of the other side, expires by itself.
func expiry(own tls.Certificate, trusted *x509.CertPool) (expires time.Time) {
	intermediates := x509.NewCertPool()
	for _, der := range own.Certificate[1:] {
		if cert, err := x509.ParseCertificate(der); err == nil {
			intermediates.AddCert(cert)
		}
	}
	chains, err := own.Leaf.Verify(x509.VerifyOptions{
		Roots: trusted, Intermediates: intermediates, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny},
	})
	if err != nil {
		return own.Leaf.NotAfter
	}
	for _, chain := range chains {
		end := own.Leaf.NotAfter
		for _, cert := range chain {
			if cert.NotAfter.Before(end) {
				end = cert.NotAfter
			}
		}
		if end.After(expires) {
			expires = end
		}
	}
	return expires
}
