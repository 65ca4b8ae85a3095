//go:build !linux || !amd64

package wallclock

import (
	"errors"
	"time"
)

type process struct{}

func children(int) ([]int, error) { return nil, errors.ErrUnsupported }

func ended(int) bool { return false }

func takeOver(int) (*process, error) { return nil, errors.ErrUnsupported }

func (*process) set(time.Duration) error { return errors.ErrUnsupported }

func (*process) close() error { return nil }
