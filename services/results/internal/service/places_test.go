package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/testkit/metrictest"
	"github.com/prism-results/prism/services/results/internal/service"
	"github.com/prism-results/prism/services/results/internal/sqlstore"
	"github.com/prism-results/prism/services/results/internal/store"
)

// classes are the methods of the contract by the class of their places (spec: place-classes). A new method needs a class.
func classes() map[string]api.Class {
	of := map[string]api.Class{}
	for class, methods := range map[api.Class]string{
		"":            "Account Authorize Limits Save FinishTry LeaseChunk RenewLeases SaveRows Link SignIn SignInAs Session SessionKey Leave EndSession", // no API key
		api.Keyed:     "CreateFacts RetryFacts TryFacts PutPart PlanRun DropLabelsFile",
		api.Listing:   "PlanRows",
		api.Measuring: "LabelsRun",
	} {
		for _, name := range strings.Fields(methods) {
			of[name] = class
		}
	}
	return of
}

// keysOnly is a store that knows every key as an owner's, and panics when anything else is loaded.
type keysOnly struct{ sqlstore.Store }

func (keysOnly) Authenticate(context.Context, contract.KeyDigest) (store.Caller, error) {
	return store.Caller{Account: prism.AccountID{UUID: prism.UUID{1}}, Role: prism.Owner}, nil
}

// Every method of the contract is called while every place is taken. Those with a class are refused before they load anything, and
// the others work.
//
// spec: place-classes
func TestEveryOperationHasAPlaceOfItsClass(t *testing.T) {
	t.Parallel()
	of := classes()
	for _, interfaces := range []reflect.Type{reflect.TypeFor[contract.Results](), reflect.TypeFor[contract.Console]()} {
		for i := range interfaces.NumMethod() {
			name := interfaces.Method(i).Name
			if name == "Do" || name == "Open" {
				continue
			}
			class, known := of[name]
			if !known {
				t.Errorf("%s has no class", name)
			}
			delete(of, name)
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				hasPlace(t, class, func(ctx context.Context, s *service.Service) error {
					method := reflect.ValueOf(s).MethodByName(name)
					args := []reflect.Value{reflect.ValueOf(ctx)}
					for i := 1; i < method.Type().NumIn(); i++ {
						args = append(args, reflect.Zero(method.Type().In(i)))
					}
					out := method.Call(args)
					err, _ := out[len(out)-1].Interface().(error)
					return err
				})
			})
		}
	}
	for name := range of {
		t.Errorf("the contract has no method %s", name)
	}
	for _, op := range api.Operations() {
		if op.Declared().ByGateway {
			continue
		}
		t.Run(op.Declared().Name, func(t *testing.T) {
			t.Parallel()
			hasPlace(t, op.Declared().Class, func(ctx context.Context, s *service.Service) error {
				return ask(ctx, s, contract.KeyDigest{}, op)
			})
		})
	}
}

// hasPlace checks that a call is refused, before it loads anything, if its class has places and all are taken.
func hasPlace(t *testing.T, class api.Class, call func(context.Context, *service.Service) error) {
	t.Helper()
	s := service.New(service.Deps{
		Store: keysOnly{}, Now: time.Now, NewID: func() (prism.UUID, error) { return prism.UUID{2}, nil },
	})
	s.FillPlaces()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	refused := func() bool {
		defer func() { _ = recover() }() // it loads
		return errors.Is(call(ctx, s), contract.ErrUnavailable)
	}()
	_, limited := service.PlacesOf(math.MaxInt64, 1)[class]
	if refused != limited {
		t.Errorf("it is refused for want of a place: %v, want %v", refused, limited)
	}
	metrics := prometheus.NewRegistry()
	if err := s.Measure(metrics); err != nil {
		t.Fatal(err)
	}
	if n := metrictest.Values(t, metrics)["prism_places_refused_total "+string(class)]; limited && n != 1 {
		t.Errorf("%v operations of the class were refused", n)
	}
}

// spec: place-classes
func TestPlacesFollowTheMemoryLimitAndTheProcessors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		memory                   int64
		processors, pages, scans int
	}{
		{math.MaxInt64, 64, 16, 4},
		{1 << 30, 16, 16, 4},
		{768 << 20, 16, 16, 4},
		{767 << 20, 16, 15, 4},
		{512 << 20, 16, 10, 4},
		{512 << 20, 8, 8, 4},
		{256 << 20, 4, 4, 4},
		{256 << 20, 2, 2, 2},
		{1 << 30, 1, 1, 1},
		{64 << 20, 16, 1, 4},
		{1, 16, 1, 4},
	} {
		want := map[api.Class]int{api.Listing: c.pages, api.Scanning: c.scans, api.Measuring: 1}
		if got := service.PlacesOf(c.memory, c.processors); !maps.Equal(got, want) {
			t.Errorf("with %d bytes and %d processors there are %v places, want %v", c.memory, c.processors, got, want)
		}
	}
}

// spec: place-classes
func TestAPlaceIsWaitedForFiveSeconds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ caller, want time.Duration }{
		"of 1.75 s": {1750 * time.Millisecond, 875 * time.Millisecond}, "of 10 s": {10 * time.Second, 5 * time.Second},
		"of a minute": {time.Minute, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := service.New(service.Deps{Store: keysOnly{}, Now: time.Now})
				s.FillPlaces()
				ctx, cancel := context.WithTimeout(t.Context(), c.caller)
				defer cancel()
				begun := time.Now()
				_, err := s.Do(ctx, contract.KeyDigest{}, api.ListMembers, api.ListMembers.NewRequest())
				if took := time.Since(begun); !errors.Is(err, contract.ErrUnavailable) || took != c.want {
					t.Errorf("%v after %v, want %v", err, took, c.want)
				}
			})
		})
	}
}

// operationRow is the row of an operation in SECURITY.md, with the class of its place.
var operationRow = regexp.MustCompile("(?m)^\\| `(\\w+)` \\| ([a-z]+) \\|")

// Each operation that takes more than a place of its class has a row in SECURITY.md, which says what, and its class is that of the code.
//
// spec: place-classes
func TestEveryOperationHasItsClassInSecurity(t *testing.T) {
	t.Parallel()
	var document struct {
		Paths map[string]map[string]struct {
			ID contract.Operation `json:"operationId"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(readRepository(t, "services/gateway/internal/apidoc/openapi.json"), &document); err != nil {
		t.Fatal(err)
	}
	rows := map[contract.Operation]string{}
	for _, m := range operationRow.FindAllStringSubmatch(string(readRepository(t, "SECURITY.md")), -1) {
		rows[contract.Operation(m[1])] = m[2]
	}
	for _, methods := range document.Paths {
		for _, op := range methods {
			if op.ID == "" { // the parameters of a path
				continue
			}
			row, found := rows[op.ID]
			delete(rows, op.ID)
			switch class := service.ClassOf(op.ID); {
			case !found && class != string(api.Keyed) && class != string(api.Listing):
				t.Errorf("%s has no row", op.ID)
			case found && row != class:
				t.Errorf("the class of %s is %q, and that of its row is %q", op.ID, class, row)
			}
		}
	}
	for op := range rows {
		t.Errorf("the API has no operation %s", op)
	}
}

// readRepository reads a file of the repository.
func readRepository(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../../..", file))
	if err != nil {
		t.Fatal(err)
	}
	return text
}
