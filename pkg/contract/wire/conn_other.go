//go:build !unix

package wire

import "net"

// newChecked is nothing here: a connection whose server went away fails with what is sent on it.
func newChecked(conn net.Conn) net.Conn { return conn }

// open is nothing here either.
func open(net.Conn) error { return nil }
