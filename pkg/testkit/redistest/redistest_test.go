package redistest_test

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/prism-results/prism/pkg/testkit/redistest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func TestARestartedServerIsEmptyAndKeepsItsAddresses(t *testing.T) {
	t.Parallel()
	server := redistest.New(t, redistest.Options{TCP: true})
	for name, end := range map[string]func() error{"killed": server.Kill, "stopped": server.Stop, "running": func() error { return nil }} {
		ask(t, "unix", socket(server), "SET key "+name, "+OK")
		ask(t, "tcp", server.TCPAddr(), "EXISTS key", ":1")
		if err := end(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := server.Restart(t.Context()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		ask(t, "unix", socket(server), "EXISTS key", ":0")
		ask(t, "tcp", server.TCPAddr(), "EXISTS key", ":0")
	}
}

func TestAPausedServerHangsUntilItIsResumed(t *testing.T) {
	t.Parallel()
	server := redistest.New(t, redistest.Options{})
	if err := server.Pause(); err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("unix", socket(server)) // the kernel takes the connection
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprint(conn, "PING\r\n"); err != nil {
		t.Fatal(err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if n, err := conn.Read(make([]byte, 1)); err == nil {
		t.Fatalf("a paused server wrote %d bytes", n)
	}
	if err := server.Resume(); err != nil {
		t.Fatal(err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || line != "+PONG\r\n" {
		t.Errorf("got %q, %v after it was resumed", line, err)
	}
}

func ask(t *testing.T, network, address, command, want string) {
	t.Helper()
	conn, err := net.Dial(network, address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := fmt.Fprint(conn, command+"\r\n"); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if got := strings.TrimSpace(line); err != nil || got != want {
		t.Fatalf("%s: got %q, %v, want %q", command, got, err, want)
	}
}

func socket(server *redistest.Server) string { return strings.TrimPrefix(server.URL(), "unix://") }
