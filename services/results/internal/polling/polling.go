// Package polling repeats the work of a process that looks for work in the database.
package polling

import (
	"context"
	"time"
)

// Pause returns true after a pause, and false when ctx ends before.
func Pause(ctx context.Context, pause time.Duration) bool {
	over := time.NewTimer(pause)
	defer over.Stop()
	select {
	case <-over.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Repeat calls work at once, and then again after each pause that work returns, until ctx ends.
func Repeat(ctx context.Context, work func(context.Context) (pause time.Duration)) {
	due := time.NewTimer(0)
	defer due.Stop()
	for {
		select {
		case <-due.C:
		case <-ctx.Done():
			return
		}
		due.Reset(work(ctx))
	}
}
