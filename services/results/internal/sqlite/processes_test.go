package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqlite"
	"github.com/prism-results/prism/services/results/internal/sqlite/sqlitetest"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/storetest"
)

const (
	fileVariable    = "PRISM_TEST_FILE"
	accountVariable = "PRISM_TEST_ACCOUNTS"
	accountsEach    = 25
)

// TestMain also runs the other processes of TestProcessesShareAFile.
func TestMain(m *testing.M) {
	if path := os.Getenv(fileVariable); path != "" {
		if err := makeAccounts(path, os.Getenv(accountVariable)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

func makeAccounts(path, name string) error {
	s, err := sqlite.Open(path)
	if err != nil {
		return err
	}
	defer s.Close()
	for i := range accountsEach {
		id := prism.AccountID{UUID: prism.UUID{0: name[0], 15: byte(i)}}
		// SQLite is not fair among processes, so a writer may run into the time-out: then it has done nothing.
		for err = store.ErrUnavailable; errors.Is(err, store.ErrUnavailable); {
			err = s.CreateAccount(context.Background(), id, fmt.Sprintf("%s %d", name, i), storetest.By())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func TestProcessesShareAFile(t *testing.T) {
	t.Parallel()
	path := sqlitetest.File(t)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"here", "there", "elsewhere"}
	var group sync.WaitGroup
	for _, name := range names {
		group.Go(func() {
			if name == "here" {
				if err := makeAccounts(path, name); err != nil {
					t.Error(err)
				}
				return
			}
			cmd := exec.CommandContext(t.Context(), program)
			cmd.Env = append(os.Environ(), fileVariable+"="+path, accountVariable+"="+name)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	group.Wait()
	if n := values(t, path, "SELECT count(*) FROM accounts"); n[0] != int64(len(names)*accountsEach) {
		t.Errorf("there are %v accounts, want %d", n, len(names)*accountsEach)
	}
	if verdict := values(t, path, "PRAGMA integrity_check"); len(verdict) != 1 || verdict[0] != "ok" {
		t.Errorf("the file is damaged: %v", verdict)
	}
}
