package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/prism-results/prism/pkg/testkit/freeport"
	"github.com/prism-results/prism/pkg/testkit/internal/proc"
)

const (
	standbyName  = "standby"
	standbyEvery = 5 * time.Millisecond
)

// Standby copies the running server and starts the copy as the synchronous standby of the server. From then on a commit of
// the server waits until the standby has the commit, unless synchronous_commit is off or local. Pause, Stop and Crash take
// the standby away, and Promote makes it a primary. The caller closes the standby.
func (s *Server) Standby(ctx context.Context) (*Server, error) {
	ctx, cancel := context.WithTimeout(ctx, startBudget)
	defer cancel()
	standby := &Server{program: s.program, account: s.account, options: s.options, port: defaultPort}
	var err error
	if s.options.TCP {
		if standby.port, err = freeport.Port(); err != nil {
			return nil, err
		}
	}
	if standby.folder, err = proc.NewFolder(s.account); err != nil {
		return nil, err
	}
	if err = standby.copy(ctx, s); err == nil {
		err = standby.start(ctx)
	}
	if err == nil {
		err = s.replicate(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, standby.Close())
	}
	return standby, nil
}

// copy makes the data of a standby from a running primary.
func (s *Server) copy(ctx context.Context, primary *Server) error {
	program := filepath.Join(filepath.Dir(s.program), "pg_basebackup")
	address := fmt.Sprintf("host=%s port=%s user=%s application_name=%s",
		primary.folder.Path, strconv.Itoa(primary.port), superuser, standbyName)
	cmd := exec.CommandContext(ctx, program, "--pgdata", s.data(), "--dbname", address, "--write-recovery-conf",
		"--checkpoint", "fast", "--wal-method", "stream", "--no-sync")
	s.prepare(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", program, err, out)
	}
	return nil
}

// replicate makes the standby synchronous and waits until it is.
func (s *Server) replicate(ctx context.Context) error {
	if err := s.Exec(ctx, "ALTER SYSTEM SET synchronous_standby_names = "+quote(standbyName), "SELECT pg_reload_conf()"); err != nil {
		return err
	}
	synchronous := func(ctx context.Context) error {
		return s.Exec(ctx, "SELECT 1 / count(*) FROM pg_stat_replication WHERE sync_state = 'sync'")
	}
	return s.process.Await(ctx, synchronous)
}

// Promote makes a standby a primary, and returns when it takes writes.
func (s *Server) Promote(ctx context.Context) error { return s.Exec(ctx, "SELECT pg_promote()") }

// Demote makes the server refuse writes, as a primary does that became a standby. It ends no connection.
func (s *Server) Demote(ctx context.Context) error {
	return s.Exec(ctx, "ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()")
}

// Exec runs statements in the database postgres, each in a transaction of its own.
func (s *Server) Exec(ctx context.Context, statements ...string) error {
	return s.exec(ctx, statements...)
}
