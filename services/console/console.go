// Package console serves the app at /console/ and signs people in: by links, and by OpenID Connect. It stores nothing: results
// keeps the sessions (contract.Console), and the app calls the public API with keys of its session.
package console

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/pkg/config"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/credential"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/services/console/internal/openid"
	"github.com/prism-results/prism/services/console/internal/route"
	"github.com/prism-results/prism/services/console/internal/site"
)

// Settings are the settings of the console, in a process of its own and in standalone.
type Settings struct {
	PublicURL config.URL `env:"PRISM_PUBLIC_URL" schemes:"https http" example:"https://prism.example.com" help:"address under which browsers reach Prism: for OpenID Connect, and where a proxy changes Host; https, except on this machine"`
	OpenID    OpenID
}

// OpenID configures the client of a provider of OpenID Connect. Without an issuer people can sign in by links only.
type OpenID struct {
	Issuer       config.URL    `env:"PRISM_OPENID_ISSUER" schemes:"https http" example:"https://login.example.com" help:"issuer of OpenID Connect, exactly as in its ID tokens; without it people sign in by links alone"`
	ClientID     string        `env:"PRISM_OPENID_CLIENT_ID" help:"client at the issuer, whose redirect URI is PRISM_PUBLIC_URL with /console/openid/callback"`
	ClientSecret config.Secret `env:"PRISM_OPENID_CLIENT_SECRET" help:"secret of the client"`
	SecretFile   string        `env:"PRISM_OPENID_CLIENT_SECRET_FILE" help:"file with the secret of the client, instead of PRISM_OPENID_CLIENT_SECRET; read again when it changes"`
	Scopes       string        `env:"PRISM_OPENID_SCOPES" default:"openid profile email" help:"scopes to ask the issuer for, separated by spaces"`
	Claims       string        `env:"PRISM_OPENID_CLAIMS" default:"email groups hd" help:"claims that rules of members may name, separated by spaces"`
}

// Deps are what the console works with; all are required.
type Deps struct {
	Console contract.Console
	Build   fs.FS // the files of the app: web.Console()
	Version string
	Server  *httpkit.Server
	Metrics prometheus.Registerer
	Log     *slog.Logger
	Now     func() time.Time
}

// callback is the path to which the issuer sends browsers back.
const callback = "/console/openid/callback"

// New registers the routes of the console on the server. It does no I/O.
func New(s Settings, d Deps) error {
	public, err := s.publicURL()
	if err != nil {
		return err
	}
	files, err := site.New(d.Build)
	if err != nil {
		return fmt.Errorf("console: %w", err)
	}
	// It has no series before the issuer was asked once.
	available := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "prism_console_openid_available",
		Help: "1 if the issuer of OpenID Connect answered when it was last asked, and 0 if not. Absent until it is first asked.",
	}, nil)
	client, err := s.OpenID.client(public, d, func(answered bool) {
		available.WithLabelValues().Set(map[bool]float64{true: 1}[answered])
	})
	if err != nil {
		return err
	}
	if err := d.Metrics.Register(available); err != nil {
		return err
	}
	return route.Register(d.Server.App(), route.Deps{
		Console: d.Console, Site: files, OpenID: client, PublicURL: public, Version: d.Version,
		Metrics: route.NewMetrics(d.Metrics), Log: d.Log, Now: d.Now,
	})
}

// publicURL parses PRISM_PUBLIC_URL; nil if it is not set.
func (s Settings) publicURL() (*url.URL, error) {
	if s.PublicURL.IsZero() {
		return nil, nil
	}
	u, err := url.Parse(s.PublicURL.String())
	if err != nil || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("PRISM_PUBLIC_URL: must have the form https://host or https://host:port")
	}
	if u.Scheme != "https" && !route.IsLoopback(u.Host) {
		return nil, errors.New("PRISM_PUBLIC_URL: must begin with https://, as browsers would send session cookies in plain text")
	}
	return u, nil
}

// client is the client of the issuer; nil without one.
func (o OpenID) client(public *url.URL, d Deps, asked func(answered bool)) (*openid.Client, error) {
	scopes := strings.Fields(o.Scopes)
	switch {
	case o.Issuer.IsZero() && (o.ClientID != "" || o.ClientSecret != "" || o.SecretFile != ""):
		return nil, errors.New("PRISM_OPENID_ISSUER: is required with PRISM_OPENID_CLIENT_ID")
	case o.Issuer.IsZero():
		return nil, nil
	case public == nil:
		return nil, errors.New("PRISM_PUBLIC_URL: is required with PRISM_OPENID_ISSUER (for example PRISM_PUBLIC_URL=https://prism.example.com)")
	case o.ClientSecret != "" && o.SecretFile != "":
		return nil, errors.New("PRISM_OPENID_CLIENT_SECRET_FILE: cannot be set together with PRISM_OPENID_CLIENT_SECRET")
	case o.ClientID == "" || o.ClientSecret == "" && o.SecretFile == "":
		return nil, errors.New("PRISM_OPENID_CLIENT_ID and PRISM_OPENID_CLIENT_SECRET: are required with PRISM_OPENID_ISSUER")
	case !slices.Contains(scopes, "openid"):
		return nil, errors.New("PRISM_OPENID_SCOPES: must have openid")
	}
	if issuer, err := url.Parse(o.Issuer.String()); err != nil || issuer.Scheme != "https" && !route.IsLoopback(issuer.Host) {
		return nil, errors.New("PRISM_OPENID_ISSUER: must begin with https://")
	}
	var secret credential.Source = credential.Static(o.ClientSecret.Reveal())
	if o.SecretFile != "" {
		var err error
		if secret, err = credential.File(o.SecretFile, d.Log, nil); err != nil {
			return nil, fmt.Errorf("PRISM_OPENID_CLIENT_SECRET_FILE: %w", err)
		}
	}
	return openid.New(openid.Config{
		Issuer: o.Issuer.String(), ClientID: o.ClientID, ClientSecret: secret,
		RedirectURL: public.Scheme + "://" + public.Host + callback, Scopes: scopes, Claims: strings.Fields(o.Claims), Now: d.Now,
		Asked: asked,
	}), nil
}
