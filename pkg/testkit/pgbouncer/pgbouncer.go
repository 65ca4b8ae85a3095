// Package pgbouncer runs a throwaway PgBouncer in front of a Postgres for tests, in transaction mode.
package pgbouncer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/prism-results/prism/pkg/testkit/internal/proc"
)

const (
	startBudget = 2 * time.Minute
	stopBudget  = time.Minute

	port = 6432 // of the socket's name; nothing listens on it
	user = "prism"
)

// Options of a PgBouncer.
type Options struct {
	// Upstream is the URL of any database of the server, on its Unix socket. All its databases can be reached.
	Upstream string
	// Settings are further settings, such as "default_pool_size": "2".
	Settings map[string]string
}

// Server is a running PgBouncer.
type Server struct {
	// Version is its version, such as 1.24.1.
	Version string

	folder  *proc.Folder
	process *proc.Process
}

// New starts a PgBouncer that ends with the test.
func New(t testing.TB, o Options) *Server {
	t.Helper()
	s, err := Start(t.Context(), o)
	if err != nil {
		t.Fatalf("pgbouncer: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("pgbouncer: %v", err)
		}
	})
	return s
}

// Start starts a PgBouncer and returns when it responds. Close ends it.
func Start(ctx context.Context, o Options) (*Server, error) {
	ctx, cancel := context.WithTimeout(ctx, startBudget)
	defer cancel()
	program, err := proc.Find("pgbouncer", "/usr/sbin")
	if err != nil {
		return nil, err
	}
	// PgBouncer refuses to run as root.
	account, err := proc.Unprivileged()
	if err != nil {
		return nil, err
	}
	upstream, err := pgconn.ParseConfig(o.Upstream)
	if err != nil {
		return nil, err
	}
	s := &Server{}
	if s.Version, err = version(ctx, program); err != nil {
		return nil, err
	}
	if s.folder, err = proc.NewFolder(account); err != nil {
		return nil, err
	}
	config := s.folder.File("pgbouncer.ini")
	if err := os.WriteFile(config, s.config(upstream, o.Settings), 0o644); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	cmd := exec.Command(program, "--quiet", config)
	cmd.Dir = s.folder.Path
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + s.folder.Path, "LC_ALL=C", "TZ=UTC"}
	account.Apply(cmd)
	// SIGKILL: on SIGTERM new versions wait for their clients.
	if s.process, err = proc.StartLogged(cmd, s.folder.File("pgbouncer.log"), syscall.SIGKILL); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := s.process.Await(ctx, func(ctx context.Context) error { return ping(ctx, s.URL(upstream.Database)) }); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

var versionLine = regexp.MustCompile(`^PgBouncer (\d+\.\d+\.\d+)`)

func version(ctx context.Context, program string) (string, error) {
	out, err := exec.CommandContext(ctx, program, "--version").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s --version: %w\n%s", program, err, out)
	}
	found := versionLine.FindSubmatch(out)
	if found == nil {
		return "", fmt.Errorf("%s --version says %q", program, out)
	}
	return string(found[1]), nil
}

func (s *Server) config(upstream *pgconn.Config, more map[string]string) []byte {
	settings := map[string]string{
		"listen_port":       strconv.Itoa(port),
		"unix_socket_dir":   s.folder.Path,
		"auth_type":         "any", // the folder is what keeps others out
		"pool_mode":         "transaction",
		"max_client_conn":   "1000",
		"default_pool_size": "4",
	}
	maps.Copy(settings, more)
	var ini strings.Builder
	fmt.Fprintf(&ini, "[databases]\n* = host=%s port=%d user=%s\n[pgbouncer]\n", upstream.Host, upstream.Port, upstream.User)
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		fmt.Fprintf(&ini, "%s = %s\n", name, settings[name])
	}
	return []byte(ini.String())
}

func ping(ctx context.Context, url string) (err error) {
	conn, err := pgconn.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	_, err = conn.Exec(ctx, "SELECT 1").ReadAll()
	return err
}

// URL is the address of a database through PgBouncer.
func (s *Server) URL(database string) string {
	address := url.URL{Scheme: "postgres", User: url.User(user), Path: "/" + database}
	address.RawQuery = url.Values{
		"host": {s.folder.Path}, "port": {strconv.Itoa(port)}, "sslmode": {"disable"},
	}.Encode()
	return address.String()
}

// Through is the address through PgBouncer of the database that a URL of the server names.
func (s *Server) Through(direct string) (string, error) {
	config, err := pgconn.ParseConfig(direct)
	if err != nil {
		return "", err
	}
	return s.URL(config.Database), nil
}

// KeepsPrepared tells whether this version supports prepared statements in transaction mode.
func (s *Server) KeepsPrepared() bool {
	var major, minor int
	_, _ = fmt.Sscanf(s.Version, "%d.%d", &major, &minor)
	return major > 1 || minor >= 21
}

// Close ends PgBouncer and disconnects its clients.
func (s *Server) Close() error {
	var err error
	if s.process != nil {
		ctx, cancel := context.WithTimeout(context.Background(), stopBudget)
		defer cancel()
		err = s.process.End(ctx, syscall.SIGKILL)
	}
	return errors.Join(err, s.folder.Remove())
}
