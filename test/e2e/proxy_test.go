package e2e

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/freeport"
	"github.com/prism-results/prism/pkg/testkit/program"
)

// TestEventsPassABufferingProxy holds that an event of a run arrives when it is sent, also through nginx with its defaults, which
// speaks HTTP/1.0 to Prism and collects responses in buffers of several KiB.
func TestEventsPassABufferingProxy(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		// spec: run-events
		t.Run("the first event of a silent run comes through nginx", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			path := own.silentRun(t, own.prism(t, oneField, yesNo))
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // less than a silent stream takes to its first comment
			defer cancel()
			own.event(ctx, t, startNginx(t, s.front.Listen), path)
			own.post(t, path+"/cancel", "").run(t, 200)
		})
		// spec: event-streams
		t.Run("open pages of runs leave the exports of their account", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			prism := own.prism(t, oneField, yesNo)
			path := own.silentRun(t, prism)
			for range 12 {
				own.event(t.Context(), t, s.front.Listen, path)
			}
			own.get(t, "/v1/prisms/"+prism+"/results?format=csv").wantStatus(t, 200)
			own.get(t, path+"/rows?format=csv").wantStatus(t, 200)
			own.post(t, path+"/cancel", "").run(t, 200)
		})
	})
}

// silentRun makes a run that is paused, and returns its path.
func (c *client) silentRun(t *testing.T, prism string) string {
	t.Helper()
	f := c.upload(t, "csv", "text\r\n"+strings.Repeat("x\r\n", 1000))
	path := "/v1/runs/" + c.runFile(t, prism, f.ID, `,"rows_per_second":1`).run(t, 201).ID
	c.post(t, path+"/pause", "").run(t, 200)
	return path
}

// event follows a run until the test ends, and waits for the first event.
func (c *client) event(ctx context.Context, t *testing.T, address, path string) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	if line, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil || line != "event: run\n" {
		t.Errorf("got %q, %v", line, err)
	}
}

// startNginx starts nginx in front of an address, with no setting that differs from its defaults but where it keeps its files, and
// returns its own address.
func startNginx(t *testing.T, upstream string) string {
	t.Helper()
	path, err := program.Find("nginx")
	if err != nil {
		t.Fatal(err)
	}
	listen, err := freeport.Addr()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var files strings.Builder
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		fmt.Fprintf(&files, "%s_temp_path %s; ", kind, filepath.Join(dir, kind))
	}
	config := filepath.Join(dir, "nginx.conf")
	err = os.WriteFile(config, fmt.Appendf(nil, `daemon off; master_process off; pid %s; events {}
http { access_log off; %s server { listen %s; location / { proxy_pass http://%s; } } }
`, filepath.Join(dir, "pid"), files.String(), listen, upstream), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	p, err := program.Launch(program.Command{Path: path, Args: []string{"-e", "stderr", "-p", dir, "-c", config}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	err = p.Await(t.Context(), func(ctx context.Context) error {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", listen)
		if err != nil {
			return err
		}
		return conn.Close()
	})
	if err != nil {
		t.Fatal(err)
	}
	return listen
}
