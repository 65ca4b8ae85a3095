package placed_test

import (
	"errors"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/testkit/pgtest"
	"github.com/prism-results/prism/services/results/internal/directory"
	"github.com/prism-results/prism/services/results/internal/postgres"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/storetest"
)

// spec: directory
func TestAnAccountThatIsHalfMadeIsCompletedByARepeat(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	server.Template(t, "store", postgres.Migrate)
	s := openSuite(t, func(t testing.TB) string { return server.Database(t, "store") })
	id := func(n byte) prism.AccountID { return prism.AccountID{UUID: prism.UUID{n}} }
	object := prism.UUID{7}
	for name, declared := range map[string]bool{"made": false, "declared": true} {
		first, again := id(1), id(2)
		if declared {
			first, again = id(3), id(4)
		}
		place := directory.Place{Account: first, Database: "c"}
		var err error
		if declared {
			_, err = s.Directory.TakeDeclared(t.Context(), name, place, object)
		} else {
			_, err = s.Directory.TakeName(t.Context(), name, place)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.AccountByName(t.Context(), name); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s is found before it is made: %v", name, err)
		}
		if declared {
			if err := s.CreateAccount(t.Context(), again, name, storetest.By()); !errors.Is(err, store.ErrNameTaken) {
				t.Errorf("a declared name is made: %v", err)
			}
			found, err := s.DeclareAccount(t.Context(), again, name, object, storetest.By())
			if err != nil || found != first {
				t.Errorf("%s is %s: %v", name, found, err)
			}
		} else {
			if _, err := s.DeclareAccount(t.Context(), again, name, prism.UUID{8}, storetest.By()); !errors.Is(err, store.ErrNameTaken) {
				t.Errorf("a name that is made is declared: %v", err)
			}
			if err := s.CreateAccount(t.Context(), again, name, storetest.By()); !errors.Is(err, store.ErrNameTaken) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if found, err := s.AccountByName(t.Context(), name); err != nil || found != first {
			t.Errorf("%s is %s: %v", name, found, err)
		}
		if body, err := s.Account(t.Context(), first); err != nil || body.Name != name {
			t.Errorf("%s is not in its database: %v", name, err)
		}
	}
}
