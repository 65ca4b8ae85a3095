package results

import (
	"context"
	"crypto/sha256"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/services/results/internal/postgres"
	"github.com/prism-results/prism/services/results/operator"
)

// spec: revocations
func TestARestoredDatabaseIsServedWhenItsKeysAreRevoked(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	p := newPlaced(t, []string{"home", "b"}, func(string) *pgtest.Server { return server })
	b := p.several.databases[1]
	operate := (&Service{placed: onlyIn(b)}).Operator()
	text, err := operate.CreateKey(t.Context(), p.accounts["b"], "another", prism.Owner)
	if err != nil {
		t.Fatal(err)
	}
	kept := p.keys["b"]
	p.keys["b"] = sha256.Sum256([]byte(text))
	if err := p.several.directory.AddKey(t.Context(), p.keys["b"], p.accounts["b"]); err != nil {
		t.Fatal(err)
	}
	if err := p.call(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	restore := server.Backup(t, p.urls["b"])
	eventually(t, func() bool { return revokeNewest(t.Context(), operate, p.accounts["b"]) == nil })
	eventually(t, func() bool { return b.revoking.Apply(t.Context()) == nil }) // which has this process see the mark
	restore()
	eventually(t, func() bool { return p.call(t.Context(), "b") == nil }) // the key is revived, until it is found out

	// Whoever applies waits for a lock of the key.
	conn, err := pgx.Connect(t.Context(), p.urls["b"])
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	locking, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := locking.Exec(t.Context(), "SELECT 1 FROM api_keys FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	applied := make(chan struct{})
	go func() {
		defer close(applied)
		for b.revoking.Apply(t.Context()) != nil && t.Context().Err() == nil { // connections are closed, and statements wait for 10 s
		}
	}()
	eventually(t, func() bool {
		return errors.Is(p.call(t.Context(), "b"), contract.ErrUnavailable) && b.revoking.Revived()
	})
	if err := p.call(t.Context(), "home"); err != nil {
		t.Errorf("a call of home: %v", err)
	}
	if err := locking.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-applied
	if err := p.call(t.Context(), "b"); err == nil || errors.Is(err, contract.ErrUnavailable) {
		t.Errorf("a call with the revoked key: %v", err)
	}
	p.keys["b"] = kept
	if err := p.call(t.Context(), "b"); err != nil {
		t.Errorf("a call with the other key: %v", err)
	}
}

// spec: directory-repair
func TestARestoredHomeLearnsOfAccountsAndKeys(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	var databases []Database
	for _, name := range []string{"home", "b"} {
		server.Template(t, "store", postgres.Migrate)
		databases = append(databases, Database{name, Config{DatabaseURL: server.Database(t, "store")}})
	}
	databases[0].terms = func() (accepting bool, weight int) { return false, 1 }
	restore := server.Backup(t, databases[0].DatabaseURL)
	p := openPlaced(t, databases)
	p.addAccount(t, p.several.databases[1])
	if err := p.call(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	restore()
	again := openPlaced(t, databases)
	again.keys = p.keys
	if err := again.call(t.Context(), "b"); err != nil {
		t.Errorf("a call with a key that was made since the backup of home: %v", err)
	}
}

// revokeNewest revokes the newest key of an account.
func revokeNewest(ctx context.Context, o *operator.Operator, account prism.AccountID) error {
	for k, err := range o.Keys(ctx, account) {
		if err == nil {
			err = o.RevokeKey(ctx, k.ID)
		}
		return err
	}
	return errNoKey
}

var errNoKey = errors.New("the account has no key")
