package postgres_test

import (
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
)

// statements counts the statements that change something, on their way to Postgres.
type statements struct {
	at       int // the number of one, the first of which is 1; 0: none
	executed bool
	then     func() (goOn bool) // is called before that one is sent, or after it

	mu    sync.Mutex
	seen  []string
	locks int // how often an advisory lock was asked for
}

func (s *statements) counted() (locks, changes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.locks, len(s.seen)
}

// through is the URL of a proxy to a database.
func (s *statements) through(t *testing.T, url string) string {
	t.Helper()
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	link, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var passing sync.WaitGroup
	t.Cleanup(func() {
		_ = link.Close()
		passing.Wait()
	})
	socket := filepath.Join(config.Host, fmt.Sprintf(".s.PGSQL.%d", config.Port))
	passing.Go(func() {
		for {
			near, err := link.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("unix", socket)
			if err != nil {
				t.Error(err)
				_ = near.Close()
				return
			}
			passing.Go(func() { _, _ = io.Copy(near, far); _ = near.Close() })
			passing.Go(func() { s.pass(near, far); _ = far.Close() })
		}
	})
	return fmt.Sprintf("postgres://%s@%s/%s?sslmode=disable", config.User, link.Addr(), config.Database)
}

// pass sends on what comes from near until it ends.
func (s *statements) pass(near, far net.Conn) {
	from, to := pgproto3.NewBackend(near, near), pgproto3.NewFrontend(far, far)
	begin, err := from.ReceiveStartupMessage()
	if err != nil {
		return
	}
	to.Send(begin)
	prepared := map[string]string{}
	for to.Flush() == nil {
		message, err := from.Receive()
		if err != nil {
			return
		}
		text := ""
		switch m := message.(type) {
		case *pgproto3.Parse:
			prepared[m.Name] = m.Query
		case *pgproto3.Bind:
			text = prepared[m.PreparedStatement]
		case *pgproto3.Query:
			text = m.String
		}
		here := s.counts(text)
		if here && !s.executed && !s.then() {
			return
		}
		to.Send(message)
		if here && s.executed {
			_ = to.Flush()
			if _, ok := message.(*pgproto3.Bind); ok {
				to.Send(&pgproto3.Execute{})
				to.Send(&pgproto3.Sync{})
				_ = to.Flush()
			}
			s.then()
			return
		}
	}
}

// counts adds a statement to the count, and tells whether it is the one to stop at.
func (s *statements) counts(text string) bool {
	text = strings.TrimSpace(text)
	s.mu.Lock()
	defer s.mu.Unlock()
	if strings.Contains(text, "pg_try_advisory_lock") {
		s.locks++
	}
	if text == "" || strings.HasPrefix(text, "--") || strings.HasPrefix(text, "SELECT ") || strings.HasPrefix(text, "show ") {
		return false
	}
	s.seen = append(s.seen, text)
	return len(s.seen) == s.at
}
