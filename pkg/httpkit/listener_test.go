package httpkit

import (
	"context"
	"net"
	"syscall"
	"testing"
)

func TestFaultsOfAcceptThatPassAreWaitedOut(t *testing.T) {
	t.Parallel()
	r := prepare(t, Config{}, Deps{}, echo)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	faulty := &faultyListener{Listener: ln, faults: 3}
	r.addr = ln.Addr().String()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx, faulty) }()
	wantReply(t, r.once(get("/v1/results/a")), 200, `{"id":"a"}`)
	stop()
	if err := <-ended; err != nil {
		t.Errorf("Run: %v", err)
	}
}

type faultyListener struct {
	net.Listener
	faults int
}

func (l *faultyListener) Accept() (net.Conn, error) {
	if l.faults > 0 {
		l.faults--
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	return l.Listener.Accept()
}
