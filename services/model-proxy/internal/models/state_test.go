package models

import (
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/services/model-proxy/internal/failure"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
)

// spec: model-states, model-breaker, exhausted-model
func TestAStateSaysWhetherAModelIsAsked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := New(Spec{Name: "fast", MaxInFlight: 3}, provider.Provider{}, nil)
		set := NewSet([]*Model{m, New(Spec{Name: "strong"}, provider.Provider{}, nil)}, "fast")
		is := func(want api.ModelStatus, running int) {
			t.Helper()
			if got := set.States()[0]; got.Name != "fast" || got.State != want || got.Running != running || *got.MaxInFlight != 3 {
				t.Errorf("got %+v, want %s", got, want)
			}
		}
		is(api.ModelAsked, 0)
		if other := set.States()[1]; other.MaxInFlight != nil || other.Failures == nil {
			t.Errorf("got %+v", other)
		}
		enter := func() (leave func(failed bool, request uint64)) {
			leave, ok := m.Enter(t.Context(), false, false)
			if !ok {
				t.Fatal("it is not asked")
			}
			return leave
		}
		for n := range uint64(lastCalls) {
			if m.Available() {
				enter()(true, n+1)
			}
		}
		is(api.ModelSkipped, 0)
		<-time.After(skipTime + time.Millisecond)
		leave := enter()
		is(api.ModelOnTrial, 1)
		leave(false, 0)
		is(api.ModelAsked, 0)
		m.PassOver()
		is(api.ModelNoBalance, 0)
		<-time.After(passTime + time.Millisecond)
		is(api.ModelAsked, 0)
	})
}

// spec: model-states
func TestAModelRemembersItsLastFailuresAndNothingOfTexts(t *testing.T) {
	t.Parallel()
	m := New(Spec{Name: "fast"}, provider.Provider{}, nil)
	for _, class := range append(failure.Classes(), failure.OK) {
		m.NoteFailure(class)
	}
	var known, want []string
	for _, f := range m.state().Failures {
		known = append(known, string(f.Reason))
	}
	for _, class := range failure.Classes() {
		if !class.OfRequest() {
			want = append(want, string(class))
		}
	}
	slices.Reverse(want)
	if !reflect.DeepEqual(known, want) {
		t.Errorf("got %v, want %v", known, want)
	}
	slices.Reverse(want)
	if declared := api.FailureClass("").Values(); !reflect.DeepEqual(declared, want) {
		t.Errorf("the API has %v, want %v", declared, want)
	}
	for range mostFailures + 1 {
		m.NoteFailure(failure.Limited)
	}
	if last := m.state().Failures; len(last) != mostFailures || last[mostFailures-1].Reason != api.FailedLimited {
		t.Errorf("got %+v", last)
	}
}
