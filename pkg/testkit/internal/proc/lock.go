package proc

import (
	"os"
	"syscall"
)

// tryLock takes the lock of an open file, which the kernel releases when the process ends.
func tryLock(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
