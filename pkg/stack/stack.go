// Package stack gives a goroutine that calls deep functions its stack at once. A stack grows by being copied, frame by frame, each
// time that it is full: doing so while it is deep took an eighth of the processor time of a create.
package stack

// size is somewhat less than the largest stack that the runtime keeps for the next goroutine, 16 KiB.
const size = 14 << 10

// Grow has the stack of this goroutine be large. Call it first.
//
//go:noinline
func Grow() {
	var room [size]byte
	keep(&room)
}

//go:noinline
func keep(*[size]byte) {}
