package gateway

import (
	"log/slog"
	"strings"
	"testing"
)

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
		{"redis://:secret%@h", RedisAuth{Password: "p"}, "PRISM_REDIS_URL"},
	}
	for _, test := range tests {
		_, err := newLocks(Config{RedisURL: test.url, RedisAuth: test.auth}, Deps{Log: slog.New(slog.DiscardHandler)})
		if err == nil || !strings.HasPrefix(err.Error(), test.want+": ") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: got %v", test.url, err)
		}
	}
}
