package results

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/prism-results/prism/services/results/internal/databasesfile"
)

// openedFile is a file of databases, and what it had when they were opened.
type openedFile struct {
	*databasesfile.Source
	opened []databasesfile.Database
}

// openDatabasesFile opens the databases of a file. What it says of new accounts, and its secrets, are used as they change (spec: databases-file).
func openDatabasesFile(ctx context.Context, cfg Config, d Deps) (*Service, error) {
	file, err := databasesfile.Open(cfg.DatabasesFile, d.Log)
	if err != nil {
		return nil, err
	}
	d.file = &openedFile{file, file.Databases()}
	var databases []Database
	for _, in := range d.file.opened {
		own := cfg
		own.DatabasesFile = ""
		if err := own.placeIn(file, in); err != nil {
			return nil, fmt.Errorf("PRISM_DATABASES_FILE: %s: %w", in.Name, err)
		}
		databases = append(databases, Database{Name: in.Name, Config: own})
	}
	if d.Metrics != nil {
		if err := d.Metrics.Register(file); err != nil {
			return nil, err
		}
	}
	return openSeveral(ctx, databases, d)
}

// placeIn sets where a database of a file is.
func (c *Config) placeIn(file *databasesfile.Source, in databasesfile.Database) (err error) {
	c.DatabaseSecrets = DatabaseSecrets{URLFile: in.URLFile, PasswordFile: in.PasswordFile, Kind: in.Auth}
	if in.URLFile == "" {
		c.DatabaseURL = in.URL
		if c.url, err = file.URL(in.Name); err != nil {
			return err
		}
	}
	c.direct = func() string {
		now, _ := file.Named(in.Name)
		return now.DirectURL
	}
	c.terms = func() (accepting bool, weight int) {
		now, ok := file.Named(in.Name)
		if !ok {
			return false, in.Weight // a database that is to be removed gets no more
		}
		return now.Accepting, now.Weight
	}
	return nil
}

// check is an error if accounts are in a database that the file does not have: they would be away until somebody notices.
func (p *several) check(ctx context.Context) error {
	counts, err := p.directory.CountAccounts(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if !slices.ContainsFunc(p.databases, func(db *database) bool { return db.name == name }) {
			errs = append(errs, fmt.Errorf("PRISM_DATABASES_FILE: has no database %q, where %d accounts are: put it back, with accepting: false if it is to have no more",
				name, counts[name]))
		}
	}
	return errors.Join(errs...)
}

// fileInterval is how often follow looks at the file.
const fileInterval = time.Second

// follow logs what the file has that is used only after a restart, until ctx ends.
func (p *several) follow(ctx context.Context) {
	tick := time.NewTicker(fileInterval)
	defer tick.Stop()
	logged := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		waits := changesOf(p.file.opened, p.file.Databases())
		p.file.Restarts(len(waits) > 0)
		text := strings.Join(waits, "; ")
		if text != "" && text != logged {
			p.log.WarnContext(ctx, "the file of databases has changes that are used after a restart", "changes", text, "accounts", p.removed(ctx))
		}
		logged = text
	}
}

// changesOf is what is different in the databases of a file and needs a restart: connections are opened once.
func changesOf(opened, now []databasesfile.Database) (waits []string) {
	for _, d := range opened {
		i := slices.IndexFunc(now, func(n databasesfile.Database) bool { return n.Name == d.Name })
		switch {
		case i < 0:
			waits = append(waits, d.Name+" is removed, and stays in use without new accounts")
		case now[i].Auth != d.Auth || now[i].URLFile != d.URLFile || now[i].PasswordFile != d.PasswordFile:
			waits = append(waits, d.Name+" has its credentials from elsewhere")
		}
	}
	for _, n := range now {
		if !slices.ContainsFunc(opened, func(d databasesfile.Database) bool { return n.Name == d.Name }) {
			waits = append(waits, n.Name+" is new")
		}
	}
	return waits
}

// removed is how many accounts are in databases that the file does not have any more, or -1 if home does not tell.
func (p *several) removed(ctx context.Context) (accounts int64) {
	counts, err := p.directory.CountAccounts(ctx)
	if err != nil {
		return -1
	}
	for name, n := range counts {
		if _, ok := p.file.Named(name); !ok {
			accounts += n
		}
	}
	return accounts
}
