package stack_test

import (
	"sync"
	"testing"
	"testing/synctest"

	"github.com/prism-results/prism/pkg/stack"
)

func TestFunctionsRunBesideEachOtherInGoroutinesThatAreUsedAgain(t *testing.T) {
	t.Parallel()
	for name, g := range map[string]func() *stack.Goroutines{
		"waiting": stack.Waiting, "one for each": func() *stack.Goroutines { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				goroutines := g()
				for range 3 {
					var running sync.WaitGroup
					gate, ran := make(chan struct{}), make(chan int, 10)
					for n := range 10 {
						running.Add(1)
						goroutines.Go(func() {
							defer running.Done()
							<-gate // none runs on before all have begun
							ran <- n
						})
					}
					close(gate)
					running.Wait()
					if len(ran) != 10 {
						t.Errorf("%d functions ran, want 10", len(ran))
					}
					synctest.Wait() // those that wait are ready for the next ones
				}
				goroutines.Close()
				goroutines.Close()
				goroutines.Go(func() {}) // also behind Close
			}) // which fails if a goroutine is left
		})
	}
}

func TestAGoroutineThatWaitsRunsTheNextFunctionAndMakesNothing(t *testing.T) { //nolint:paralleltest // counts allocations
	g := stack.Waiting()
	defer g.Close()
	done := make(chan struct{})
	f := func() { done <- struct{}{} }
	n := testing.AllocsPerRun(1000, func() {
		g.Go(f)
		<-done
	})
	if n >= 1 {
		t.Errorf("each function makes %v objects", n)
	}
}
