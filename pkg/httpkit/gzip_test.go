package httpkit

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/apierr"
)

const acceptingGzip = " HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n"

func zipping(bodies ...*source) func(*fiber.App) {
	return func(app *fiber.App) {
		echo(app)
		app.Get("/export", func(c *fiber.Ctx) error {
			body := bodies[0]
			bodies = bodies[1:]
			return SendStreamGzip(c, "text/csv; charset=utf-8", body)
		})
	}
}

func unzip(t *testing.T, zipped string) string {
	t.Helper()
	r, err := gzip.NewReader(strings.NewReader(zipped))
	if err != nil {
		t.Fatalf("%d bytes that are not gzip: %v", len(zipped), err)
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("unzip: %v", err)
	}
	return string(plain)
}

// spec: export-gzip
func TestOnlyClientsThatAcceptGzipGetIt(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		headers []string
		want    bool
	}{
		{nil, false},
		{[]string{""}, false},
		{[]string{"gzip"}, true},
		{[]string{"GZip"}, true},
		{[]string{"x-gzip"}, true},
		{[]string{"gzip, deflate, br"}, true},
		{[]string{" br\t,\tgzip ; Q=0.3"}, true},
		{[]string{"br", "deflate", "gzip"}, true},
		{[]string{"br", "deflate"}, false},
		{[]string{"gzipped"}, false},
		{[]string{"gzip;q=1.000"}, true},
		{[]string{"gzip;q=0.001"}, true},
		{[]string{"gzip;q=0"}, false},
		{[]string{"gzip;q=0.000"}, false},
		{[]string{"gzip;q=0, *"}, false},
		{[]string{"*", "gzip;q=0"}, false},
		{[]string{"*"}, true},
		{[]string{"br, *;q=0.1"}, true},
		{[]string{"*;q=0"}, false},
		{[]string{"gzip, *;q=0"}, true},
		{[]string{"identity"}, false},
		{[]string{"identity;q=0"}, false},
		{[]string{"gzip, identity"}, true},
		{[]string{"gzip;q=0.5, identity;q=0.4"}, true},
		{[]string{"gzip;q=0.5, identity;q=0.6"}, false},
		{[]string{"gzip;q=0.5, *;q=0.6"}, false},
		{[]string{"gzip;q=2"}, false},
		{[]string{"gzip;q=-1"}, false},
		{[]string{"gzip;q=1e0"}, false},
		{[]string{"gzip;q=NaN"}, false},
		{[]string{"gzip;q="}, false},
		{[]string{"gzip;"}, false},
		{[]string{"gzip;level=9"}, false},
		{[]string{",,", ";,gzip,"}, true},
	} {
		var headers [][]byte
		for _, h := range test.headers {
			headers = append(headers, []byte(h))
		}
		if got := acceptsGzip(headers); got != test.want {
			t.Errorf("%q: got %v", test.headers, got)
		}
	}
}

// spec: export-gzip
func TestAZippedStreamHasTheSameBytes(t *testing.T) {
	t.Parallel()
	var rows, noise strings.Builder
	random := rand.New(rand.NewPCG(1, 2))
	for rows.Len() < 300_000 {
		_, _ = fmt.Fprintf(&rows, "%d,ticket,\"Where is my parcel?\",%d\r\n", random.IntN(1000), random.IntN(1000))
	}
	for noise.Len() < 300_000 {
		noise.WriteByte(byte(random.Uint32()))
	}
	for _, want := range []string{rows.String(), noise.String(), "", "x"} {
		body := func() *source { return newSource(strings.NewReader(want)) }
		r := start(t, Config{}, Deps{}, zipping(body(), body(), body()))
		p := r.dial()
		plain := p.send(get("/export")).reply("GET")
		if plain.body != want || plain.header.Get("Content-Encoding") != "" || plain.header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("not asked for: %d bytes, headers %v", len(plain.body), plain.header)
		}
		got := p.send("GET /export HTTP/1.1\r\nHost: x\r\nAccept-Encoding: br\r\nAccept-Encoding: gzip\r\n\r\n").reply("GET")
		if got.status != 200 || unzip(t, got.body) != want {
			t.Errorf("got %d, %d bytes of %d", got.status, len(got.body), len(want))
		}
		if want == rows.String() && len(got.body) > len(want)/2 {
			t.Errorf("%d bytes of rows became %d", len(want), len(got.body))
		}
		for name, value := range map[string]string{
			"Content-Encoding": "gzip", "Vary": "Accept-Encoding", "Content-Type": "text/csv; charset=utf-8", "Content-Length": "",
		} {
			if got.header.Get(name) != value {
				t.Errorf("%s is %q", name, got.header.Get(name))
			}
		}
		// spec: http-1-0
		old := r.once("GET /export HTTP/1.0\r\nAccept-Encoding: gzip\r\n\r\n")
		if unzip(t, old.body) != want || old.header.Get("Content-Encoding") != "gzip" || !old.close {
			t.Errorf("HTTP/1.0: got %d bytes, headers %v", len(old.body), old.header)
		}
	}
}

// spec: export-gzip
func TestRowsOfAZippedStreamArriveAsTheyAreMade(t *testing.T) {
	t.Parallel()
	rows := make(chan string)
	body := newSource(readerFunc(func(p []byte) (int, error) {
		row, ok := <-rows
		if !ok {
			return 0, io.EOF
		}
		return copy(p, row), nil
	}))
	r := start(t, Config{}, Deps{}, zipping(body))
	p := r.dial().send("GET /export" + acceptingGzip)
	rows <- "0\n"
	res, err := http.ReadResponse(p.r, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	zipped, err := gzip.NewReader(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(zipped)
	for i := range 100 { // each row is sent after the row before has arrived
		if line, err := lines.ReadString('\n'); err != nil || line != fmt.Sprintf("%d\n", i) {
			t.Fatalf("row %d is %q, %v", i, line, err)
		}
		rows <- fmt.Sprintf("%d\n", i+1)
	}
	close(rows)
	if rest, err := io.ReadAll(lines); err != nil || string(rest) != "100\n" {
		t.Errorf("the end is %q, %v", rest, err)
	}
}

// spec: export-gzip
func TestAZippedStreamThatFailsIsNotTakenForAWhole(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("0123456789\r\n", 100_000)
	fault := failing{errors.New("the store fell")}
	bodies := []*source{
		newSource(io.MultiReader(strings.NewReader(large), fault)), newSource(&lastGasp{}),
		newSource(io.MultiReader(strings.NewReader(large), fault)), newSource(&lastGasp{}),
		newSource(fault), newSource(failing{apierr.PrismNotFound()}),
	}
	r := start(t, Config{}, Deps{}, zipping(bodies...))
	for i, version := range []string{"1.1", "1.1", "1.0", "1.0"} {
		p := r.dial().send("GET /export HTTP/" + version + "\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n")
		res, err := http.ReadResponse(p.r, nil)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err == nil {
			t.Errorf("%d: the connection ended like that of a whole stream", i)
		}
		zipped, err := gzip.NewReader(strings.NewReader(string(raw)))
		if err == nil {
			_, err = io.ReadAll(zipped)
		}
		if !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) { // a reset may take all that was sent
			t.Errorf("%d: the bytes that arrived are a whole stream: %v", i, err)
		}
		bodies[i].wantClosed(t)
	}
	for i, want := range []string{internalBody, `{"error":{"code":"not_found","message":"Prism not found"}}`} {
		got := r.once("GET /export" + acceptingGzip)
		wantError(t, got, []int{500, 404}[i], want)
		if got.header.Get("Content-Encoding") != "" {
			t.Errorf("an error has headers %v", got.header)
		}
		bodies[4+i].wantClosed(t)
	}
}

// spec: export-gzip
func TestAZippedStreamIsNotMadeForHead(t *testing.T) {
	t.Parallel()
	bodies := []*source{newSource(strings.NewReader("a,b\r\n")), newSource(strings.NewReader("a,b\r\n"))}
	r := start(t, Config{}, Deps{}, zipping(bodies...))
	p := r.dial()
	got := p.send("HEAD /export" + acceptingGzip).reply("HEAD")
	if got.status != 200 || got.header.Get("Content-Encoding") != "gzip" || got.header.Get("Vary") != "Accept-Encoding" {
		t.Errorf("got %d %v", got.status, got.header)
	}
	bodies[0].wantClosed(t)
	if got := p.send("GET /export" + acceptingGzip).reply("GET"); unzip(t, got.body) != "a,b\r\n" {
		t.Errorf("the next answer is %q", got.body)
	}
}

// A stalled zipped stream counts with what its body holds and with its own buffers, and keeps no tables of the encoder.
//
// spec: response-budget, export-gzip
func TestAStalledZippedStreamCountsWithItsBuffers(t *testing.T) {
	t.Parallel()
	const rows = 1 << 20
	random := rand.NewChaCha8([32]byte{})
	endless := newSource(random)
	r := start(t, Config{}, Deps{}, func(app *fiber.App) {
		app.Get("/export", func(c *fiber.Ctx) error { return SendStreamGzip(c, "text/csv", &holding{endless, rows}) })
	})
	p := r.dial().send("GET /export" + acceptingGzip)
	eventually(t, "the rows and a piece are counted, plain and zipped", func() bool {
		return r.tracker.answers.Taken() >= rows+2*gzipPiece
	})
	if taken := r.tracker.answers.Taken(); taken > rows+4*gzipPiece {
		t.Errorf("%d bytes are counted", taken)
	}
	_ = p.Close()
	endless.wantClosed(t)
	eventually(t, "nothing held", func() bool { return r.tracker.answers.Taken() == 0 })
}
