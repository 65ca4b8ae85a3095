// Package pgtest runs a throwaway Postgres for tests. A test process shares one server, and each test has a fresh database
// cloned from a migrated template:
//
//	func TestMain(m *testing.M) { pgtest.Main(m) }
//
//	func open(t *testing.T) *Store {
//		server := pgtest.Shared(t)
//		server.Template(t, "store", migrate)
//		return connect(t, server.Database(t, "store"))
//	}
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/prism-results/prism/pkg/testkit/freeport"
	"github.com/prism-results/prism/pkg/testkit/internal/proc"
)

const (
	startBudget = 2 * time.Minute
	stopBudget  = time.Minute

	superuser      = "postgres"
	defaultPort    = 5432
	maxConnections = 300
)

// Options of a server.
type Options struct {
	// Fsync makes commits durable, as in production. Only tests of durability and speed need it.
	Fsync bool
	// TCP makes the server listen on a loopback port too, for a proxy to stand in front of.
	TCP bool
	// Settings are further settings of the server, such as "statement_timeout": "1s".
	Settings map[string]string
}

// Server is a running Postgres. Its address stays the same over restarts. Its methods may be called from several
// goroutines.
type Server struct {
	program string
	account proc.Account
	folder  *proc.Folder
	options Options
	port    int

	mu      sync.Mutex
	process *proc.Process // the running one or the last one
	paused  bool

	templates templates
}

// Start creates a database cluster and starts a server, and returns when the server accepts statements. Close ends it.
func Start(ctx context.Context, o Options) (*Server, error) {
	// Use the postgres in the folder of initdb: both must be of one version.
	initdb, err := proc.Find("initdb", "/usr/lib/postgresql/*/bin")
	if err != nil {
		return nil, err
	}
	if initdb, err = filepath.EvalSymlinks(initdb); err != nil {
		return nil, fmt.Errorf("find initdb: %w", err)
	}
	// Postgres refuses to run as root.
	account, err := proc.Unprivileged()
	if err != nil {
		return nil, err
	}
	s := &Server{program: filepath.Join(filepath.Dir(initdb), "postgres"), account: account, options: o, port: defaultPort}
	if o.TCP {
		if s.port, err = freeport.Port(); err != nil {
			return nil, err
		}
	}
	if s.folder, err = proc.NewFolder(account); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startBudget)
	defer cancel()
	if err := s.initialise(ctx, initdb); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Server) initialise(ctx context.Context, initdb string) error {
	cmd := exec.CommandContext(ctx, initdb, "--pgdata", s.data(), "--username", superuser, "--auth", "trust",
		"--encoding", "UTF8", "--locale", "C", "--no-sync", "--no-instructions")
	s.prepare(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", initdb, err, out)
	}
	return nil
}

func (s *Server) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startBudget)
	defer cancel()
	cmd := exec.Command(s.program, s.arguments()...)
	s.prepare(cmd)
	// SIGQUIT ends Postgres at once; unlike SIGKILL, it also ends its children and frees the shared memory.
	process, err := proc.StartLogged(cmd, s.folder.File("postgres.log"), syscall.SIGQUIT)
	if err != nil {
		return err
	}
	s.process = process
	ready := func(ctx context.Context) error { return s.exec(ctx, "SELECT 1") }
	if err := process.Await(ctx, ready); err != nil {
		return errors.Join(err, s.end(syscall.SIGQUIT))
	}
	return nil
}

func (s *Server) arguments() []string {
	onOff := map[bool]string{false: "off", true: "on"}
	settings := map[string]string{
		"listen_addresses":        "",
		"port":                    strconv.Itoa(s.port),
		"unix_socket_directories": s.folder.Path,
		"max_connections":         strconv.Itoa(maxConnections),
		"shared_buffers":          "64MB",
		"fsync":                   onOff[s.options.Fsync],
		"synchronous_commit":      onOff[s.options.Fsync],
		"full_page_writes":        onOff[s.options.Fsync],
		"autovacuum":              "off",
		"timezone":                "UTC",
		"log_timezone":            "UTC",
	}
	if s.options.TCP {
		settings["listen_addresses"] = "127.0.0.1"
	}
	for name, value := range s.options.Settings {
		settings[name] = value
	}
	arguments := []string{"-D", s.data()}
	for name, value := range settings {
		arguments = append(arguments, "-c", name+"="+value)
	}
	return arguments
}

// prepare sets the account and a minimal environment.
func (s *Server) prepare(cmd *exec.Cmd) {
	cmd.Dir = s.folder.Path
	cmd.Env = []string{"PATH=" + filepath.Dir(s.program) + ":/usr/bin:/bin", "HOME=" + s.folder.Path, "LC_ALL=C", "TZ=UTC"}
	s.account.Apply(cmd)
}

// Command is a program, or a shell, that runs as the account of the server in a folder of this account. The programs of the
// same Postgres are in its PATH, and connect to the server when they are not told otherwise. Close removes the folder.
func (s *Server) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	s.prepare(cmd)
	cmd.Env = append(cmd.Env, "PGHOST="+s.folder.Path, "PGPORT="+strconv.Itoa(s.port), "PGUSER="+superuser)
	return cmd
}

func (s *Server) data() string { return s.folder.File("data") }

// URL is the address of a database on the server's Unix socket.
func (s *Server) URL(database string) string {
	address := url.URL{Scheme: "postgres", User: url.User(superuser), Path: "/" + database}
	address.RawQuery = url.Values{
		"host": {s.folder.Path}, "port": {strconv.Itoa(s.port)}, "sslmode": {"disable"},
	}.Encode()
	return address.String()
}

// TCPAddr is host and port of a server that was started with TCP.
func (s *Server) TCPAddr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// TCPURL is the address by TCP of a database; at is the server's TCPAddr or that of a proxy in front of it.
func (s *Server) TCPURL(at, database string) string {
	address := url.URL{Scheme: "postgres", User: url.User(superuser), Host: at, Path: "/" + database}
	address.RawQuery = url.Values{"sslmode": {"disable"}}.Encode()
	return address.String()
}

// PID is the process of the server that runs or ran last, the parent of those of the connections.
func (s *Server) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process.PID()
}

// Stop shuts the server down: clients are disconnected and all data is written. Restart starts it again.
func (s *Server) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.end(syscall.SIGINT)
}

// Crash ends the server at once, as a power cut does: the next start recovers the commits. Restart starts it again.
func (s *Server) Crash() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.end(syscall.SIGQUIT)
}

// Pause makes the server hang: connections are accepted and stay open, without responses.
func (s *Server) Pause() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paused = true
	// The parent first, because it starts children.
	return errors.Join(s.process.Signal(syscall.SIGSTOP), s.process.SignalChildren(syscall.SIGSTOP))
}

// Resume ends a Pause.
func (s *Server) Resume() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.resume()
}

func (s *Server) resume() error {
	if !s.paused {
		return nil
	}
	s.paused = false
	return errors.Join(s.process.SignalChildren(syscall.SIGCONT), s.process.Signal(syscall.SIGCONT))
}

// Restart starts the server again at the same address with its data. A running server is stopped first.
func (s *Server) Restart(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.end(syscall.SIGINT); err != nil {
		return err
	}
	return s.start(ctx)
}

// Close ends the server and removes its data.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.end(syscall.SIGQUIT), s.folder.Remove())
}

func (s *Server) end(sig syscall.Signal) error {
	if s.process == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopBudget)
	defer cancel()
	// A paused process handles no signal but SIGKILL, which would leave its children running.
	return errors.Join(s.resume(), s.process.End(ctx, sig))
}

// exec runs statements, each in a transaction of its own: CREATE DATABASE and its relatives require that.
func (s *Server) exec(ctx context.Context, statements ...string) (err error) {
	conn, err := pgconn.Connect(ctx, s.URL("postgres"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	for _, statement := range statements {
		if _, err := conn.Exec(ctx, statement).ReadAll(); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}
