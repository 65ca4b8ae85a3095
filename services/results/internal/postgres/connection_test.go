package postgres

import (
	"fmt"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
)

// spec: postgres-tls
func TestPlainTextGoesToAnotherMachineOnlyOnRequest(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		url  string
		want []string
	}{
		{"postgres://db.example.com/prism", []string{"TLS db.example.com"}},
		{"postgres://db.example.com/prism?sslmode=prefer", []string{"TLS db.example.com"}},
		{"postgres://db.example.com/prism?sslmode=allow", []string{"TLS db.example.com"}},
		{"postgres://db.example.com/prism?sslmode=require", []string{"TLS db.example.com"}},
		{"postgres://db.example.com/prism?sslmode=verify-full", []string{"TLS db.example.com"}},
		{"postgres://db.example.com/prism?sslmode=disable", []string{"plain db.example.com"}},
		{"postgres:///prism?host=one.example.com,two.example.com", []string{"TLS one.example.com", "TLS two.example.com"}},
		{"postgres://127.0.0.1/prism", []string{"TLS 127.0.0.1", "plain 127.0.0.1"}},
		{"postgres://127.8.8.8/prism?sslmode=allow", []string{"plain 127.8.8.8", "TLS 127.8.8.8"}},
		{"postgres://localhost/prism", []string{"TLS localhost", "plain localhost"}},
		{"postgres://[::1]/prism?sslmode=disable", []string{"plain ::1"}},
		{"postgres:///prism?host=/run/postgresql", []string{"plain /run/postgresql"}},
		{"postgres:///prism?host=/run/postgresql,db.example.com", []string{"plain /run/postgresql", "TLS db.example.com"}},
	} {
		config, err := pgx.ParseConfig(tt.url)
		if err != nil {
			t.Fatal(err)
		}
		prepare(config, tt.url)
		kinds := map[bool]string{true: "plain", false: "TLS"}
		got := []string{fmt.Sprintf("%s %s", kinds[config.TLSConfig == nil], config.Host)}
		for _, f := range config.Fallbacks {
			got = append(got, fmt.Sprintf("%s %s", kinds[f.TLSConfig == nil], f.Host))
		}
		if got = slices.Compact(got); !slices.Equal(got, tt.want) {
			t.Errorf("%s connects to %q, want %q", tt.url, got, tt.want)
		}
	}
}

// spec: postgres-failover
func TestAConnectionIsForWritingUnlessTheURLSaysOtherwise(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]bool{
		"postgres://db.example.com/prism":                                 true,
		"postgres://db.example.com/prism?target_session_attrs=read-write": true,
		"postgres://db.example.com/prism?target_session_attrs=any":        false,
	} {
		config, err := pgx.ParseConfig(url)
		if err != nil {
			t.Fatal(err)
		}
		prepare(config, url)
		if (config.ValidateConnect != nil) != want {
			t.Errorf("%s: the server is asked whether it can be written: %t", url, !want)
		}
	}
}
