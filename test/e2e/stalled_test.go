package e2e

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestStalledExports holds that clients that do not read their exports take nothing from others and hold no service.
func TestStalledExports(t *testing.T) {
	only(t, services, func(t *testing.T, s *stack) {
		// spec: export-limits, stalled-readers, fair-shares, stopping
		t.Run("exports that nobody reads leave everyone else's calls, and a service that stops", func(t *testing.T) {
			t.Parallel()
			own := s.private(t, nil)
			prism := own.main.triage(t)
			const rows = 60 // more bytes than all buffers of the kernel on the way
			for range rows {
				own.main.create(t, prism, text(strings.Repeat("x", 90_000))).ok(t)
			}
			path := "/v1/prisms/" + prism + "/results?format=tsv"
			for range 8 {
				own.main.stall(t, path)
			}
			own.main.impatient = true
			own.main.get(t, path).wantUnavailable(t)
			own.main.impatient = false
			own.main.create(t, prism, text("y")).ok(t)
			theirs := own.ownAccount(t)
			one := theirs.triage(t)
			id := theirs.create(t, one, text("z")).ok(t).ID
			theirs.read(t, id, "").wantStatus(t, 200)
			theirs.get(t, "/v1/prisms/"+one+"/results?format=tsv").wantStatus(t, 200)

			if err := own.front.Process().Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			// Less than the 30 s that a service has for its calls.
			ctx, cancel := context.WithTimeout(t.Context(), 25*time.Second)
			defer cancel()
			if code, err := own.front.Process().Wait(ctx); err != nil || code != 0 {
				t.Fatalf("exit code %d: %v", code, err)
			}
		})
	})
}

// stall begins a call whose response has the status 200, and reads no more of it.
func (c *client) stall(t *testing.T, path string) {
	t.Helper()
	conn, err := net.Dial("tcp", c.stack.front.Listen)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.(*net.TCPConn).SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: prism\r\nAuthorization: Bearer %s\r\n\r\n", path, c.key); err != nil {
		t.Fatal(err)
	}
	if status, err := bufio.NewReader(conn).ReadString('\n'); status != "HTTP/1.1 200 OK\r\n" {
		t.Fatalf("got %q, %v", status, err)
	}
}
