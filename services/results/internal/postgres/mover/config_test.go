package mover_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/prism-results/prism/services/results/internal/postgres/mover"
)

// spec: databases-file
func TestAURLForMovesIsCheckedAndNotRepeated(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"https://u:secret@h/d", "host=h password=secret", "postgres://u:secret@h:port/d", "postgres://u:sec ret@h/d"} {
		if err := mover.CheckURL(text); err == nil || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "sec ret") {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := mover.CheckURL("postgres://u:p@a,b:5433/d?sslmode=disable"); err != nil {
		t.Error(err)
	}
	if got, err := mover.WithPassword("postgres://u:old@h/d?sslmode=verify-full", "a:/?#é"); err != nil || got != "postgres://u:a%3A%2F%3F%23%C3%A9@h/d?sslmode=verify-full" {
		t.Errorf("%s, %v", got, err)
	}
}

// spec: account-move-command
func TestAnotherServerConnectsWithoutWhatOnlyDriversKnow(t *testing.T) {
	t.Parallel()
	db := mover.Database{Name: "b", URL: func() (string, error) {
		return "postgres://u:p%20q@h:5433/d?sslmode=verify-full&pool_max_conns=3&statement_timeout=1s&sslrootcert=/etc/a%20b.pem", nil
	}}
	got, err := mover.ConnInfo(db)
	if want := "postgres://u:p%20q@h:5433/d?sslmode=verify-full&sslrootcert=%2Fetc%2Fa%20b.pem"; err != nil || got != want {
		t.Errorf("%s, %v", got, err)
	}
}

// spec: databases-commands
func TestTheStateOfADatabaseSaysWhatMovesMay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	exec(t, t.Context(), w.urls["b"], `DO $$ BEGIN
	IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'not_a_mover') THEN CREATE ROLE not_a_mover LOGIN; END IF;
END $$`)
	u, err := url.Parse(w.urls["b"])
	if err != nil {
		t.Fatal(err)
	}
	for user, may := range map[string]bool{u.User.Username(): true, "not_a_mover": false} {
		u.User = url.User(user)
		s, err := mover.ReadState(context.WithoutCancel(t.Context()), mover.Database{Name: "b", URL: func() (string, error) { return u.String(), nil }})
		if err != nil {
			t.Fatal(err)
		}
		if s.WALLevel != "logical" || !s.Direct || s.Slots < 1 || s.Replicates != may || s.Subscribes != may || s.Silences != may || s.Owns != may {
			t.Errorf("%s: %+v", user, s)
		}
	}
}
