// Package redistest runs a throwaway Redis for tests and injects faults into it.
package redistest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/freeport"
	"github.com/prism-results/prism/pkg/testkit/internal/proc"
)

const (
	startBudget = 2 * time.Minute
	stopBudget  = time.Minute
)

// Options of a server.
type Options struct {
	// TCP makes the server listen on a loopback port too, for a proxy to stand in front of.
	TCP bool

	master  string   // host:port of the server that this one is a replica of
	config  []string // the lines of the configuration of a Sentinel
	cluster bool     // the server is a node of a cluster
}

// Server is a Redis that keeps nothing on disk. Its address stays the same over restarts. Its methods may be called from
// several goroutines.
type Server struct {
	options Options
	program string
	folder  *proc.Folder
	port    int
	bus     int // the port of a node for the others

	mu      sync.Mutex
	process *proc.Process // the running one or the last one
}

// New starts a server that ends with the test.
func New(t testing.TB, o Options) *Server {
	t.Helper()
	s, err := Start(t.Context(), o)
	if err != nil {
		t.Fatalf("redistest: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("redistest: %v", err)
		}
	})
	return s
}

// Start starts a server and returns when it responds. Close ends it.
func Start(ctx context.Context, o Options) (*Server, error) {
	program, err := proc.Find("redis-server", "/usr/lib/redis/*/bin")
	if err != nil {
		return nil, err
	}
	s := &Server{options: o, program: program}
	if o.TCP {
		if s.port, err = freeport.Port(); err != nil {
			return nil, err
		}
	}
	if o.cluster {
		if s.bus, err = freeport.Port(); err != nil {
			return nil, err
		}
	}
	if s.folder, err = proc.NewFolder(proc.Account{}); err != nil {
		return nil, err
	}
	if err := s.configure(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Server) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startBudget)
	defer cancel()
	cmd := exec.Command(s.program, s.arguments()...)
	cmd.Dir = s.folder.Path
	process, err := proc.StartLogged(cmd, s.folder.File("redis.log"), syscall.SIGKILL)
	if err != nil {
		return err
	}
	s.process = process
	if err := process.Await(ctx, s.ping); err != nil {
		return errors.Join(err, s.end(syscall.SIGKILL))
	}
	return nil
}

func (s *Server) arguments() []string {
	args := []string{
		"--port", strconv.Itoa(s.port), "--bind", "127.0.0.1", "--unixsocket", s.socket(), "--unixsocketperm", "700",
		"--daemonize", "no", "--dir", s.folder.Path, "--logfile", "",
	}
	if s.options.config != nil {
		return append([]string{s.sentinelConfig(), "--sentinel"}, args...)
	}
	args = append(args, "--save", "", "--appendonly", "no", "--repl-diskless-sync-delay", "0")
	if s.options.cluster {
		args = append(args, "--cluster-enabled", "yes", "--cluster-port", strconv.Itoa(s.bus),
			"--cluster-node-timeout", strconv.Itoa(int(downAfter.Milliseconds())))
	}
	if host, port, err := net.SplitHostPort(s.options.master); err == nil {
		args = append(args, "--replicaof", host, port)
	}
	return args
}

// ping speaks the Redis protocol itself, so that this package needs no client.
func (s *Server) ping(ctx context.Context) error {
	line, err := s.ask(ctx, "PING")
	if err == nil && line != "+PONG" {
		err = fmt.Errorf("redis answered %q", line)
	}
	return err
}

// ask sends a command and returns the text of the response.
func (s *Server) ask(ctx context.Context, command string) (string, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", s.socket())
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	if _, err := conn.Write([]byte(command + "\r\n")); err != nil {
		return "", err
	}
	r := bufio.NewReader(conn)
	line, err := r.ReadString('\n')
	line = strings.TrimRight(line, "\r\n")
	if size, ok := strings.CutPrefix(line, "$"); ok {
		n, err := strconv.Atoi(size)
		if err != nil {
			return "", err
		}
		text := make([]byte, max(n, 0))
		_, err = io.ReadFull(r, text)
		return string(text), err
	}
	return line, err
}

func (s *Server) socket() string { return s.folder.File("s") }

// URL is the server's address on its Unix socket.
func (s *Server) URL() string { return "unix://" + s.socket() }

// TCPAddr is host and port of a server that was started with TCP.
func (s *Server) TCPAddr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// TCPURL is the address by TCP of a server that was started with TCP.
func (s *Server) TCPURL() string { return "redis://" + s.TCPAddr() }

// PID is the process of the server that runs or ran last.
func (s *Server) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process.PID()
}

// Stop shuts the server down. Restart starts it again.
func (s *Server) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	// A paused process handles only SIGCONT and SIGKILL.
	return errors.Join(s.process.Signal(syscall.SIGCONT), s.end(syscall.SIGTERM))
}

// Kill ends the server at once, as kill -9 does. Restart starts it again.
func (s *Server) Kill() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.end(syscall.SIGKILL)
}

// Pause makes the server hang: connections stay open, without responses.
func (s *Server) Pause() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process.Signal(syscall.SIGSTOP)
}

// Resume ends a Pause.
func (s *Server) Resume() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process.Signal(syscall.SIGCONT)
}

// Restart starts the server again at the same address, without data. A running server is killed first.
func (s *Server) Restart(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.end(syscall.SIGKILL); err != nil {
		return err
	}
	return s.start(ctx)
}

// Close ends the server and removes its folder.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.end(syscall.SIGKILL), s.folder.Remove())
}

func (s *Server) end(sig syscall.Signal) error {
	if s.process == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopBudget)
	defer cancel()
	return s.process.End(ctx, sig)
}
