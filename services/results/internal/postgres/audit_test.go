package postgres_test

import (
	"strings"
	"testing"

	"github.com/prism-results/prism/services/results/internal/audit"
	"github.com/prism-results/prism/services/results/internal/store"
)

// spec: audit-append-only
func TestTheDatabaseRefusesToChangeTheAudit(t *testing.T) {
	t.Parallel()
	u := migrated(t)
	_, s, _ := traced(t, u)
	before, _, err := s.ListAudit(t.Context(), account(), audit.Filter{}, store.Page{Limit: 10})
	if err != nil || len(before) != 3 {
		t.Fatalf("got %d entries, %v", len(before), err)
	}
	for _, statement := range []string{
		"UPDATE audit SET actor_name = 'nobody'", "DELETE FROM audit", "DELETE FROM audit WHERE false",
	} {
		_, err := connect(t, u).Exec(t.Context(), statement)
		if err == nil || !strings.Contains(err.Error(), "the audit is append-only") {
			t.Errorf("%s: %v", statement, err)
		}
	}
	after, _, err := s.ListAudit(t.Context(), account(), audit.Filter{}, store.Page{Limit: 10})
	if err != nil || len(after) != len(before) || after[0].Actor != before[0].Actor {
		t.Errorf("got %+v, %v", after, err)
	}
}
