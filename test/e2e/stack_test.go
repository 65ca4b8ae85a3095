package e2e

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/prism-results/prism/pkg/testkit/launch"
	"github.com/prism-results/prism/pkg/testkit/model"
)

// stack is a running Prism.
type stack struct {
	topology topology
	options  launch.Options
	model    *model.Model
	parts    []*launch.Service // in the order in which they start
	front    *launch.Service   // that clients call
	store    *launch.Service   // whose program has the operator's commands
	http     *http.Client

	databases []string // the URLs, home first; none of the standalone topology

	main  *client // the account that most cases use
	other *client // an account that shares nothing with main

	once fixtures
}

// startStack starts a new, empty stack of the topology and waits until it is ready.
func startStack(ctx context.Context, top topology, settings map[string]string) (*stack, error) {
	s, err := newStack(ctx, top, settings)
	if err != nil {
		return nil, err
	}
	s.http = &http.Client{
		Timeout:       3 * time.Minute,
		Transport:     &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: parallelism},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return s, launch.Start(ctx, s.parts...)
}

// private starts a stack of the same topology for one test, with an account in main.
func (s *stack) private(t *testing.T, settings map[string]string) *stack {
	t.Helper()
	own, err := startStack(t.Context(), s.topology, settings)
	if err != nil {
		t.Fatalf("the stack did not start: %v", err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			own.show(t, 40)
		}
		if err := own.stop(); err != nil {
			t.Errorf("the stack did not stop: %v", err)
		}
	})
	own.main = own.ownAccount(t)
	return own
}

// stop stops the parts, those that call others first.
func (s *stack) stop() error {
	defer s.http.CloseIdleConnections()
	return launch.Stop(s.parts...)
}

var accounts atomic.Int64

// account makes an account with a key, as an operator does.
func (s *stack) account(ctx context.Context) (*client, error) {
	name := fmt.Sprintf("account-%d", accounts.Add(1))
	key, err := s.store.Account(ctx, name)
	if err != nil {
		return nil, err
	}
	if apiKeyPattern.FindString(key) != key || key == "" {
		return nil, fmt.Errorf("key create printed %d bytes that are not a key alone", len(key))
	}
	return &client{stack: s, key: key, account: name}, nil
}

// ownAccount makes an account for one test that counts or lists.
func (s *stack) ownAccount(t *testing.T) *client {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startBudget)
	defer cancel()
	c, err := s.account(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// show logs the last lines that the parts have printed.
func (s *stack) show(t *testing.T, lines int) {
	t.Helper()
	for _, p := range s.parts {
		t.Logf("%s printed:\n%s", p.Name, launch.Tail(p.Process(), lines))
	}
}

// showRequest logs the lines about one request.
func (s *stack) showRequest(t *testing.T, requestID string) {
	t.Helper()
	var b bytes.Buffer
	for _, p := range s.parts {
		for _, line := range launch.Lines(p.Process()) {
			if strings.Contains(line, requestID) {
				fmt.Fprintf(&b, "%s: %s\n", p.Name, line)
			}
		}
	}
	if b.Len() > 0 {
		t.Logf("logs of %s:\n%s", requestID, b.String())
	}
}

// part finds a part by name.
func (s *stack) part(t *testing.T, name string) *launch.Service {
	t.Helper()
	for _, p := range s.parts {
		if p.Name == name {
			return p
		}
	}
	t.Fatalf("no part %s", name)
	return nil
}

// connectTo connects to the database that has a result.
func (s *stack) connectTo(t *testing.T, result string) *pgx.Conn {
	t.Helper()
	for _, url := range s.databases {
		conn, err := pgx.Connect(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
		has := false
		if err := conn.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM results WHERE id = $1)", result).Scan(&has); err != nil {
			t.Fatal(err)
		}
		if has {
			return conn
		}
	}
	t.Fatalf("no database has the result %s", result)
	return nil
}
