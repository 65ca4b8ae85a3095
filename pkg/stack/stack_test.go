package stack_test

import (
	"testing"
	"unsafe"

	"github.com/prism-results/prism/pkg/stack"
)

func TestAGrownStackIsNotCopiedByDeepCalls(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		grow func()
		want bool
	}{{"grown", stack.Grow, false}, {"as it is", func() {}, true}} {
		moved := make(chan bool)
		go func() {
			c.grow()
			var local byte
			before := uintptr(unsafe.Pointer(&local))
			descend(70)
			moved <- uintptr(unsafe.Pointer(&local)) != before
		}()
		if got := <-moved; got != c.want {
			t.Errorf("%s: copied: %v, want %v", c.name, got, c.want)
		}
	}
}

// descend takes about 9 KiB of the stack.
//
//go:noinline
func descend(depth int) (sum byte) {
	var frame [64]byte
	if depth > 0 {
		frame[depth%len(frame)] = descend(depth - 1)
	}
	for _, b := range frame {
		sum += b
	}
	return sum
}
