// Package redistest runs a throwaway Redis for tests and injects faults into it.
package redistest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/freeport"
	"github.com/prism-results/prism/pkg/testkit/internal/proc"
)

const (
	startBudget = 20 * time.Second
	stopBudget  = 10 * time.Second
)

// Options of a server.
type Options struct {
	// TCP makes the server listen on a loopback port too, for a proxy to stand in front of.
	TCP bool
}

// Server is a Redis that keeps nothing on disk. Its address stays the same over restarts. Its methods may be called from
// several goroutines.
type Server struct {
	program string
	folder  *proc.Folder
	port    int

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
	s := &Server{program: program}
	if o.TCP {
		if s.port, err = freeport.Port(); err != nil {
			return nil, err
		}
	}
	if s.folder, err = proc.NewFolder(proc.Account{}); err != nil {
		return nil, err
	}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Server) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startBudget)
	defer cancel()
	cmd := exec.Command(s.program,
		"--port", strconv.Itoa(s.port), "--bind", "127.0.0.1", "--unixsocket", s.socket(), "--unixsocketperm", "700",
		"--save", "", "--appendonly", "no", "--daemonize", "no", "--dir", s.folder.Path, "--logfile", "")
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

// ping speaks the Redis protocol itself, so that this package needs no client.
func (s *Server) ping(ctx context.Context) error {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", s.socket())
	if err != nil {
		return err
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		return err
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return err
	}
	if line != "+PONG\r\n" {
		return fmt.Errorf("redis answered %q", line)
	}
	return nil
}

func (s *Server) socket() string { return s.folder.File("s") }

// URL is the server's address on its Unix socket.
func (s *Server) URL() string { return "unix://" + s.socket() }

// TCPAddr is host and port of a server that was started with TCP.
func (s *Server) TCPAddr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// TCPURL is the address by TCP of a server that was started with TCP.
func (s *Server) TCPURL() string { return "redis://" + s.TCPAddr() }

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
