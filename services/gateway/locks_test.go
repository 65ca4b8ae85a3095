package gateway

import (
	"log/slog"
	"strings"
	"testing"
)

// spec: workload-identity
func TestCredentialsWithoutAPlaceAreNamed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		url  string
		auth RedisAuth
		want string
	}{
		{"", RedisAuth{Username: "u", Password: "secret"}, "PRISM_REDIS_PASSWORD"},
		{"", RedisAuth{Username: "secret"}, "PRISM_REDIS_USERNAME"},
		{"", RedisAuth{SentinelPassword: "secret"}, "PRISM_REDIS_SENTINEL_PASSWORD"},
		{"redis://h", RedisAuth{SentinelPassword: "secret"}, "PRISM_REDIS_SENTINEL_PASSWORD"},
		{"redis://h", RedisAuth{Username: "secret"}, "PRISM_REDIS_USERNAME"},
		{"", RedisAuth{PasswordFile: "/nowhere/password"}, "PRISM_REDIS_PASSWORD_FILE"},
		{"redis://h", RedisAuth{PasswordFile: "/nowhere/password"}, "PRISM_REDIS_PASSWORD_FILE"},
		{"redis://h", RedisAuth{PasswordFile: "/nowhere/password", Password: "secret"}, "PRISM_REDIS_PASSWORD_FILE"},
		{"redis+sentinel://h", RedisAuth{Username: "secret"}, "PRISM_REDIS_USERNAME"},
		{"redis://h", RedisAuth{SentinelPasswordFile: "/nowhere/password"}, "PRISM_REDIS_SENTINEL_PASSWORD_FILE"},
		{"redis+sentinel://h", RedisAuth{SentinelPasswordFile: "/nowhere/password"}, "PRISM_REDIS_SENTINEL_PASSWORD_FILE"},
		{"redis+sentinel://h", RedisAuth{SentinelPasswordFile: "/nowhere/password", SentinelPassword: "secret"}, "PRISM_REDIS_SENTINEL_PASSWORD_FILE"},
		{"redis://h", RedisAuth{Kind: "file"}, "PRISM_REDIS_AUTH"},
		{"", RedisAuth{Kind: "google"}, "PRISM_REDIS_AUTH"},
		{"redis://h", RedisAuth{Kind: "google"}, "PRISM_REDIS_URL"},
		{"redis://127.0.0.1?addr=h:6379", RedisAuth{Kind: "google"}, "PRISM_REDIS_URL"},
		{"redis+cluster://127.0.0.1", RedisAuth{Kind: "google"}, "PRISM_REDIS_URL"},
		{"rediss://h", RedisAuth{Kind: "google", Password: "secret"}, "PRISM_REDIS_PASSWORD"},
		{"rediss://h", RedisAuth{Kind: "google", PasswordFile: "/nowhere/password"}, "PRISM_REDIS_PASSWORD_FILE"},
		{"rediss://h", RedisAuth{Kind: "azure"}, "PRISM_REDIS_USERNAME"},
		{"rediss://u@h", RedisAuth{Kind: "aws"}, "PRISM_REDIS_AWS_CACHE"},
		{"redis://:secret%@h", RedisAuth{Password: "p"}, "PRISM_REDIS_URL"},
	}
	for _, test := range tests {
		_, err := newLocks(Config{RedisURL: test.url, RedisAuth: test.auth}, Deps{Log: slog.New(slog.DiscardHandler)})
		if err == nil || !strings.HasPrefix(err.Error(), test.want+": ") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: got %v", test.url, err)
		}
	}
}

// The region is a variable of the process.
//
// spec: workload-identity
func TestTokensOfAWSNeedARegion(t *testing.T) {
	t.Setenv("AWS_REGION", "")
	t.Setenv("AWS_DEFAULT_REGION", "")
	auth := RedisAuth{Kind: "aws", Username: "u", Cache: "c"}
	if _, err := auth.passwords("rediss://h", nil, slog.New(slog.DiscardHandler)); err == nil || !strings.HasPrefix(err.Error(), "PRISM_REDIS_AUTH: ") {
		t.Errorf("got %v", err)
	}
	for _, kind := range []string{"google", "azure", "aws"} {
		t.Setenv("AWS_REGION", "eu-1")
		auth.Kind = kind
		for _, url := range []string{"rediss://h", "unix:///run/redis", "redis://127.0.0.1:6379", "redis://[::1]:6379", "redis://localhost"} {
			if err := auth.check(url); err != nil {
				t.Errorf("%s, %s: %v", kind, url, err)
			}
		}
		if passwords, err := auth.passwords("rediss://h", nil, slog.New(slog.DiscardHandler)); err != nil || passwords == nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
