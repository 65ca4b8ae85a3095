// Package freeport finds addresses for servers that a test stops and starts again.
//
// A port that the kernel chooses is unsuitable: outgoing connections take ports of the same range, so another connection may
// hold the port when the server starts again.
package freeport

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"
)

// The ports that are handed out, below those that Linux gives to outgoing connections (32768 and up).
const (
	first = 12_000
	last  = 32_000
)

// taken are the ports that this process has handed out.
var taken struct {
	sync.Mutex
	ports map[int]bool
}

// locks is a file shared by all processes of this user that use the package. A process holds a lock on the byte at the
// offset of each port that it has handed out, and the kernel releases the locks when the process ends.
var locks = sync.OnceValues(func() (*os.File, error) {
	name := filepath.Join(os.TempDir(), fmt.Sprintf("prism-freeport-%d", os.Getuid()))
	return os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
})

// reserve tells whether no other process has the port.
func reserve(port int) (bool, error) {
	file, err := locks()
	if err != nil {
		return false, fmt.Errorf("freeport: %w", err)
	}
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Start: int64(port), Len: 1}
	return syscall.FcntlFlock(file.Fd(), syscall.F_SETLK, &lock) == nil, nil
}

// Listener listens on a loopback port that no other caller of this package gets, in any process.
func Listener() (net.Listener, error) {
	taken.Lock()
	defer taken.Unlock()
	if taken.ports == nil {
		taken.ports = map[int]bool{}
	}
	for range 1000 {
		port := first + rand.IntN(last-first)
		if taken.ports[port] {
			continue
		}
		if free, err := reserve(port); err != nil {
			return nil, err
		} else if !free {
			continue
		}
		if ln, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			taken.ports[port] = true
			return ln, nil
		}
	}
	return nil, errors.New("freeport: none in a thousand tries")
}

// Addr is a loopback address without a listener that no other caller of this package gets, in any process.
func Addr() (string, error) {
	addr, err := find()
	if err != nil {
		return "", err
	}
	return addr.String(), nil
}

// Port is the port of an Addr.
func Port() (int, error) {
	addr, err := find()
	if err != nil {
		return 0, err
	}
	return addr.Port, nil
}

// find listens and stops. No process is started meanwhile: between its fork and its exec it would hold the port too, and
// the server that it is meant for could not have it.
func find() (*net.TCPAddr, error) {
	if runtime.GOOS == "linux" { // elsewhere net.Listen takes the lock itself
		syscall.ForkLock.RLock()
		defer syscall.ForkLock.RUnlock()
	}
	ln, err := Listener()
	if err != nil {
		return nil, err
	}
	return ln.Addr().(*net.TCPAddr), ln.Close()
}
