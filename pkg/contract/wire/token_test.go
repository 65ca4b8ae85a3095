package wire_test

import (
	"bufio"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/contract/wire"
)

// noModels would panic if a call reached it.
type noModels struct{ contract.Models }

const unauthorized = `{"error":{"code":"unauthorized","message":"Invalid API key"}}`

// Without the token every probe gets the same response, byte for byte, so it does not show which paths exist.
func TestNoProbeWithoutTheTokenLearnsAnything(t *testing.T) {
	t.Parallel()
	paths := []string{"/", "/metrics", "/healthz", "/docs", "/openapi.json", "/internal", "/internal/", "/internal/unknown", "/v1/prisms"}
	for _, path := range wirePaths(t) {
		paths = append(paths, path, path+"/", strings.ToUpper(path))
	}
	for name, mount := range map[string]func(*fiber.App, *slog.Logger){
		"results":     func(app *fiber.App, log *slog.Logger) { wire.MountResults(app, noResults{}, tokens(token), log) },
		"model-proxy": func(app *fiber.App, log *slog.Logger) { wire.MountModels(app, noModels{}, tokens(token), log) },
	} {
		addr := strings.TrimPrefix(serve(t, mount), "http://")
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"} {
			for _, path := range paths {
				for _, shown := range []string{"", "Authorization: Bearer wrong\r\n"} {
					status, body := exchange(t, addr, method, path, shown)
					want := unauthorized
					if method == "HEAD" {
						want = ""
					}
					if status != 401 || body != want {
						t.Errorf("%s: %s %s with %q: %d %q", name, method, path, shown, status, body)
					}
				}
			}
		}
		if status, _ := exchange(t, addr, "GET", "/internal/unknown", "Authorization: Bearer "+token+"\r\n"); status != 404 {
			t.Errorf("%s: an unknown path with the token: %d", name, status)
		}
	}
}

// wirePaths are the paths that this package's source names.
func wirePaths(t *testing.T) []string {
	t.Helper()
	source, err := os.ReadFile("wire.go")
	if err != nil {
		t.Fatal(err)
	}
	paths := regexp.MustCompile(`/internal/[a-z-]+`).FindAllString(string(source), -1)
	if len(paths) == 0 {
		t.Fatal("found no paths")
	}
	return append(paths, "/internal/operations/"+api.ReadResult.Name)
}

func exchange(t *testing.T, addr, method, path, headers string) (status int, body string) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	_, _ = io.WriteString(c, method+" "+path+" HTTP/1.1\r\nHost: x\r\n"+headers+"Content-Length: 0\r\n\r\n")
	res, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	b, _ := io.ReadAll(res.Body)
	_ = res.Body.Close()
	return res.StatusCode, string(b)
}

// What is compared with a secret is compared in constant time, and digests at that, so that lengths do not show either.
// A timing test would be noise; this one reads the source.
func TestTheTokenIsComparedInConstantTime(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("tokens.go")
	if err != nil {
		t.Fatal(err)
	}
	body := regexp.MustCompile(`(?s)func \(t \*Tokens\) Accepts.*?\n}\n`).FindString(string(source))
	if strings.Count(body, "equal |= subtle.ConstantTimeCompare(got[:], want.digest[:])") != 1 || strings.Count(body, "sha256.Sum256(shown)") != 1 {
		t.Errorf("Accepts compares in another way:\n%s", body)
	}
	if regexp.MustCompile(`(shown|authorization)\s*[!=]=|[!=]=\s*(shown|authorization)|bytes\.Equal|break|return.*\n.*return`).MatchString(body) {
		t.Errorf("Accepts compares the token itself, or not with each:\n%s", body)
	}
}

// Whatever bytes a caller with the token sends, the response is a success or a catalogue error and never a fault.
func FuzzServe(f *testing.F) {
	server := newServer(f)
	for i, body := range []string{
		`{}`, `[]`, `null`, `{"Key":[1]}`, `{"ID":"x"}`, `{"Key":"","Query":{"From":"x"}}`, `{"Prism":{"Slug":1}}`, `{"a":`, "\xff", ``, `{} {}`, `"\ud800"`, `1e400`,
	} {
		f.Add(uint8(i), []byte(body))
	}
	source, err := os.ReadFile("wire.go")
	if err != nil {
		f.Fatal(err)
	}
	paths := regexp.MustCompile(`/internal/[a-z-]+`).FindAllString(string(source), -1)
	f.Fuzz(func(t *testing.T, path uint8, body []byte) {
		req, err := http.NewRequest(http.MethodPost, "http://x"+paths[int(path)%len(paths)], strings.NewReader(string(body)))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", "application/json")
		res, err := server.Test(req, -1)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		switch res.StatusCode {
		case 200, 400, 404, 409, 503:
		default:
			t.Fatalf("%s %q: %d", req.URL.Path, body, res.StatusCode)
		}
	})
}
