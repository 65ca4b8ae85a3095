package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

type inner struct {
	Delay time.Duration `env:"X_DELAY" default:"5s" help:"a pause"`
	Limit int           `env:"X_LIMIT" default:"10" least:"1" help:"a bound"`
}

type settings struct {
	Listen Address `env:"X_LISTEN" default:"127.0.0.1:8080" help:"address of the API"`
	Peer   URL     `env:"X_PEER_URL" required:"true" example:"http://127.0.0.1:8081" help:"where the peer is"`
	Store  URL     `env:"X_STORE_URL" schemes:"postgres postgresql" example:"postgres://user:password@host/db" help:"the store"`
	Token  Secret  `env:"X_TOKEN" required:"true" help:"the token"`
	Mode   string  `env:"X_MODE" oneof:"offline online" default:"offline" help:"how it works"`
	Count  int     `env:"X_COUNT" default:"0" help:"a number"`
	Size   Bytes   `env:"X_SIZE" default:"1MiB" help:"a size"`
	Inner  inner
}

type fake struct {
	values map[string]string
	unset  []string
}

func (f *fake) environment() Environment {
	return Environment{
		Name:  "prism-test",
		Get:   func(name string) (string, bool) { v, ok := f.values[name]; return v, ok },
		Unset: func(name string) error { f.unset = append(f.unset, name); delete(f.values, name); return nil },
	}
}

func right() map[string]string {
	return map[string]string{"X_PEER_URL": "http://peer:1", "X_TOKEN": "hunter2"}
}

func with(pairs ...string) *fake {
	f := &fake{values: right()}
	for i := 0; i < len(pairs); i += 2 {
		f.values[pairs[i]] = pairs[i+1]
	}
	return f
}

func TestVersionNeedsNoSettings(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	_, err := Parse[settings]([]string{"--version"}, Environment{Name: "prism-test", Get: func(string) (string, bool) { return "", false }}, &out)
	if !errors.Is(err, ErrHelp) || !strings.HasPrefix(out.String(), "prism-test ") || !strings.Contains(out.String(), "go1.") {
		t.Errorf("got %q, %v", out.String(), err)
	}
}

func TestDefaultsStandForWhatIsNotSet(t *testing.T) {
	t.Parallel()
	s, err := Parse[settings](nil, with("X_MODE", "", "X_STORE_URL", "").environment(), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if s.Listen != "127.0.0.1:8080" || s.Peer.String() != "http://peer:1" || !s.Store.IsZero() || s.Token.Reveal() != "hunter2" ||
		s.Mode != "offline" || s.Count != 0 || s.Size != 1<<20 || s.Inner != (inner{5 * time.Second, 10}) {
		t.Errorf("got %+v", s)
	}
}

func TestVariablesAreTyped(t *testing.T) {
	t.Parallel()
	s, err := Parse[settings]([]string{"serve"}, with("X_LISTEN", ":0", "X_STORE_URL", "postgresql:///db?host=/run",
		"X_MODE", "online", "X_COUNT", "12", "X_SIZE", "3 KiB", "X_DELAY", "1m30s", "X_LIMIT", "7").environment(), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if s.Listen != ":0" || s.Store.String() != "postgresql:///db?host=/run" || s.Mode != "online" || s.Count != 12 ||
		s.Size != 3<<10 || s.Inner != (inner{90 * time.Second, 7}) {
		t.Errorf("got %+v", s)
	}
}

func TestASchemeIsInLowerCase(t *testing.T) {
	t.Parallel()
	s, err := Parse[settings](nil, with("X_PEER_URL", "HTTPS://peer:1").environment(), io.Discard)
	if err != nil || s.Peer.Scheme() != "https" || s.Store.Scheme() != "" {
		t.Errorf("got %q, %q, %v", s.Peer.Scheme(), s.Store.Scheme(), err)
	}
}

func TestAllProblemsAreListedAtOnce(t *testing.T) {
	t.Parallel()
	f := &fake{values: map[string]string{
		"X_LISTEN": ":80a", "X_PEER_URL": "ftp://user:hunter2@peer", "X_STORE_URL": "mysql://user:hunter2@host", "X_MODE": "hunter2",
		"X_COUNT": "-1", "X_SIZE": "1MB", "X_DELAY": "5", "X_LIMIT": "0",
	}}
	_, err := Parse[settings](nil, f.environment(), io.Discard)
	want := `the settings are wrong:
  X_LISTEN: must have a port from 0 to 65535 (for example X_LISTEN=127.0.0.1:8080)
  X_PEER_URL: must be a URL that begins with http:// or https:// (for example X_PEER_URL=http://127.0.0.1:8081)
  X_STORE_URL: must be a URL that begins with postgres:// or postgresql:// (for example X_STORE_URL=postgres://user:password@host/db)
  X_TOKEN: is required: the token
  X_MODE: must be one of offline, online (for example X_MODE=offline)
  X_COUNT: must not be negative (for example X_COUNT=0)
  X_SIZE: must be a size such as 512, 64KiB or 10MiB (for example X_SIZE=1MiB)
  X_DELAY: must be a duration such as 500ms, 10s or 2m (for example X_DELAY=5s)
  X_LIMIT: must be 1 or more (for example X_LIMIT=10)`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	var invalid Invalid
	if !errors.As(err, &invalid) || len(invalid) != 9 {
		t.Errorf("got %T", err)
	}
}

func TestWrongValues(t *testing.T) {
	t.Parallel()
	for variable, values := range map[string][]string{
		"X_LISTEN":   {"8080", "host", "host:", "host:http", "host:65536", "host:-1", "host:080", "::1:80", "http://host:80"},
		"X_PEER_URL": {"peer", "peer:80", "//peer", "http:", "http://", "http:peer?x", "http:/peer", "HTTP2://peer", "http://pe er", "http://%zz"},
		"X_LIMIT":    {"1.5", "ten", "99999999999999999999"},
		"X_SIZE":     {"-1", "1.5MiB", "MiB", "9223372036854775808", "9007199254740992KiB", "KiBKiB", "1MiBKiB"},
		"X_DELAY":    {"soon", "10", "-1s"},
		"X_TOKEN":    {""},
	} {
		for _, value := range values {
			_, err := Parse[settings](nil, with(variable, value).environment(), io.Discard)
			var invalid Invalid
			if !errors.As(err, &invalid) || len(invalid) != 1 || invalid[0].Variable != variable {
				t.Errorf("%s=%s: got %v", variable, value, err)
			}
		}
	}
}

func TestHelpListsEveryVariable(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--help"}, {"-h"}, {"-help"}, {"serve", "--help"}} {
		var out bytes.Buffer
		_, err := Parse[settings](args, with().environment(), &out)
		if !errors.Is(err, ErrHelp) {
			t.Errorf("%s: got %v", args, err)
		}
		want := `Usage: prism-test [serve] [--version]

Settings are environment variables:

  X_LISTEN     127.0.0.1:8080  address of the API
  X_PEER_URL   required        where the peer is
  X_STORE_URL  none            the store
  X_TOKEN      required        the token
  X_MODE       offline         how it works: offline, online
  X_COUNT      0               a number
  X_SIZE       1MiB            a size
  X_DELAY      5s              a pause
  X_LIMIT      10              a bound
`
		if out.String() != want {
			t.Errorf("%s: got\n%s", args, out.String())
		}
	}
}

func TestHelpListsOtherCommandsBehindTheVariables(t *testing.T) {
	t.Parallel()
	env := with().environment()
	env.Commands = "  migrate  bring it up to date\n"
	var out bytes.Buffer
	if _, err := Parse[settings]([]string{"--help"}, env, &out); !errors.Is(err, ErrHelp) {
		t.Fatal(err)
	}
	if want := "  X_LIMIT      10              a bound\n\nCommands:\n  migrate  bring it up to date\n"; !strings.HasSuffix(out.String(), want) {
		t.Errorf("got\n%s", out.String())
	}
}

func TestUnknownArgumentsAreNamed(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		`unexpected argument "start"; --help lists what there is`: {"start"},
		`unexpected argument "twice"; --help lists what there is`: {"serve", "twice"},
		`unexpected argument ""; --help lists what there is`:      {""},
	} {
		var out bytes.Buffer
		if _, err := Parse[settings](args, with().environment(), &out); err == nil || err.Error() != want || out.Len() > 0 {
			t.Errorf("%q: got %v, %q", args, err, out.String())
		}
	}
}

func TestUnknownFlagsAreNamed(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	_, err := Parse[settings]([]string{"--port=80"}, with().environment(), &out)
	if err == nil || !strings.Contains(err.Error(), "-port") || !strings.Contains(err.Error(), "--help") || out.Len() > 0 {
		t.Errorf("got %v, %q", err, out.String())
	}
}

func TestSecretsLeaveTheEnvironment(t *testing.T) {
	t.Parallel()
	f := with("X_STORE_URL", "postgres://user:hunter2@host/db", "X_MODE", "online")
	if _, err := Parse[settings](nil, f.environment(), io.Discard); err != nil {
		t.Fatal(err)
	}
	slices.Sort(f.unset)
	if !slices.Equal(f.unset, []string{"X_STORE_URL", "X_TOKEN"}) {
		t.Errorf("unset %v", f.unset)
	}
	if left := slices.Sorted(maps.Keys(f.values)); !slices.Equal(left, []string{"X_MODE", "X_PEER_URL"}) {
		t.Errorf("left %v", left)
	}
	f = with("X_STORE_URL", "postgres:///db?password=hunter2")
	if _, err := Parse[settings](nil, f.environment(), io.Discard); err != nil || f.values["X_STORE_URL"] != "" {
		t.Errorf("left %v, %v", f.values, err)
	}
	f = with()
	if _, err := Parse[settings]([]string{"--help"}, f.environment(), io.Discard); !errors.Is(err, ErrHelp) || len(f.unset) > 0 {
		t.Errorf("--help unset %v", f.unset)
	}
}

func TestSecretsAreNotPrinted(t *testing.T) {
	t.Parallel()
	s, err := Parse[settings](nil, with("X_STORE_URL", "postgres://user:hunter2@host/db?password=hunter2").environment(), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "token", s.Token, "store", s.Store)
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "token", s.Token, "store", s.Store)
	marshalled, err := json.Marshal(s.Token)
	if err != nil {
		t.Fatal(err)
	}
	printed := fmt.Sprintf("%v %+v %#v %s %q", s.Token, s.Token, s.Token, s.Token, s.Token) + log.String() + string(marshalled) + s.Store.Redacted()
	if strings.Contains(printed, "hunter2") {
		t.Errorf("printed: %s", printed)
	}
	if whole := fmt.Sprintf("%v %+v %#v", s, s, s); strings.Contains(whole, "hunter2") {
		t.Errorf("the settings as a whole: %s", whole)
	}
}
