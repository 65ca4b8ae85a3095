package results

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/access"
	"github.com/prism-results/prism/services/results/internal/directory"
	"github.com/prism-results/prism/services/results/internal/moves"
	"github.com/prism-results/prism/services/results/internal/placed"
	"github.com/prism-results/prism/services/results/internal/postgres"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store"
)

// several is the placement of accounts in several databases, by the directory that home has.
type several struct {
	directory *directory.Cached
	moves     *moves.Moves
	databases []*database // home comes first
	log       *slog.Logger
	file      *openedFile // nil: the databases are not of a file
}

// Database is one of several databases.
type Database struct {
	Name string
	Config
}

// leastConns is how many connections a database has at least: for calls, for what works beside them, and for saves.
const leastConns = 8

// openSeveral opens databases, of which the first is home. They share the connections that each would have alone.
func openSeveral(ctx context.Context, databases []Database, d Deps) (*Service, error) {
	p, err := openAll(ctx, databases, d)
	if err == nil {
		err = p.serve()
	}
	if err != nil {
		for _, opened := range p.databases {
			opened.Close()
		}
		return nil, err
	}
	return newService(p, d), nil
}

// openAll opens databases. With an error it returns those that are open.
func openAll(ctx context.Context, databases []Database, d Deps) (*several, error) {
	p := &several{log: d.Log, file: d.file, moves: moves.New(d.Log)}
	for i, in := range databases {
		own := d
		own.Log = d.Log.With("database", in.Name)
		in.MaxConns = share(cmp.Or(in.MaxConns, postgres.DefaultMaxConns), len(databases))
		db, err := openDatabase(ctx, in.Name, in.Config, own)
		if err != nil {
			return p, err
		}
		p.databases = append(p.databases, db)
		usable := func() error { return p.usable(db) }
		db.store = sqlstore.New(p.moves.Add(db.name, db.own, db.now(db.deps), usable))
		db.learn = func(ctx context.Context) error { return p.learn(ctx, db) }
		db.repair = func(ctx context.Context) (directory.Learned, error) { return p.repair(ctx, db) }
		if i == 0 {
			d.home = db
		}
	}
	return p, nil
}

// share is how many of a process's connections are for one of so many databases.
func share(conns, databases int) int { return min(conns, max(leastConns, conns/databases)) }

// serve has each database serve its accounts, and tell home what home knows of them too.
func (p *several) serve() error {
	p.directory = directory.NewCached(directory.SQL{Database: p.home().own}, directory.KeptIn(debug.SetMemoryLimit(-1)))
	p.moves.Directory = p.directory
	accounts := &placed.Accounts{Directory: p.directory, Home: p.home().own, Moves: p.moves}
	for _, db := range p.databases {
		accounts.Databases = append(accounts.Databases, placed.Database{Name: db.name, Store: db.store, Terms: db.terms})
	}
	for i, db := range p.databases {
		if err := db.serve(placed.Local{Statements: db.store, Accounts: accounts, Home: i == 0}, len(p.databases)); err != nil {
			return err
		}
	}
	return nil
}

// begin has the directory know what home had as the only database.
func (p *several) begin(ctx context.Context) error { return p.learn(ctx, p.home()) }

// learn tells the directory what a database has, unless it knows the newest of that: home may have been restored.
func (p *several) learn(ctx context.Context, db *database) error {
	source := directory.Source{Name: db.name, Database: db.store.Database}
	if known, err := p.directory.Knows(ctx, source); err != nil || known {
		return err
	}
	learned, err := p.directory.Learn(ctx, source)
	if err != nil {
		return err
	}
	db.log.InfoContext(ctx, "the directory has learned what the database has", "accounts", learned.Accounts, "keys", learned.Keys)
	if n := len(learned.Findings); n > 0 {
		db.log.WarnContext(ctx, "accounts of the database are not in the directory as they are here: see prism databases repair", "accounts", n)
	}
	return nil
}

// repair tells the directory what a database has, and finds what the database lacks.
func (p *several) repair(ctx context.Context, db *database) (directory.Learned, error) {
	source := directory.Source{Name: db.name, Database: db.store.Database}
	learned, err := p.directory.Learn(ctx, source)
	if err != nil {
		return learned, err
	}
	missing, err := p.directory.Missing(ctx, source)
	learned.Findings = append(learned.Findings, missing...)
	return learned, err
}

func (p *several) counts(ctx context.Context) (map[string]int64, error) {
	return p.directory.CountAccounts(ctx)
}

// run fills the directory, and follows the file and accounts that move, until ctx ends.
func (p *several) run(ctx context.Context) {
	var beside sync.WaitGroup
	defer beside.Wait()
	beside.Go(func() { p.moves.Run(ctx) })
	beside.Go(func() {
		if read, err := p.directory.Fill(ctx); err != nil {
			p.log.WarnContext(ctx, "the directory was read in part: other keys are looked up when they are used", "keys", read, "error", err)
		}
	})
	if p.file != nil {
		p.follow(ctx)
	}
}

func (p *several) ofKey(ctx context.Context, key contract.KeyDigest) (context.Context, *database, error) {
	place, err := p.directory.OfKey(ctx, key)
	return p.at(ctx, place, err)
}

func (p *several) ofAccount(ctx context.Context, account prism.AccountID) (context.Context, *database, error) {
	place, err := p.directory.OfAccount(ctx, account)
	return p.at(ctx, place, err)
}

func (p *several) home() *database { return p.databases[0] }

func (p *several) all() []*database { return p.databases }

// at is the database of a place, and the context of a call of its account. What the directory does not know is not in home either, which says so.
func (p *several) at(ctx context.Context, place directory.Place, err error) (context.Context, *database, error) {
	switch {
	case err != nil:
		return ctx, nil, access.Translate(err, nil)
	case place.Account.IsZero():
		return ctx, p.home(), nil
	}
	for _, db := range p.databases {
		if db.name == place.Database {
			return p.moves.Bind(ctx, place.Account), db, access.Translate(p.usable(db), nil)
		}
	}
	return ctx, nil, fmt.Errorf("%w: the database %q of account %s is none of this process's", contract.ErrUnavailable, place.Database, place.Account)
}

// usable is an error while the accounts of a database are refused.
func (p *several) usable(db *database) error {
	switch {
	case db == p.home() || db.migrated.Load() && !db.revoking.Revived():
		return nil
	case db.migrated.Load():
		return fmt.Errorf("%w: the database %q was restored, and revokes what was revoked since", store.ErrUnavailable, db.name)
	}
	return fmt.Errorf("%w: the database %q is not migrated yet", store.ErrUnavailable, db.name)
}
