package wire_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/contract/wire"
	"github.com/prism-results/prism/pkg/httpkit"
)

// inFront runs a gateway that passes /console on to an address, and returns its own.
func inFront(t *testing.T, cfg httpkit.Config, behind string, shown ...string) string {
	t.Helper()
	proxy, err := wire.NewProxy(wire.ClientConfig{URL: behind, Tokens: tokens(shown...)}, wire.ClientDeps{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	cfg.Name = "front"
	server := httpkit.New(cfg, httpkit.Deps{})
	server.App().Get("/console/*", proxy.Pass)
	server.App().Post("/console/*", proxy.Pass)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx, ln) }()
	t.Cleanup(func() { stop(); <-ended })
	return "http://" + ln.Addr().String()
}

// ask makes a request without following a redirect, and returns the response and its body.
func ask(t *testing.T, method, url, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := (&http.Transport{DisableKeepAlives: true, DisableCompression: true}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(text)
}

// echoed is a service that tells what it was asked.
func echoed(app *fiber.App, _ *slog.Logger) {
	wire.MountBehind(app, tokens(token))
	answer := func(c *fiber.Ctx) error {
		var body []byte
		if c.Method() == fiber.MethodPost {
			b, err := httpkit.ReadBody(c)
			if err != nil {
				return err
			}
			body = b.Bytes
		}
		c.Set(fiber.HeaderConnection, "keep-alive")
		c.Set("Keep-Alive", "timeout=5")
		c.Set(fiber.HeaderCacheControl, "no-cache")
		c.Set("ETag", `W/"tag"`)
		c.Cookie(&fiber.Cookie{Name: "one", Value: "1"})
		c.Cookie(&fiber.Cookie{Name: "two", Value: "2"})
		text := strings.Join([]string{
			c.Method(), string(c.Request().Header.RequestURI()), string(c.Request().Header.Host()), httpkit.Client(c).String(),
			c.Get("Cookie"), c.Get("Origin"), c.Get("X-Other"), c.Get("X-Forwarded-Proto"), string(body),
		}, "|")
		return httpkit.Send(c, fiber.StatusAccepted, "text/plain; charset=utf-8", []byte(text))
	}
	app.Get("/console/*", answer)
	app.Post("/console/*", answer)
}

// behind is an internal server that believes whose requests it is passed, as daemon.InternalServer makes it.
func behind(t *testing.T, mount func(*fiber.App, *slog.Logger)) string {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	url, ended := serveUntil(ctx, t, httpkit.Config{TrustedCallers: true, TrustedProxies: httpkit.Everywhere()}, mount)
	t.Cleanup(func() { stop(); <-ended })
	return url
}

// spec: console-behind-the-gateway
func TestARequestIsPassedOnAsItCame(t *testing.T) {
	t.Parallel()
	front := inFront(t, httpkit.Config{}, behind(t, echoed), token)
	res, body := ask(t, "POST", front+"/console/a%2Fb?x=%20y&z", `{"a":1}`, "Host", "prism.example.com:8443", "Cookie", "prism=c",
		"Origin", "https://o", "X-Other", "dropped", "Content-Type", "application/json", "Authorization", "Bearer of-the-client",
		"X-Forwarded-For", "203.0.113.9", "X-Forwarded-Proto", "https", "X-Request-Id", "the-id")
	want := `POST|/console/a%2Fb?x=%20y&z|prism.example.com:8443|127.0.0.1|prism=c|https://o||https|{"a":1}`
	if res.StatusCode != 202 || body != want {
		t.Errorf("%d\n%s, want\n%s", res.StatusCode, body, want)
	}
	if cookies := res.Header.Values("Set-Cookie"); len(cookies) != 2 {
		t.Errorf("the cookies are %q", cookies)
	}
	for name, want := range map[string]string{
		"Keep-Alive": "", "Cache-Control": "no-cache", "Etag": `W/"tag"`, "X-Request-Id": "the-id", "Content-Type": "text/plain; charset=utf-8",
		"X-Content-Type-Options": "nosniff",
	} {
		if got := strings.Join(res.Header.Values(name), ","); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// spec: console-behind-the-gateway
func TestTheAddressOfAClientIsPassedOn(t *testing.T) {
	t.Parallel()
	var trusted httpkit.Proxies
	if err := trusted.UnmarshalText([]byte("127.0.0.1")); err != nil {
		t.Fatal(err)
	}
	front := inFront(t, httpkit.Config{TrustedProxies: trusted}, behind(t, echoed), token)
	_, body := ask(t, "GET", front+"/console/", "", "X-Forwarded-For", "198.51.100.1, 203.0.113.9")
	if !strings.Contains(body, "|203.0.113.9|") {
		t.Errorf("the client is not the one behind the trusted proxy: %s", body)
	}
}

// spec: console-behind-the-gateway
func TestAHeadIsPassedOnWithItsLength(t *testing.T) {
	t.Parallel()
	front := inFront(t, httpkit.Config{}, behind(t, echoed), token)
	got, _ := ask(t, "GET", front+"/console/", "", "Host", "x")
	res, body := ask(t, "HEAD", front+"/console/", "", "Host", "x")
	if res.StatusCode != 202 || body != "" || res.ContentLength != got.ContentLength+1 { // HEAD is one letter longer than GET
		t.Errorf("%d with %d bytes, want %d: %q", res.StatusCode, res.ContentLength, got.ContentLength+1, body)
	}
}

// spec: console-behind-the-gateway, token-lists
func TestTheServiceBehindAsksForTheToken(t *testing.T) {
	t.Parallel()
	url := behind(t, echoed)
	if res, _ := ask(t, "GET", url+"/console/", ""); res.StatusCode != 401 {
		t.Errorf("without a token: %d", res.StatusCode)
	}
	if res, _ := ask(t, "GET", inFront(t, httpkit.Config{}, url, "another", token)+"/console/", ""); res.StatusCode != 202 {
		t.Errorf("with the second token of the list: %d", res.StatusCode)
	}
	if res, body := ask(t, "GET", inFront(t, httpkit.Config{}, url, "another")+"/console/", ""); res.StatusCode != 503 {
		t.Errorf("with another token: %d %s", res.StatusCode, body)
	}
}

// spec: console-behind-the-gateway
func TestARequestThatCannotBePassedOnIsRefused(t *testing.T) {
	t.Parallel()
	front := inFront(t, httpkit.Config{}, behind(t, echoed), token)
	json := []string{"Content-Type", "application/json"}
	if res, _ := ask(t, "POST", front+"/console/x", strings.Repeat(" ", wire.PassedBody+1), json...); res.StatusCode != 413 {
		t.Errorf("a large body: %d", res.StatusCode)
	}
	if res, _ := ask(t, "POST", front+"/console/x", "a=b", "Content-Type", "application/x-www-form-urlencoded"); res.StatusCode != 415 {
		t.Errorf("a form: %d", res.StatusCode)
	}
	gone := inFront(t, httpkit.Config{}, "http://127.0.0.1:1", token)
	res, body := ask(t, "GET", gone+"/console/", "")
	if res.StatusCode != 503 || res.Header.Get("Retry-After") == "" || !strings.Contains(body, "Service Unavailable") {
		t.Errorf("a service that is away: %d %s", res.StatusCode, body)
	}
}
