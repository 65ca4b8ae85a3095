package httpkit

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/gofiber/fiber/v2"
)

// held is a route that reads its body and answers when it is let go.
func (g *gate) held(app *fiber.App) {
	g.route(app)
	app.Post("/held", func(c *fiber.Ctx) error {
		b, err := ReadBody(c)
		if err != nil {
			return err
		}
		g.entered <- c.UserContext()
		<-g.open
		return Send(c, 200, "text/plain", fmt.Append(nil, len(b.Bytes)))
	})
}

// Memory stays within its bound whatever comes: bodies that do not fit get the contract's 503, small ones always fit.
func TestBodiesBeyondTheBoundAreShed(t *testing.T) {
	t.Parallel()
	g := newGate()
	r := start(t, Config{MaxBodyBytes: 4 * mebibyte}, Deps{}, g.held)
	large, small := strings.Repeat("x", mebibyte), strings.Repeat("x", uncounted)
	toHeld := func(request string) string { return strings.Replace(request, "/v1/results/a/retry", "/held", 1) }
	var taken []*peer
	for _, request := range []string{
		post(asText, large), postChunked(asText, large, 60000), post(asText, large), post(asText, large), post(asText, small),
		postChunked(asText, small, 100),
	} {
		taken = append(taken, r.dial().send(toHeld(request)))
		g.wait(t)
	}
	if held := r.tracker.heldBytes.Load(); held < 3*mebibyte || held > 4*mebibyte {
		t.Errorf("%d bytes are held", held)
	}
	for _, request := range []string{post(asText, large), postChunked(asText, large, 60000)} {
		p := r.dial().send(request)
		wantError(t, p.reply("POST"), 503, unavailableBody)
		p.end()
	}
	wantReply(t, r.once(post(asText, "small")), 200, "text small")
	wantError(t, r.once(post(asText, large+"x")), 413, malformedBody)
	wantSeries(t, r.metrics, "prism_http_shed_total", `reason="bodies",service="test" 2`)
	close(g.open)
	for i, p := range taken {
		want := fmt.Sprint(mebibyte)
		if i >= 4 {
			want = fmt.Sprint(uncounted)
		}
		wantReply(t, p.reply("POST"), 200, want)
		p.send(get("/v1/results/a")).reply("GET") // the answer before is out for good
	}
	eventually(t, "nothing held", func() bool { return r.tracker.heldBytes.Load() == 0 })
	wantSeries(t, r.metrics, "prism_http_body_bytes", `service="test" 0`)
	wantSeries(t, r.metrics, "prism_http_body_bytes_limit", fmt.Sprintf(`service="test" %v`, float64(4*mebibyte)))
	for range 10 {
		wantReply(t, r.once(post(asText, large)), 200, "text "+large)
	}
}

func TestManyLargeBodiesAtOnceStayWithinTheBound(t *testing.T) {
	t.Parallel()
	const most = 4 * mebibyte
	over := make(chan int64, 1)
	r := start(t, Config{MaxBodyBytes: most}, Deps{}, func(app *fiber.App) {
		app.Post("/read", func(c *fiber.Ctx) error {
			b, err := ReadBody(c)
			if held := exchangeOf(c).server.tracker.heldBytes.Load(); held > most {
				select {
				case over <- held:
				default:
				}
			}
			if err != nil {
				return err
			}
			return Send(c, 200, "text/plain", fmt.Append(nil, len(b.Bytes)))
		})
	})
	body := strings.Repeat("x", mebibyte)
	request := strings.Replace(post(asText, body), "/v1/results/a/retry", "/read", 1)
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			p := r.dialFor(t)
			go func() { _, _ = io.WriteString(p.Conn, request) }()
			res, err := http.ReadResponse(bufio.NewReader(p.Conn), nil)
			if err != nil {
				t.Errorf("got %v", err)
				return
			}
			got, _ := io.ReadAll(res.Body)
			_ = res.Body.Close()
			if want := map[int]string{200: fmt.Sprint(mebibyte), 503: unavailableBody}[res.StatusCode]; string(got) != want || want == "" {
				t.Errorf("got %d %q", res.StatusCode, got)
			}
			_ = p.Close()
		})
	}
	all.Wait()
	select {
	case held := <-over:
		t.Errorf("%d bytes were held", held)
	default:
	}
	eventually(t, "nothing held", func() bool { return r.tracker.heldBytes.Load() == 0 })
	wantReply(t, r.once(request), 200, fmt.Sprint(mebibyte))
}

// The largest body that is allowed fits, whatever the bound says.
func TestALoneBodyAlwaysFits(t *testing.T) {
	t.Parallel()
	r := start(t, Config{MaxBodyBytes: 1}, Deps{}, echo)
	body := strings.Repeat("x", mebibyte)
	wantReply(t, r.once(post(asText, body)), 200, "text "+body)
}
