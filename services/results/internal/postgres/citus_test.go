//go:build citus

package postgres_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/prism-results/prism/services/results/internal/postgres"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/storetest"
)

// The suite on Citus. PRISM_TEST_CITUS_URL is that of a database on the coordinator, which knows its workers.
func TestTheStorePassesTheSuiteOnCitus(t *testing.T) {
	t.Parallel()
	url := os.Getenv("PRISM_TEST_CITUS_URL")
	if url == "" {
		t.Fatal("PRISM_TEST_CITUS_URL is empty: it is the URL of a database on a coordinator of Citus that has workers")
	}
	cluster := newCluster(t, url)
	storetest.Run(t, func(t *testing.T) sqlstore.Store {
		t.Helper()
		url := cluster.database(t)
		return deleting{openCitus(t, url), connect(t, url)}
	})
}

func openCitus(t *testing.T, url string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), postgres.Config{URL: url, Layout: postgres.Citus, StatementWait: time.Minute}, postgres.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// cluster makes databases on the nodes of Citus.
type cluster struct {
	t     *testing.T
	nodes []*pgx.ConnConfig // the coordinator comes first
	made  atomic.Int64
	mu    sync.Mutex
	free  []string
	keep  bool
}

func newCluster(t *testing.T, url string) *cluster {
	t.Helper()
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{t: t, nodes: []*pgx.ConnConfig{config}}
	conn := connect(t, url)
	rows, err := conn.Query(t.Context(), "SELECT nodename, nodeport FROM pg_dist_node WHERE noderole = 'primary' AND groupid <> 0 ORDER BY groupid")
	if err != nil {
		t.Fatal(err)
	}
	type node struct {
		Host string
		Port int32
	}
	workers, err := pgx.CollectRows(rows, pgx.RowToStructByPos[node])
	if err != nil || len(workers) < 2 {
		t.Fatalf("%d workers, want 2 or more: %v", len(workers), err)
	}
	for _, w := range workers {
		worker := config.Copy()
		worker.Host, worker.Port, worker.Fallbacks = w.Host, uint16(w.Port), nil
		c.nodes = append(c.nodes, worker)
	}
	return c
}

func (c *cluster) exec(ctx context.Context, on *pgx.ConnConfig, database string, statements ...string) error {
	on = on.Copy()
	if database != "" {
		on.Database = database
	}
	conn, err := pgx.ConnectConfig(ctx, on)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	for _, s := range statements {
		if _, err := conn.Exec(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}

// database is the URL of an empty one.
func (c *cluster) database(t *testing.T) string {
	t.Helper()
	c.mu.Lock()
	url := ""
	if len(c.free) > 0 {
		url, c.free = c.free[0], c.free[1:]
	}
	c.mu.Unlock()
	if url == "" {
		url = c.makeDatabase(t)
	}
	t.Cleanup(func() {
		if err := c.empty(context.WithoutCancel(t.Context()), url); err != nil {
			t.Error(err)
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.free = append(c.free, url)
	})
	return url
}

func (c *cluster) makeDatabase(t *testing.T) string {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	name := fmt.Sprintf("prism_test_%d", c.made.Add(1))
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, node := range c.nodes {
		must(c.exec(ctx, node, "", "SET citus.enable_create_database_propagation = off", "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)", "CREATE DATABASE "+name))
		must(c.exec(ctx, node, name, "CREATE EXTENSION citus"))
	}
	join := []string{fmt.Sprintf("SELECT citus_set_coordinator_host('%s', %d)", c.nodes[0].Host, c.nodes[0].Port)}
	for _, w := range c.nodes[1:] {
		join = append(join, fmt.Sprintf("SELECT citus_add_node('%s', %d)", w.Host, w.Port))
	}
	must(c.exec(ctx, c.nodes[0], name, append([]string{"SET citus.node_connection_timeout = 120000"}, join...)...))
	url := fmt.Sprintf("postgres://%s@%s:%d/%s?sslmode=disable", c.nodes[0].User, c.nodes[0].Host, c.nodes[0].Port, name)
	must(postgres.Migrate(ctx, url))
	for range 2 { // it can be repeated
		must(postgres.Auth{}.Distribute(ctx, url))
	}
	if c.keep {
		return url
	}
	c.t.Cleanup(func() {
		for _, node := range c.nodes {
			if err := c.exec(ctx, node, "", "SET citus.enable_create_database_propagation = off", "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); err != nil {
				c.t.Error(err)
			}
		}
	})
	return url
}

const filledTables = `SELECT c.relname::text FROM pg_class c JOIN pg_dist_partition d ON d.logicalrelid = c.oid
WHERE c.relname <> 'goose_db_version'`

func (c *cluster) empty(ctx context.Context, url string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	rows, err := conn.Query(ctx, filledTables)
	if err != nil {
		return err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	var filled []string
	for _, name := range names {
		var is bool
		if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM "+name+")").Scan(&is); err != nil {
			return err
		}
		if is {
			filled = append(filled, name)
		}
	}
	if len(filled) == 0 {
		return nil
	}
	_, err = conn.Exec(ctx, "TRUNCATE "+strings.Join(filled, ", ")+" CASCADE")
	return err
}
