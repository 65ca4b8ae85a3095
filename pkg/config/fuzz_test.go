package config

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// said is everything that a problem may say of a variable. None of it depends on a value.
var said = map[string][]string{
	"X_LISTEN":    {"must be host:port", "must have a port from 0 to 65535"},
	"X_PEER_URL":  {"is required: where the peer is", "must be a URL that begins with http:// or https://"},
	"X_STORE_URL": {"must be a URL that begins with postgres:// or postgresql://"},
	"X_TOKEN":     {"is required: the token"},
	"X_MODE":      {"must be one of offline, online"},
	"X_COUNT":     {"must be a whole number", "must not be negative"},
	"X_SIZE":      {"must be a size such as 512, 64KiB or 10MiB"},
	"X_DELAY":     {"must be a duration such as 500ms, 10s or 2m", "must not be negative"},
	"X_LIMIT":     {"must be a whole number", "must be 1 or more"},
}

// examples are the settings' own.
var examples = map[string]string{
	"X_LISTEN": "127.0.0.1:8080", "X_PEER_URL": "http://127.0.0.1:8081", "X_STORE_URL": "postgres://user:password@host/db",
	"X_MODE": "offline", "X_COUNT": "0", "X_SIZE": "1MiB", "X_DELAY": "5s", "X_LIMIT": "10",
}

// FuzzParse: any environment is either settings, which written down again are the same settings, or a list of problems that
// repeats no value, whatever secret it holds.
func FuzzParse(f *testing.F) {
	f.Add("127.0.0.1:8080", "http://peer:1", "postgres://user:hunter2@host/db", "hunter2", "offline", "12", "1MiB", "5s", "10")
	f.Add(":0", "https://[::1]:80/a?b#c", "postgresql:///db?host=/run&password=hunter2", " \n", "online", "-0", "3 KiB", "1m30s", "+7")
	f.Add("[::1]:65535", "HTTP://user:hunter2@peer", "", "\x00", "", "", "", "-1h", "-1")
	f.Add("host:65536", "http:/peer?hunter2", "postgres:hunter2?x", "", "hunter2", "hunter2", "8388608TiB", "1e9s", "0x10")
	f.Add("hunter2", "http://user:hunter2%zz@peer", "mysql://user:hunter2@host", "x", "OFFLINE", "1e3", "9007199254740992KiB", "5", "99999999999999999999")
	f.Fuzz(func(t *testing.T, listen, peer, store, token, mode, count, size, delay, limit string) {
		sent := map[string]string{
			"X_LISTEN": listen, "X_PEER_URL": peer, "X_STORE_URL": store, "X_TOKEN": token, "X_MODE": mode, "X_COUNT": count,
			"X_SIZE": size, "X_DELAY": delay, "X_LIMIT": limit,
		}
		e := &fake{values: maps.Clone(sent)}
		s, err := Parse[settings](nil, e.environment(), io.Discard)
		if _, left := e.values["X_TOKEN"]; left {
			t.Error("the token is still in the environment")
		}
		if err != nil {
			wantProblems(t, err, sent)
			return
		}
		for _, u := range []URL{s.Peer, s.Store} {
			wantURL(t, u, e.values)
		}
		again := &fake{values: map[string]string{
			"X_LISTEN": string(s.Listen), "X_PEER_URL": s.Peer.String(), "X_STORE_URL": s.Store.String(), "X_TOKEN": s.Token.Reveal(),
			"X_MODE": s.Mode, "X_COUNT": strconv.Itoa(s.Count), "X_SIZE": strconv.FormatInt(int64(s.Size), 10),
			"X_DELAY": s.Inner.Delay.String(), "X_LIMIT": strconv.Itoa(s.Inner.Limit),
		}}
		if same, err := Parse[settings](nil, again.environment(), io.Discard); err != nil || !reflect.DeepEqual(same, s) {
			t.Errorf("%q became %q, %v", sent, again.values, err)
		}
	})
}

func wantProblems(t *testing.T, err error, sent map[string]string) {
	t.Helper()
	var problems Invalid
	if !errors.As(err, &problems) || len(problems) == 0 || err.Error() != problems.Error() {
		t.Fatalf("%q: got %T %v", sent, err, err)
	}
	met := map[string]bool{}
	for _, p := range problems {
		if met[p.Variable] || !slices.Contains(said[p.Variable], p.Text) || p.Example != examples[p.Variable] {
			t.Errorf("%q: got the problem %+v", sent, p)
		}
		met[p.Variable] = true
	}
}

// wantURL holds that a URL is one, shows its password to nobody, and left the environment if it has one.
func wantURL(t *testing.T, u URL, left map[string]string) {
	t.Helper()
	if u.IsZero() {
		return
	}
	parsed, err := url.Parse(u.String())
	if err != nil || !strings.Contains(u.String(), "://") {
		t.Fatalf("%q is no URL: %v", u.String(), err)
	}
	if printed := fmt.Sprintf("%v|%s|%q|%+v|%#v", u, u, u, u, u); printed != strings.Repeat(u.Redacted()+"|", 4)+u.Redacted() {
		t.Errorf("%q is printed as %s", u.String(), printed)
	}
	if _, has := parsed.User.Password(); !has && parsed.RawQuery == "" {
		return
	}
	for variable, value := range left {
		if value == u.String() {
			t.Errorf("%s=%q is still in the environment", variable, value)
		}
	}
	shown, err := url.Parse(u.Redacted())
	if err != nil {
		t.Fatalf("%q is shown as %q: %v", u.String(), u.Redacted(), err)
	}
	if password, has := shown.User.Password(); has && password != "xxxxx" || shown.RawQuery != "" && shown.RawQuery != "xxxxx" {
		t.Errorf("%q is shown as %q", u.String(), u.Redacted())
	}
}
