package gateway

import (
	"strings"
	"testing"
)

func TestCredentialsAreLaidOverTheURL(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, url string
		auth      RedisAuth
		want      string
	}{
		{"no Redis", "", RedisAuth{}, ""},
		{"none", "redis://u:p@h/0?pool_size=3", RedisAuth{}, "redis://u:p@h/0?pool_size=3"},
		{"password", "redis://h:6379/0", RedisAuth{Password: "p@/:"}, "redis://:p%40%2F%3A@h:6379/0"},
		{"in place", "rediss://u:p@h", RedisAuth{Username: "v", Password: "q"}, "rediss://v:q@h"},
		{"cluster", "redis+cluster://h?addr=i:1", RedisAuth{Password: "p"}, "redis+cluster://:p@h?addr=i:1"},
		{"server behind Sentinels", "redis+sentinel://:s@h?master_name=m", RedisAuth{Username: "u", Password: "p&"}, "redis+sentinel://:s@h?master_name=m&password=p%26&username=u"},
		{"Sentinels", "redis+sentinel://h?master_name=m", RedisAuth{SentinelPassword: "s"}, "redis+sentinel://:s@h?master_name=m"},
		{"both", "redis+sentinel://h?master_name=m", RedisAuth{Password: "p", SentinelPassword: "s"}, "redis+sentinel://:s@h?master_name=m&password=p&username="},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got, err := test.auth.in(test.url); err != nil || got != test.want {
				t.Errorf("got %s, %v, want %s", got, err, test.want)
			}
		})
	}
}

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
		{"redis+sentinel://h", RedisAuth{Username: "secret"}, "PRISM_REDIS_USERNAME"},
		{"redis://:secret%@h", RedisAuth{Password: "p"}, "PRISM_REDIS_URL"},
	}
	for _, test := range tests {
		_, err := test.auth.in(test.url)
		if err == nil || !strings.HasPrefix(err.Error(), test.want+": ") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: got %v", test.url, err)
		}
	}
}
