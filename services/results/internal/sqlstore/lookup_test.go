package sqlstore_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store"
)

// late is a database whose look-ups fail, and read their row afterwards.
type late struct {
	sqldb.Database
	reading sync.WaitGroup
}

func (l *late) LookUp(_ context.Context, _ sqldb.Statement, read func(*sqldb.Row)) error {
	l.reading.Go(func() { read(sqldb.NewRow(nulls{})) })
	return store.ErrUnavailable
}

// nulls is a row whose columns are all null.
type nulls struct{ sqldb.Columns }

func (nulls) Null(int) bool { return true }

// The race detector fails this test.
func TestALookUpThatFailedDoesNotTouchWhatARowIsReadInto(t *testing.T) {
	t.Parallel()
	l := &late{}
	s := sqlstore.New(l)
	for name, lookUp := range map[string]func() error{
		"create": func() error { _, err := s.CreateFacts(t.Context(), contract.CreateQuery{}); return err },
		"result": func() error {
			_, err := s.ResultFacts(t.Context(), contract.KeyDigest{}, prism.ResultID{}, store.WithInput)
			return err
		},
		"authenticate": func() error { _, err := s.Authenticate(t.Context(), contract.KeyDigest{}); return err },
	} {
		if err := lookUp(); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	l.reading.Wait()
}
