package system

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/prism-results/prism/pkg/testkit/launch"
	"github.com/prism-results/prism/pkg/testkit/pgtest"
)

// home is the name of the database of a system that has one.
const home = "home"

// Database is a database in a Postgres of its own.
type Database struct {
	Name     string
	Postgres *pgtest.Server // the first primary
	Standby  *pgtest.Server

	primary  *pgtest.Server
	servers  []*pgtest.Server
	database string
	links    []*Link // of the results services
}

func newDatabase(ctx context.Context, name string, o pgtest.Options) (d *Database, err error) {
	d = &Database{Name: name}
	if d.Postgres, err = pgtest.Start(ctx, o); err != nil {
		return d, err
	}
	d.primary, d.servers = d.Postgres, []*pgtest.Server{d.Postgres}
	d.database, err = d.Postgres.CreateDatabase(ctx, "")
	return d, err
}

// Primary is the Postgres that has the database now.
func (d *Database) Primary() *pgtest.Server { return d.primary }

// DatabaseURL is the URL of the database in the primary, without a link.
func (d *Database) DatabaseURL() string { return d.primary.URL(d.database) }

// AddStandby gives the primary a synchronous standby.
func (d *Database) AddStandby(ctx context.Context) error {
	standby, err := d.primary.Standby(ctx)
	if err != nil {
		return err
	}
	d.Standby, d.servers = standby, append(d.servers, standby)
	return nil
}

// FailOver promotes the standby and moves the address of the database to it. Connections to the old primary end.
func (d *Database) FailOver(ctx context.Context) error {
	for _, l := range d.links {
		l.Refuse()
	}
	errs := []error{d.Standby.Promote(ctx)}
	d.primary = d.Standby
	for _, l := range d.links {
		l.back.aim("unix:" + postgresSocket(d.DatabaseURL()))
		errs = append(errs, l.Accept())
	}
	return errors.Join(errs...)
}

func (d *Database) close() (errs []error) {
	for _, server := range d.servers {
		errs = append(errs, server.Close())
	}
	return errs
}

// databases starts as many as are configured.
func (s *System) databases(ctx context.Context) error {
	for i := range 1 + s.config.Databases {
		name := home
		if i > 0 {
			name = string(rune('a' + i))
		}
		// Postgres is durable as in production, since its crash is one of the faults.
		o := pgtest.Options{Fsync: !s.config.Forgetful}
		if s.config.Logical {
			o.Settings = map[string]string{
				"wal_level": "logical", "max_wal_senders": "50", "max_replication_slots": "50", "max_worker_processes": "50",
				"max_logical_replication_workers": "40", "wal_retrieve_retry_interval": "100ms",
			}
		}
		d, err := newDatabase(ctx, name, o)
		s.Databases = append(s.Databases, d)
		if err != nil {
			return err
		}
	}
	s.Database = s.Databases[0]
	if s.config.Standby {
		return s.AddStandby(ctx)
	}
	return nil
}

// where is the setting that tells a program where the databases are. url is the URL of each.
func (s *System) where(program string, url func(*Database) string) (map[string]string, error) {
	if len(s.Databases) == 1 {
		return map[string]string{"PRISM_DATABASE_URL": url(s.Database)}, nil
	}
	var text strings.Builder
	for i, d := range s.Databases {
		switch i {
		case 0:
			fmt.Fprintf(&text, "home: {url: %q}\ndatabases:\n", url(d))
		default:
			fmt.Fprintf(&text, "  %s: {url: %q}\n", d.Name, url(d))
		}
	}
	path := filepath.Join(s.dir, program+".yaml")
	// Another command may read the file at this moment.
	next, err := os.CreateTemp(s.dir, program)
	if err != nil {
		return nil, err
	}
	_, err = next.WriteString(text.String())
	err = errors.Join(err, next.Close(), os.Rename(next.Name(), path))
	return map[string]string{"PRISM_DATABASES_FILE": path}, err
}

// linked is the setting of a results service, with a link to each database.
func (s *System) linked(program string) (map[string]string, error) {
	addresses := map[*Database]string{}
	for _, d := range s.Databases {
		name := program + " to Postgres"
		if d != s.Database {
			name += " of " + d.Name
		}
		l, err := s.link(name, "unix:"+postgresSocket(d.DatabaseURL()))
		if err != nil {
			return nil, err
		}
		addresses[d], d.links = l.Addr(), append(d.links, l)
	}
	return s.where(program, func(d *Database) string { return d.Postgres.TCPURL(addresses[d], d.database) })
}

// commands has the operator's commands, and the databases without a link, wherever they are now.
func (s *System) commands(ctx context.Context) (*launch.Service, error) {
	env, err := s.where("operator", (*Database).DatabaseURL)
	if err != nil {
		return nil, err
	}
	env["PRISM_RESULTS_TOKEN"] = launch.ResultsToken
	return s.options.Service(ctx, launch.Results, env)
}
