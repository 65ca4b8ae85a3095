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
			f := own.upload(t, "csv", "text\r\n"+strings.Repeat("x\r\n", 1000))
			path := "/v1/runs/" + own.runFile(t, own.prism(t, oneField, yesNo), f.ID, `,"rows_per_second":1`).run(t, 201).ID
			own.post(t, path+"/pause", "").run(t, 200)

			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // less than a silent stream takes to its first comment
			defer cancel()
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+startNginx(t, s.front.Listen)+path+"/events", nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+own.key)
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if line, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil || line != "event: run\n" {
				t.Errorf("got %q, %v", line, err)
			}
			own.post(t, path+"/cancel", "").run(t, 200)
		})
	})
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
