// Package wallclock sets the wall clock of a running process, for tests of clocks that jump. The program needs no change:
// programs of any language read the wall clock through functions that the kernel maps into each process (the vDSO), and this
// package replaces those functions in the memory of the one process. As when an operator sets the clock of a machine, the
// process is not told, and its monotonic clock does not jump.
//
// Children that the process starts by fork afterwards begin with its offset. The coarse clocks stay as they are.
package wallclock

import (
	"errors"
	"fmt"
	"time"
)

// Clock is the wall clock of a process.
type Clock struct {
	processes []*process
}

// TakeOver takes over the wall clock of a process and of its children. The error is errors.ErrUnsupported where the package does
// not work: it needs Linux on amd64, and the right to write to the memory of the process, which a parent has.
func TakeOver(pid int) (*Clock, error) {
	parent, err := takeOver(pid)
	if err != nil {
		return nil, fmt.Errorf("wallclock: %w", err)
	}
	c := &Clock{processes: []*process{parent}}
	// Those that the parent starts from now on have its new code.
	family, err := children(pid)
	for _, pid := range family {
		child, failed := takeOver(pid)
		if failed == nil {
			c.processes = append(c.processes, child)
		} else if !ended(pid) {
			err = errors.Join(err, failed)
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("wallclock: children: %w", err), c.Close())
	}
	return c, nil
}

// Set makes the wall clock differ from that of the machine, in whole seconds. Zero sets it right.
func (c *Clock) Set(ahead time.Duration) error {
	var errs []error
	for _, p := range c.processes {
		errs = append(errs, p.set(ahead))
	}
	return errors.Join(errs...)
}

// Close gives the clock up. It stays as it was last set.
func (c *Clock) Close() error {
	var errs []error
	for _, p := range c.processes {
		errs = append(errs, p.close())
	}
	return errors.Join(errs...)
}
