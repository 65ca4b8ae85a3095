// Package freeport finds addresses for servers that a test stops and starts again.
//
// The kernel's own choice is no good for those: it comes from the range of which each outgoing connection takes one, so
// that somebody else may hold the port when the server comes back.
package freeport

import (
	"errors"
	"math/rand/v2"
	"net"
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

// taken holds what this process has handed out. Other processes draw at random from many.
var taken struct {
	sync.Mutex
	ports map[int]bool
}

// Listener listens on a loopback port that nobody else is given.
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
		if ln, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			taken.ports[port] = true
			return ln, nil
		}
	}
	return nil, errors.New("freeport: none in a thousand tries")
}

// Addr is a loopback address that nobody listens on and nobody else is given.
func Addr() (string, error) {
	addr, err := look()
	if err != nil {
		return "", err
	}
	return addr.String(), nil
}

// Port is the port of an Addr.
func Port() (int, error) {
	addr, err := look()
	if err != nil {
		return 0, err
	}
	return addr.Port, nil
}

// look listens and stops. No process is started meanwhile: between its fork and its exec it would hold the port too, and
// the server that it is meant for could not have it.
func look() (*net.TCPAddr, error) {
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
