package system

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/prism-results/prism/pkg/testkit/program"
)

// Spread starts Prism for several accounts, which are spread evenly over several databases: of one process, or of three. With one database it
// is a Prism without a file of databases. Each account has the prisms and some results of each; the systems differ only in their account.
func (s *Stores) Spread(ctx context.Context, bin, dir, modelURL string, three bool, databases, accounts int, prisms ...Prism) ([]*System, error) {
	env, err := s.makeDatabases(ctx, filepath.Join(dir, fmt.Sprintf("databases-%d.yaml", databases)), databases)
	if err != nil {
		return nil, err
	}
	started, err := s.startOver(ctx, bin, env, modelURL, three)
	if err != nil {
		return nil, err
	}
	var systems []*System
	for n := range accounts {
		system, err := started.account(ctx, bin, env, fmt.Sprintf("account-%d", n), prisms...)
		if err != nil {
			started.Close()
			return nil, err
		}
		systems = append(systems, system)
	}
	return systems, nil
}

// makeDatabases makes databases, and returns the settings of Prism for them. file is written for several.
func (s *Stores) makeDatabases(ctx context.Context, file string, n int) (env map[string]string, err error) {
	var text strings.Builder
	for i := range n {
		name, err := s.postgres.CreateDatabase(ctx, "")
		if err != nil {
			return nil, err
		}
		switch {
		case n == 1:
			return map[string]string{"PRISM_DATABASE_URL": s.postgres.URL(name)}, nil
		case i == 0:
			fmt.Fprintf(&text, "home: {url: %q}\ndatabases:\n", s.postgres.URL(name))
		default:
			fmt.Fprintf(&text, "  d%d: {url: %q}\n", i, s.postgres.URL(name))
		}
	}
	return map[string]string{"PRISM_DATABASES_FILE": file}, os.WriteFile(file, []byte(text.String()), 0o600)
}

func (s *Stores) startOver(ctx context.Context, bin string, store map[string]string, modelURL string, three bool) (*System, error) {
	if _, err := program.Run(ctx, program.Command{Path: filepath.Join(bin, "prism"), Args: []string{"migrate"}, Env: store}); err != nil {
		return nil, err
	}
	if three {
		system := &System{Name: ThreeProcesses, stores: s}
		return system, system.startThree(ctx, bin, store, modelURL)
	}
	env := modelSettings(modelURL)
	maps.Copy(env, store)
	env["PRISM_MAX_IN_FLIGHT"] = maxInFlight
	p, err := startPrism(ctx, filepath.Join(bin, "prism"), env, s.Env)
	if err != nil {
		return nil, err
	}
	system := &System{Name: OneProcess, stores: s}
	system.add(p)
	return system, nil
}

// account is the system for a new account with a name, which has the prisms and some results of each. store has the settings of the databases.
func (s *System) account(ctx context.Context, bin string, store map[string]string, name string, prisms ...Prism) (*System, error) {
	other := *s
	for _, args := range [][]string{{"account", "create", name}, {"key", "create", "--account", name}} {
		var err error
		if other.Key, err = program.Run(ctx, program.Command{Path: filepath.Join(bin, "prism"), Args: args, Env: store}); err != nil {
			return nil, err
		}
	}
	other.IDs = make([][]string, len(prisms))
	for i, p := range prisms {
		id, err := other.define(ctx, p)
		for range neighbours {
			if err != nil {
				return nil, err
			}
			other.IDs[i] = append(other.IDs[i], id)
			id, err = other.Create(ctx, p)
		}
		if err != nil {
			return nil, err
		}
	}
	return &other, nil
}

// Transactions is how many transactions Postgres has ended, of all databases.
func (s *System) Transactions(ctx context.Context) (float64, error) {
	text, err := SQL(ctx, s.stores.postgres.URL("postgres"), `SELECT sum(xact_commit + xact_rollback) FROM pg_stat_database`)
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(text, 64)
}
