package results

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/prism-results/prism/pkg/config"
	"github.com/prism-results/prism/pkg/credential"
	"github.com/prism-results/prism/pkg/credential/identity"
	"github.com/prism-results/prism/services/results/internal/blobs"
	"github.com/prism-results/prism/services/results/internal/postgres"
)

// Files is the setting of the content of files.
type Files struct {
	URL config.URL `env:"PRISM_FILES_URL" schemes:"s3 file" example:"s3://bucket/prefix?region=eu-central-1" help:"where the content of uploaded files is kept: a bucket or a folder; empty: Postgres, or the folder of the embedded store"`
}

// blobs is where the content of files is kept.
func (c Config) blobs(s blobs.Contents, log *slog.Logger) (blobs.Blobs, error) {
	switch u, err := url.Parse(c.FilesURL); {
	case c.FilesURL == "" && c.inPostgres():
		return blobs.InDatabase(s), nil
	case c.FilesURL == "":
		return blobs.InFolder(filepath.Join(c.DataDir, files)), nil
	case err == nil && u.Scheme == "file":
		if u.Host != "" || u.Path == "" || u.RawQuery != "" {
			return nil, errors.New("PRISM_FILES_URL: must be file:///<folder>")
		}
		return blobs.InFolder(filepath.FromSlash(u.Path)), nil
	}
	b, err := blobs.InBucket(c.FilesURL, log)
	if err != nil {
		return nil, fmt.Errorf("PRISM_FILES_URL: %w", err)
	}
	return b, nil
}

// Pool is the settings of the connections to Postgres.
type Pool struct {
	MaxConns          int `env:"PRISM_DATABASE_MAX_CONNS" default:"16" least:"1" help:"most connections to Postgres, which several databases share"`
	Secrets           DatabaseSecrets
	Databases         string `env:"PRISM_DATABASES_FILE" help:"YAML file of several databases, instead of PRISM_DATABASE_URL; read again when it changes"`
	Layout            string `env:"PRISM_DATABASE_LAYOUT" oneof:"one citus" default:"one" help:"one: an ordinary Postgres; citus: one whose tables migrate --distribute has distributed over the nodes of Citus"`
	SynchronousCommit string `env:"PRISM_SYNCHRONOUS_COMMIT" oneof:"on remote_apply remote_write local off" help:"synchronous_commit of each connection to Postgres; empty: that of Postgres, but at least on"`
}

// Public is the setting of where browsers reach Prism, for the links that operator commands print.
type Public struct {
	URL config.URL `env:"PRISM_PUBLIC_URL" schemes:"https http" example:"https://prism.example.com" help:"address under which browsers reach Prism; empty: that of this machine"`
}

// At is the setting, or else the URL of an address that this machine listens on.
func (p Public) At(listen config.Address) string {
	host, port, err := net.SplitHostPort(string(listen))
	if !p.URL.IsZero() || err != nil {
		return p.URL.String()
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// DatabaseSecrets are the settings of credentials for Postgres that change while Prism runs (spec: secrets-from-files).
type DatabaseSecrets struct {
	URLFile      string `env:"PRISM_DATABASE_URL_FILE" help:"file with the URL of Postgres, instead of PRISM_DATABASE_URL; read again when it changes"`
	PasswordFile string `env:"PRISM_DATABASE_PASSWORD_FILE" help:"file with the password at Postgres, in place of the URL's; read again when it changes"`
	Kind         string `env:"PRISM_DATABASE_AUTH" oneof:"file google azure aws" help:"where the password at Postgres comes from: a file, or tokens of the workload's own identity; empty: the URL or a file"`
}

// inPostgres reports whether results are stored in Postgres.
func (c Config) inPostgres() bool {
	return c.DatabaseURL != "" || c.DatabaseSecrets.URLFile != "" || c.DatabasesFile != ""
}

// checkFile finds a setting of one database beside the file of several.
func (c Config) checkFile() error {
	if c.DatabasesFile == "" {
		return nil
	}
	for _, other := range []struct{ variable, value string }{
		{"PRISM_DATABASE_URL", c.DatabaseURL},
		{"PRISM_DATABASE_URL_FILE", c.DatabaseSecrets.URLFile},
		{"PRISM_DATABASE_PASSWORD_FILE", c.DatabaseSecrets.PasswordFile},
		{"PRISM_DATABASE_AUTH", c.DatabaseSecrets.Kind},
		{"PRISM_DATABASE_LAYOUT=citus", strings.TrimPrefix(c.Layout, "one")},
	} {
		if other.value != "" {
			return fmt.Errorf("PRISM_DATABASES_FILE: cannot be set together with %s: the file has what it says, for each database", other.variable)
		}
	}
	return nil
}

// postgres is the URL of Postgres and where new connections get their credentials. renewals may be nil.
func (c Config) postgres(renewals *credential.Renewals, log *slog.Logger) (url string, auth postgres.Auth, err error) {
	url = c.DatabaseURL
	if err := c.DatabaseSecrets.check(url); err != nil {
		return "", auth, err
	}
	if path := c.DatabaseSecrets.URLFile; path != "" {
		if url != "" {
			return "", auth, errors.New("PRISM_DATABASE_URL_FILE: cannot be set together with PRISM_DATABASE_URL")
		}
		if auth.URL, err = credential.File(path, log, postgres.CheckURL); err != nil {
			return "", auth, fmt.Errorf("PRISM_DATABASE_URL_FILE: %w", err)
		}
		url = auth.URL.Secret()
	}
	if c.url != nil {
		auth.URL = c.url
	}
	if path := c.DatabaseSecrets.PasswordFile; path != "" {
		if auth.Password, err = credential.File(path, log, nil); err != nil {
			return "", auth, fmt.Errorf("PRISM_DATABASE_PASSWORD_FILE: %w", err)
		}
	}
	if c.DatabaseSecrets.tokens() {
		count := renewals.Count(c.DatabaseSecrets.Kind)
		fetch, err := databaseTokens(c.DatabaseSecrets.Kind, url, count, log)
		if err != nil {
			return "", auth, fmt.Errorf("PRISM_DATABASE_AUTH: %w", err)
		}
		auth.Tokens = new(credential.NewTokens(fetch, count, log))
	}
	return url, auth, nil
}

// tokens reports whether tokens of the workload's own identity are the passwords.
func (s DatabaseSecrets) tokens() bool { return s.Kind != "" && s.Kind != "file" }

// check finds a setting that does not fit PRISM_DATABASE_AUTH.
func (s DatabaseSecrets) check(url string) error {
	switch {
	case s.Kind == "":
		return nil
	case s.Kind == "file":
		if s.URLFile == "" && s.PasswordFile == "" {
			return errors.New("PRISM_DATABASE_AUTH: file needs PRISM_DATABASE_PASSWORD_FILE or PRISM_DATABASE_URL_FILE")
		}
		return nil
	case s.URLFile != "":
		return fmt.Errorf("PRISM_DATABASE_URL_FILE: cannot be set together with PRISM_DATABASE_AUTH=%s", s.Kind)
	case s.PasswordFile != "":
		return fmt.Errorf("PRISM_DATABASE_PASSWORD_FILE: cannot be set together with PRISM_DATABASE_AUTH=%s", s.Kind)
	case url == "":
		return errors.New("PRISM_DATABASE_AUTH: needs PRISM_DATABASE_URL")
	}
	if err := postgres.CheckTLS(url); err != nil {
		return fmt.Errorf("PRISM_DATABASE_URL: %w", err)
	}
	return nil
}

// databaseTokens gets tokens that are passwords at the Postgres of a URL.
func databaseTokens(kind, url string, count *credential.Count, log *slog.Logger) (credential.Fetch[string], error) {
	switch kind {
	case identity.KindGoogle:
		return identity.Google(identity.GoogleSQL), nil
	case identity.KindAzure:
		return identity.Azure(identity.AzurePostgres), nil
	}
	address, user, err := postgres.Endpoint(url)
	if err != nil {
		return nil, err
	}
	signer, err := identity.NewAWS("", count, log)
	if err != nil {
		return nil, err
	}
	return signer.RDS(address, user), nil
}
