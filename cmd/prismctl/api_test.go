package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/client/prismtest"
)

func TestAPI(t *testing.T) {
	t.Parallel()
	u := withExamples(t)
	for path, want := range map[string]string{
		"/v1/prisms/language": "language", "v1/prisms/language": "language", "prisms/language": "language", "/prisms/language": "language",
	} {
		if got := decode[client.Prism](t, u.ok("api", "GET", path)); got.Slug != want {
			t.Errorf("%s: got %+v", path, got)
		}
	}
	result := u.ok("api", "post", "prisms/language/results", "-f", "text=hello", "-F", "version=1", "-f", "ref=a=b")
	made := decode[client.Result](t, result)
	if made.Version != 1 || optional(made.Ref) != "a=b" {
		t.Errorf("got %s", result)
	}
	if got := u.ok("api", "GET", "results/"+made.ID, "-f", "format=csv"); !strings.HasPrefix(got, "result_id,") {
		t.Errorf("got %s", got)
	}
	if got := u.ok("api", "GET", "results/"+made.ID, "-o", "yaml"); !strings.Contains(got, "\nprism: language\n") {
		t.Errorf("got %s", got)
	}
	head, body, _ := strings.Cut(u.ok("api", "GET", "prisms/language", "-i", "--jq", ".slug"), "\n\n")
	if !strings.HasPrefix(head, "HTTP/1.1 200 OK\n") || !strings.Contains(head, "\nEtag: ") || body != "language\n" {
		t.Errorf("got %s and %s", head, body)
	}
	etag := head[strings.Index(head, "Etag: ")+6:]
	etag, _, _ = strings.Cut(etag, "\n")
	u.in = `{"columns":[{"name":"x","question":"english","show":"answer"}]}`
	u.ok("api", "PUT", "prisms/language/lens", "--input", "-", "-H", "If-Match: "+etag)
	u.run("api", "PUT", "prisms/language/lens", "--input", "-", "-H", "If-Match:"+etag).want(exitConflict, `"code":"conflict"`)
	if s := u.run("api", "GET", "prisms/none").want(exitNotFound, `"exit_code":5`); !strings.HasPrefix(s.out, `{"error":{"code":"not_found"`) {
		t.Errorf("got %s", s.out)
	}
	s := u.run("api", "POST", "prisms/language/results", "-f", "text="+prismtest.Refuse).want(exitFailed, `"exit_code":7`)
	if decode[client.Result](t, s.out).Status != client.Failed {
		t.Errorf("got %s", s.out)
	}
	u.ok("api", "DELETE", "results/"+made.ID)
	for want, args := range map[string]string{
		"PATH is a path of the API":  "GET https://example.com/v1/prisms",
		"-f takes KEY=TEXT":          "POST prisms -f a",
		"and each key once":          "POST prisms -f a=1 -F a=2",
		"-F a=…: it is no JSON":      "POST prisms -F a=b",
		"--paginate goes with GET":   "POST prisms --paginate",
		"prisms/language is no list": "GET prisms/language --paginate",
		"-H takes NAME: VALUE":       "GET prisms -H a",
		"METHOD is one such as":      "G,T prisms",
		"if any flags in the group":  "POST prisms --input x -f a=b",
		"missing argument <path>":    "GET",
		"no such file":               "POST prisms --input /none",
	} {
		u.run(append([]string{"api"}, strings.Fields(args)...)...).want(exitUsage, want)
	}
}

func TestAPIReadsAllPages(t *testing.T) {
	t.Parallel()
	u := withExamples(t)
	for range 5 {
		u.ok("call", "language", "--text", "x")
	}
	if got := u.ok("api", "GET", "results?limit=2", "-f", "prism=language", "--paginate", "--jq", ".data|length, ([.[].id]|unique|length)"); got != "5\n5\n" {
		t.Errorf("got %q", got)
	}
	if got := decode[client.Page[client.Result]](t, u.ok("api", "GET", "results?limit=2")); len(got.Data) != 2 || got.NextCursor == nil {
		t.Errorf("got %+v", got)
	}
	u.run("api", "GET", "results?limit=x", "--paginate").want(exitInvalid, "limit")
}

// The key goes nowhere else, also if another server asks for that.
func TestAPIFollowsNoRedirect(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it is called") }))
	t.Cleanup(other.Close)
	s := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	t.Cleanup(s.Close)
	u.env["PRISM_URL"] = s.URL
	u.run("api", "POST", "prisms", "-f", "slug=x").want(exitServer, `"code":"unexpected"`)
	if r := u.run("mcp"); r.code == exitOK {
		t.Errorf("mcp: got %+v", r)
	}
	u.run("api", "GET", "prisms", "--host", "http://127.0.0.1:1").want(exitUnavailable, "no response from Prism")
}

func TestOpen(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	delete(u.env, "PRISM_API_KEY") // it needs no key
	for want, args := range map[string]string{
		"": "open", "prisms/tickets": "open prism tickets", "results/r-1": "open result r-1", "runs/a%2Fb": "open run a/b",
	} {
		if got := u.ok(strings.Fields(args)...); got != server.URL+"/console/"+want+"\n" {
			t.Errorf("%s: got %s", args, got)
		}
	}
	u.run("open", "prism").want(exitUsage, "missing argument <prism>")
	u.run("open", "prsm", "x").want(exitUsage, "did you mean prism?")
	u.run("open", "--host", "javascript:alert(1)").want(exitUsage, "is not the address of a Prism")

	// The browser says what it was called with.
	pipe := filepath.Join(u.dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	browser := u.file("browser", "#!/bin/sh\necho \"$@\" > "+pipe+"\n")
	if err := os.Chmod(browser, 0o700); err != nil {
		t.Fatal(err)
	}
	u.person, u.env["BROWSER"] = true, browser
	u.ok("open", "result", "r-1", "--no-browser")
	u.ok("open", "prism", "tickets")
	if got, err := os.ReadFile(pipe); err != nil || string(got) != server.URL+"/console/prisms/tickets\n" {
		t.Errorf("the browser opened %s, %v", got, err)
	}
	u.env["BROWSER"] = "/none"
	u.run("open").want(exitError, "no browser was opened")
}

// TestOpenKnowsThePagesOfTheConsole looks for the pages in the routes of the console.
func TestOpenKnowsThePagesOfTheConsole(t *testing.T) {
	t.Parallel()
	root, err := prismtest.Root()
	if err != nil {
		t.Fatal(err)
	}
	for file, path := range map[string]string{"prisms": "/prisms/$prism", "results": "/results/$result", "runs": "/runs/$run"} {
		b, err := os.ReadFile(filepath.Join(root, "web/src/pages", file, "routes.tsx"))
		if err != nil || !strings.Contains(string(b), "path: '"+path+"'") {
			t.Errorf("the console has no page %s: %v", path, err)
		}
	}
}
