package instrumented_test

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/instrumented"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/sqlite"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// failing fails every call that the test makes with one error.
type failing struct {
	sqldb.Database
	err error
}

func (f failing) Ping(context.Context) error { return f.err }

func (f failing) SaveRetry(context.Context, prism.AccountID, prism.Result, prism.ResultID) (store.Saved, error) {
	return store.Saved{}, f.err
}

func TestOutcomesAreToldApart(t *testing.T) {
	t.Parallel()
	for want, errs := range map[string][]error{
		"ok":        {nil},
		"not_found": {store.ErrNotFound},
		"conflict": {
			contract.ErrKeyTaken, store.ErrSlugTaken, store.ErrNameTaken, store.ErrArchived, store.ErrStale,
			&store.RetriedError{}, store.ErrRetrying, &store.MatchError{},
		},
		"unavailable": {store.ErrUnavailable},
		"error":       {context.Canceled},
	} {
		for _, err := range errs {
			metrics := prometheus.NewRegistry()
			inner := err
			if err != nil {
				inner = fmt.Errorf("wrapped: %w", err)
			}
			s := instrumented.New(failing{err: inner}, metrics)
			_, got := s.SaveRetry(t.Context(), prism.AccountID{}, prism.Result{}, prism.ResultID{})
			if got != inner { //nolint:errorlint // the very error
				t.Errorf("%v came back as %v", inner, got)
			}
			if got := labels(t, metrics); got != "operation=save_retry outcome="+want {
				t.Errorf("%v is measured as %s, want %s", err, got, want)
			}
		}
	}
}

func TestEveryMethodIsMeasured(t *testing.T) {
	t.Parallel()
	metrics := prometheus.NewRegistry()
	path := filepath.Join(t.TempDir(), "prism.db") // without its tables, so that all but the ping fails
	inner, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	s := reflect.ValueOf(sqlstore.New(instrumented.New(inner.Database, metrics)))
	t.Cleanup(inner.Close)
	interfaceType := reflect.TypeFor[sqlstore.Store]()
	measured := 0
	for method := range interfaceType.Methods() {
		switch method.Name {
		case "Close", "Full", "FindAmong": // which call no database, or by their caller's statements
			continue
		case "Visit": // which Counts calls
			continue
		}
		args := []reflect.Value{reflect.ValueOf(t.Context())}
		for i := 1; i < method.Type.NumIn(); i++ {
			arg := reflect.Zero(method.Type.In(i))
			if arg.Kind() == reflect.Pointer {
				arg = reflect.New(arg.Type().Elem())
			}
			if arg.Kind() == reflect.Slice {
				arg = reflect.MakeSlice(arg.Type(), 1, 1)
			}
			args = append(args, arg)
		}
		s.MethodByName(method.Name).Call(args)
		measured++
	}
	operations := strings.Count(labels(t, metrics), "operation=")
	if operations != measured {
		t.Errorf("%d of %d methods are measured: %s", operations, measured, labels(t, metrics))
	}
}

// labels are those of every series that counts something, one space between them.
func labels(t *testing.T, metrics prometheus.Gatherer) string {
	t.Helper()
	families, err := metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var pairs []string
	for _, family := range families {
		if family.GetName() != "prism_store_operation_duration_seconds" {
			t.Errorf("unknown metric %s", family.GetName())
		}
		for _, m := range family.GetMetric() {
			for _, pair := range m.GetLabel() {
				pairs = append(pairs, pair.GetName()+"="+pair.GetValue())
			}
		}
	}
	return strings.Join(pairs, " ")
}
