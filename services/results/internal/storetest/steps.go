package storetest

import (
	"errors"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

func stepTests() []test {
	const rename = `UPDATE prisms SET name = $3 WHERE account_id = $1 AND slug = $2`
	failing := []struct {
		name, text, want string
		is               error // nil: a fault
	}{
		{
			"a fault in the middle of a transaction names the statement by its comment",
			"-- name: Break :exec\nUPDATE prisms SET latest_version = 0, name = $3 WHERE account_id = $1 AND slug = $2", "try: Break: ", nil,
		},
		{
			"a row that is not found names the statement by its first line",
			"UPDATE prisms SET name = $3\nWHERE account_id = $1 AND slug = $2 AND slug <> $2\nRETURNING id", "try: UPDATE prisms SET name = $3: ", store.ErrNotFound,
		},
	}
	tests := make([]test, len(failing))
	for i, c := range failing {
		tests[i] = test{c.name, func(t *testing.T, f *fixture) {
			const value = "nobody's business"
			database, ok := f.Store.(sqldb.Database)
			if !ok {
				t.Fatalf("%T executes no statements", f.Store)
			}
			args := []any{f.mine.account.UUID, f.mine.prism.Slug, value}
			err := database.Transaction(t.Context(), "try", func(run sqldb.Run) error {
				if err := run(t.Context(), sqldb.Statement{Text: rename, Args: args}, sqldb.NoRow); err != nil {
					return err
				}
				return run(t.Context(), sqldb.Statement{Text: c.text, Args: args}, sqldb.SomeRow)
			})
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), value) || c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			p, err := f.Prism(t.Context(), f.mine.account, prism.Ref{ID: f.mine.prism.ID})
			succeeds(t, err)
			same(t, p.Name, f.mine.prism.Name)
		}}
	}
	return tests
}
