package redis

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/prism-results/prism/pkg/credential"
	"github.com/prism-results/prism/pkg/testkit/redistest"
	"github.com/prism-results/prism/services/gateway/internal/lock"
	"github.com/prism-results/prism/services/gateway/internal/lock/locktest"
)

func TestTheLockPassesTheSuiteThroughSentinels(t *testing.T) {
	t.Parallel()
	master := redistest.New(t, redistest.Options{TCP: true})
	_, port, err := net.SplitHostPort(master.TCPAddr())
	if err != nil {
		t.Fatal(err)
	}
	// Sentinels write down in their configuration what they find out.
	config := filepath.Join(t.TempDir(), "sentinel.conf")
	lines := "sentinel monitor mymaster 127.0.0.1 " + port + " 1\nrequirepass s3:nt/nel\n"
	if err := os.WriteFile(config, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	sentinel := server(t, &goredis.Options{Password: "s3:nt/nel"}, config, "--sentinel")
	// The first address is nobody's: one Sentinel that answers is enough.
	suite(t, "redis+sentinel://:s3%3Ant%2Fnel@127.0.0.1:1?master_name=mymaster&addr="+sentinel)
	// The password that comes alone overrides that of the URL.
	url := "redis+sentinel://user:wrong@127.0.0.1:1?master_name=mymaster&addr=" + sentinel
	locktest.Hold(t, openLocker(t, url, Config{CommandTimeout: patient, SentinelPassword: "s3:nt/nel"}), "name").Release(t.Context())
	followSentinel(t, url, sentinel)
}

func TestTheLockPassesTheSuiteOnACluster(t *testing.T) {
	t.Parallel()
	cluster, err := redistest.StartCluster(t.Context())
	must(t, err)
	t.Cleanup(func() { must(t, cluster.Close()) })
	suite(t, cluster.URL())
	// Names are spread, so every master holds some.
	for _, addr := range cluster.Masters() {
		client := goredis.NewClient(&goredis.Options{Addr: addr})
		scripts, err := client.Info(t.Context(), "memory").Result()
		if err != nil || strings.Contains(scripts, "number_of_cached_scripts:0") {
			t.Errorf("%s took no lock: %v", addr, err)
		}
		must(t, client.Close())
	}
}

func TestCredentialsOverrideThoseOfTheURL(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ url, username, password, want string }{
		{"redis://u:p@h/0", "", "", "u:p"},
		{"redis://h:6379/0", "", "p@/:", ":p@/:"},
		{"rediss://u:p@h", "v", "q", "v:q"},
		{"redis+cluster://h?addr=i:1", "", "p", ":p"},
		{"redis+sentinel://:s@h?master_name=m", "u", "p&", "u:p&"},
		{"redis+sentinel://:s@h?master_name=m&username=v&password=q", "", "p", ":p"},
	} {
		client, err := connect(test.url, Config{Username: test.username, Password: test.password}, nil)
		must(t, err)
		var got string
		switch c := client.(type) {
		case *goredis.Client:
			got = c.Options().Username + ":" + c.Options().Password
		case *goredis.ClusterClient:
			got = c.Options().Username + ":" + c.Options().Password
		}
		if got != test.want {
			t.Errorf("%s: got %s, want %s", test.url, got, test.want)
		}
		must(t, client.Close())
	}
}

// suite runs the locks' suite on what url names.
func suite(t *testing.T, url string) {
	t.Helper()
	var lockers atomic.Int32
	t.Run("suite", func(t *testing.T) {
		locktest.Run(t, func(t *testing.T, c locktest.Config) locktest.Locker {
			return newGateway(c, openLocker(t, url, Config{
				CommandTimeout: patient, Prefix: fmt.Sprintf("test:%d:", lockers.Add(1)),
			}))
		})
	})
}

// server starts a Redis of a kind that redistest has not, and returns its address when it answers.
func server(t *testing.T, o *goredis.Options, config string, args ...string) string {
	t.Helper()
	var free net.ListenConfig
	ln, err := free.Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	addr := ln.Addr().String()
	port := ln.Addr().(*net.TCPAddr).Port
	must(t, ln.Close())
	if config != "" {
		args = append([]string{config}, args...)
	}
	args = append(args, "--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--dir", t.TempDir())
	var out strings.Builder
	cmd := exec.Command("redis-server", args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(out.String())
		}
	})
	o.Addr = addr
	client := goredis.NewClient(o)
	defer func() { _ = client.Close() }()
	locktest.Eventually(t, "the server answers", func() bool { return client.Ping(t.Context()).Err() == nil })
	return addr
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestAURLMakesTheClientOfItsKind(t *testing.T) {
	t.Parallel()
	tests := []struct {
		url, kind string
		tls       bool
	}{
		{"redis://h:1", "*redis.Client", false},
		{"rediss://h:1", "*redis.Client", true},
		{"unix:///s", "*redis.Client", false},
		{"redis+sentinel://h:1?master_name=m", "*redis.Client", false},
		{"rediss+sentinel://h:1?master_name=m", "*redis.Client", true},
		{"redis+cluster://h:1?addr=i:1", "*redis.ClusterClient", false},
		{"rediss+cluster://h:1?addr=i:1", "*redis.ClusterClient", true},
	}
	for _, test := range tests {
		client, err := connect(test.url, Config{}.withDefaults(), nil)
		if err != nil {
			t.Fatalf("%s: %v", test.url, err)
		}
		defer func() { _ = client.Close() }()
		var tls bool
		switch c := client.(type) {
		case *goredis.Client:
			tls = c.Options().TLSConfig != nil
		case *goredis.ClusterClient:
			tls = c.Options().TLSConfig != nil
		}
		if kind := fmt.Sprintf("%T", client); kind != test.kind || tls != test.tls {
			t.Errorf("%s: a %s with TLS %t", test.url, kind, tls)
		}
	}
}

func TestAURLThatNamesNoRedisIsRefusedUnquoted(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"", "http://h", "redis+sentinel://:secret@h:1", "redis+ring://:secret@h", "unix+cluster:///secret",
		"redis+cluster://:secret@h?pool_size=secret", "redis+sentinel://:secret@h?master_name=m&nonsense=1",
	} {
		l, err := Open(url, Config{})
		if err == nil {
			t.Errorf("%s was taken", url)
			_ = l.Close()
			continue
		}
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestAClusterAndSentinelsThatAreAwayGiveNoLock(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"redis+cluster://127.0.0.1:1", "redis+sentinel://127.0.0.1:1?master_name=m"} {
		l := openLocker(t, url, Config{})
		if _, err := l.Acquire(t.Context(), "name"); !errors.Is(err, lock.ErrUnavailable) {
			t.Errorf("%s: got %v", url, err)
		}
	}
}

// followSentinel replaces the password of a Sentinel and in the file. A connection to the Sentinel that is opened then shows the new one.
//
// spec: secrets-from-files
func followSentinel(t *testing.T, url, sentinel string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "password")
	must(t, os.WriteFile(path, []byte("s3:nt/nel\n"), 0o600))
	source, err := credential.File(path, slog.New(slog.DiscardHandler), nil)
	must(t, err)
	open := func() *Locker {
		return openLocker(t, url, Config{CommandTimeout: patient, Cooldown: time.Millisecond, SentinelPasswords: source})
	}
	locktest.Hold(t, open(), "a").Release(t.Context())
	admin := goredis.NewClient(&goredis.Options{Addr: sentinel, Password: "s3:nt/nel", Protocol: 2})
	defer func() { _ = admin.Close() }()
	must(t, admin.Do(t.Context(), "ACL", "SETUSER", "default", "resetpass", ">another").Err())
	must(t, os.WriteFile(path, []byte("another\n"), 0o600))
	l := open()
	locktest.Eventually(t, "a lock by the new password", func() bool {
		held, err := l.TryAcquire(t.Context(), "b")
		if err == nil {
			held.Release(t.Context())
		}
		return err == nil
	})
}
