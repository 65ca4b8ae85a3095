package system

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/pkg/testkit/redistest"
)

// Stores are the one Postgres and the one Redis that all systems share. Each system has a database of its own.
type Stores struct {
	Env []string // further variables of every Prism process

	postgres   *pgtest.Server
	redis      *redistest.Server
	postmaster int // process id
	redisPID   int
	databases  atomic.Int64
}

// Open starts the stores. Postgres waits for its disk, and has the memory to keep its hot pages.
func Open(ctx context.Context) (*Stores, error) {
	pg, err := pgtest.Start(ctx, pgtest.Options{Fsync: true, Settings: map[string]string{
		"shared_buffers": "512MB", "max_wal_size": "4GB", "autovacuum": "on",
	}})
	if err != nil {
		return nil, err
	}
	s := &Stores{postgres: pg}
	if s.redis, err = redistest.Start(ctx, redistest.Options{}); err != nil {
		return nil, errors.Join(err, pg.Close())
	}
	if err := s.processIDs(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close ends both.
func (s *Stores) Close() error { return errors.Join(s.redis.Close(), s.postgres.Close()) }

func (s *Stores) processIDs(ctx context.Context) error {
	pid, err := SQL(ctx, s.postgres.URL("postgres"), `SELECT split_part(pg_read_file('postmaster.pid'), E'\n', 1)`)
	if err != nil {
		return err
	}
	if s.postmaster, err = strconv.Atoi(pid); err != nil {
		return err
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", strings.TrimPrefix(s.redis.URL(), "unix://"))
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("INFO server\r\n")); err != nil {
		return err
	}
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		if pid, found := strings.CutPrefix(lines.Text(), "process_id:"); found {
			s.redisPID, err = strconv.Atoi(pid)
			return err
		}
	}
	return fmt.Errorf("redis does not say its process id: %w", lines.Err())
}

// CPU is the processor time that Postgres, with all its processes, and Redis have used so far.
func (s *Stores) CPU() (postgres, redis time.Duration, err error) {
	postgres, err = treeCPU(s.postmaster)
	if err != nil {
		return 0, 0, err
	}
	redis, err = cpu(s.redisPID)
	return postgres, redis, err
}

// SQL runs statements with psql, each in a transaction of its own, and returns the output of the last one.
func SQL(ctx context.Context, url string, statements ...string) (string, error) {
	psql, err := exec.LookPath("psql")
	if err != nil {
		found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/psql")
		if len(found) == 0 {
			return "", errors.New("psql is not found; it comes with Postgres")
		}
		psql = found[len(found)-1]
	}
	args := []string{url, "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"}
	for _, statement := range statements {
		args = append(args, "-c", statement)
	}
	out, err := exec.CommandContext(ctx, psql, args...).Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		err = fmt.Errorf("psql: %w: %s", err, failed.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}
