package gateway

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/prism-results/prism/pkg/config"
	"github.com/prism-results/prism/pkg/credential"
	"github.com/prism-results/prism/pkg/credential/identity"
)

// RedisAuth overrides the credentials of the Redis URL. It is for passwords that come alone, as Secrets of Kubernetes tend
// to have them. Unlike those in a URL, its values may hold any character.
type RedisAuth struct {
	Username         string        `env:"PRISM_REDIS_USERNAME" help:"user at Redis, in place of the URL's"`
	Password         config.Secret `env:"PRISM_REDIS_PASSWORD" help:"password at Redis, in place of the URL's"`
	PasswordFile     string        `env:"PRISM_REDIS_PASSWORD_FILE" help:"file with the password at Redis, in place of the URL's; read again when it changes"`
	Kind             string        `env:"PRISM_REDIS_AUTH" oneof:"file google azure aws" help:"where the password at Redis comes from: a file, or tokens of the workload's own identity; empty: the URL, PRISM_REDIS_PASSWORD or a file"`
	Cache            string        `env:"PRISM_REDIS_AWS_CACHE" help:"name of the cache of ElastiCache, with PRISM_REDIS_AUTH=aws"`
	SentinelPassword config.Secret `env:"PRISM_REDIS_SENTINEL_PASSWORD" help:"password at the Sentinels, in place of the URL's"`

	SentinelPasswordFile string `env:"PRISM_REDIS_SENTINEL_PASSWORD_FILE" help:"file with the password at the Sentinels, in place of the URL's; read again when it changes"`
}

// passwords is where the connections get a password that changes; nil without one. renewals may be nil.
func (a RedisAuth) passwords(address string, renewals *credential.Renewals, log *slog.Logger) (credential.Source, error) {
	if !a.tokens() {
		return secretFile("PRISM_REDIS_PASSWORD_FILE", a.PasswordFile, log)
	}
	count := renewals.Count(a.Kind)
	switch a.Kind {
	case identity.KindGoogle:
		return credential.NewTokens(identity.Google(identity.GoogleCloud), count, log), nil
	case identity.KindAzure:
		return credential.NewTokens(identity.Azure(identity.AzureRedis), count, log), nil
	}
	signer, err := identity.NewAWS("", count, log)
	if err != nil {
		return nil, fmt.Errorf("PRISM_REDIS_AUTH: %w", err)
	}
	// The name of a cache is in lower case in AWS.
	fetch := signer.ElastiCache(strings.ToLower(a.Cache), a.user(address), strings.Contains(address, ".serverless."))
	return credential.NewTokens(fetch, count, log), nil
}

// secretFile is the source of a file that a variable names; nil without one.
func secretFile(variable, path string, log *slog.Logger) (credential.Source, error) {
	if path == "" {
		return nil, nil
	}
	source, err := credential.File(path, log, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", variable, err)
	}
	return source, nil
}

// tokens reports whether tokens of the workload's own identity are the passwords.
func (a RedisAuth) tokens() bool { return a.Kind != "" && a.Kind != "file" }

// user is the user at Redis.
func (a RedisAuth) user(address string) string {
	of := ""
	if u, err := url.Parse(address); err == nil {
		of = u.User.Username()
	}
	return cmp.Or(a.Username, of)
}

// check finds a value that has no place in the URL.
func (a RedisAuth) check(address string) error {
	sentinels := strings.Contains(address, "+sentinel:")
	switch {
	case a.Username != "" && a.Password.Reveal() == "" && a.PasswordFile == "" && !a.tokens():
		return errors.New("PRISM_REDIS_USERNAME: needs PRISM_REDIS_PASSWORD")
	case a.PasswordFile != "" && a.Password.Reveal() != "":
		return errors.New("PRISM_REDIS_PASSWORD_FILE: cannot be set together with PRISM_REDIS_PASSWORD")
	case a.PasswordFile != "" && address == "":
		return errors.New("PRISM_REDIS_PASSWORD_FILE: needs PRISM_REDIS_URL")
	case a.Password.Reveal() != "" && address == "":
		return errors.New("PRISM_REDIS_PASSWORD: needs PRISM_REDIS_URL")
	case a.SentinelPassword.Reveal() != "" && !sentinels:
		return errors.New("PRISM_REDIS_SENTINEL_PASSWORD: PRISM_REDIS_URL names no Sentinels")
	case a.SentinelPasswordFile != "" && !sentinels:
		return errors.New("PRISM_REDIS_SENTINEL_PASSWORD_FILE: PRISM_REDIS_URL names no Sentinels")
	case a.SentinelPasswordFile != "" && a.SentinelPassword.Reveal() != "":
		return errors.New("PRISM_REDIS_SENTINEL_PASSWORD_FILE: cannot be set together with PRISM_REDIS_SENTINEL_PASSWORD")
	case a.Kind == "file" && a.PasswordFile == "":
		return errors.New("PRISM_REDIS_AUTH: file needs PRISM_REDIS_PASSWORD_FILE")
	case a.tokens():
		return a.checkTokens(address)
	}
	return nil
}

// checkTokens finds a value that does not fit tokens.
func (a RedisAuth) checkTokens(address string) error {
	switch {
	case a.Password.Reveal() != "":
		return fmt.Errorf("PRISM_REDIS_PASSWORD: cannot be set together with PRISM_REDIS_AUTH=%s", a.Kind)
	case a.PasswordFile != "":
		return fmt.Errorf("PRISM_REDIS_PASSWORD_FILE: cannot be set together with PRISM_REDIS_AUTH=%s", a.Kind)
	case address == "":
		return errors.New("PRISM_REDIS_AUTH: needs PRISM_REDIS_URL")
	case !encrypted(address):
		return errors.New("PRISM_REDIS_URL: a token needs TLS to another machine: the URL must begin with rediss")
	case a.Kind != identity.KindGoogle && a.user(address) == "":
		return fmt.Errorf("PRISM_REDIS_USERNAME: is required with PRISM_REDIS_AUTH=%s", a.Kind)
	case a.Kind == identity.KindAWS && a.Cache == "":
		return errors.New("PRISM_REDIS_AWS_CACHE: is required with PRISM_REDIS_AUTH=aws")
	}
	return nil
}

// encrypted reports whether the connections to a Redis use TLS or stay on this machine.
func encrypted(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return true // redis.Open refuses it
	}
	kind, _, _ := strings.Cut(u.Scheme, "+")
	return kind == "rediss" || kind == "unix" || kind == u.Scheme && !slices.ContainsFunc(append(u.Query()["addr"], u.Host), distant)
}

// distant reports whether an address is that of another machine.
func distant(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = strings.Trim(address, "[]")
	}
	ip, err := netip.ParseAddr(host)
	return host != "localhost" && (err != nil || !ip.IsLoopback())
}
