package sqlite_test

import (
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/members"
	"github.com/prism-results/prism/services/results/internal/sqlite/sqlitetest"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Anybody may show a link or a session that is not there: it does not wait for the one writer, and is none.
//
// spec: sign-in-link, session
func TestAnUnknownLinkOrSessionWritesNothing(t *testing.T) {
	t.Parallel()
	path := sqlitetest.File(t)
	s, ctx := open(t, path), t.Context()
	db, err := sql.Open("sqlite", path+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	writing, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = writing.Rollback() }()
	newID := func() (prism.UUID, error) { return prism.UUID{1}, nil }
	at := time.UnixMilli(0)
	for _, identity := range []*contract.Identity{nil, {Issuer: "i", Subject: "s"}} {
		in := members.SignIn{Link: &contract.LinkDigest{1}, Identity: identity, NewID: newID, At: at}
		if _, err := s.SignIn(ctx, in); !errors.Is(err, store.ErrLinkInvalid) {
			t.Errorf("a sign-in: %v", err)
		}
	}
	_, err = s.CreateSessionKey(ctx, contract.SessionDigest{1}, members.NewSessionKey{At: at})
	if !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a key: %v", err)
	}
	if err := s.EndSession(ctx, contract.SessionDigest{1}, newID, at); err != nil {
		t.Errorf("an end: %v", err)
	}
	if _, err := s.Session(ctx, contract.SessionDigest{1}, at); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a session: %v", err)
	}
	second, err := sql.Open("sqlite", path+"?_txlock=immediate&_pragma=busy_timeout(0)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = second.Close() })
	if tx, err := second.BeginTx(ctx, nil); err == nil {
		_ = tx.Rollback()
		t.Error("the file was free for a writer")
	}
}
