package httpkit

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/klauspost/compress/gzip"
)

// gzipPiece is how many bytes of a stream are compressed at once: at least what an export makes at once, unless a row is large.
const gzipPiece = 64 << 10

// SendStreamGzip is SendStream, with the body compressed if the client accepts gzip (spec: export-gzip).
func SendStreamGzip(c *fiber.Ctx, contentType string, body io.ReadCloser) error {
	c.Set(fiber.HeaderVary, fiber.HeaderAcceptEncoding)
	if AcceptsGzip(c) {
		c.Set(fiber.HeaderContentEncoding, "gzip")
		body = newGzipped(body)
	}
	return SendStream(c, contentType, body)
}

// acceptsGzip tells whether Accept-Encoding headers accept gzip, and do not prefer a body without coding (RFC 9110, 12.5.3).
// A coding with a malformed weight is ignored.
func acceptsGzip(headers [][]byte) bool {
	weights := map[string]float64{}
	for element := range strings.SplitSeq(string(bytes.Join(headers, []byte(","))), ",") {
		coding, weight, weighed := strings.Cut(element, ";")
		q := 1.0
		if weighed {
			var ok bool
			if q, ok = parseWeight(weight); !ok {
				continue
			}
		}
		coding = strings.ToLower(strings.Trim(coding, " \t"))
		weights[strings.TrimPrefix(coding, "x-")] = q // x-gzip is an old name of gzip
	}
	rest := weights["*"]
	zipped, named := weights["gzip"]
	if !named {
		zipped = rest
	}
	plain, named := weights["identity"]
	if !named {
		plain = rest
	}
	return zipped > 0 && zipped >= plain
}

// parseWeight reads q=0.5, which is from 0 to 1.
func parseWeight(s string) (float64, bool) {
	name, digits, _ := strings.Cut(strings.Trim(s, " \t"), "=")
	if !strings.EqualFold(name, "q") || strings.Trim(digits, "0123456789.") != "" { // such as 1e0 and +1
		return 0, false
	}
	q, err := strconv.ParseFloat(digits, 64)
	return q, err == nil && q <= 1
}

// gzipped compresses a body piece by piece. Each piece can be decompressed as soon as it arrived, so rows arrive as they are
// made. Of a body that fails the end is missing, so that no reader takes a part for the whole.
type gzipped struct {
	body  io.ReadCloser
	piece []byte
	zip   *gzip.Writer // keeps no state between pieces: its tables would be 0.8 MB for each stream that waits for its client
	made  bytes.Buffer // compressed and not yet read
	err   error        // of body
}

func newGzipped(body io.ReadCloser) *gzipped {
	g := &gzipped{body: body, piece: make([]byte, gzipPiece)}
	g.zip, _ = gzip.NewWriterLevel(&g.made, gzip.StatelessCompression) // the level exists
	return g
}

func (g *gzipped) Read(p []byte) (int, error) {
	for g.made.Len() == 0 {
		if g.err != nil {
			return 0, g.err
		}
		if err := g.compress(); err != nil {
			return 0, err
		}
	}
	return g.made.Read(p)
}

// compress reads and compresses the next piece.
func (g *gzipped) compress() error {
	var n int
	n, g.err = g.body.Read(g.piece)
	if n > 0 {
		if _, err := g.zip.Write(g.piece[:n]); err != nil {
			return err
		}
	}
	if errors.Is(g.err, io.EOF) {
		return g.zip.Close()
	}
	return nil
}

// HeldBytes is how many bytes the stream holds: what the body holds, a piece, and the piece compressed.
func (g *gzipped) HeldBytes() int {
	return len(g.piece) + g.made.Cap() + HeldBytes(g.body)
}

func (g *gzipped) Close() error { return g.body.Close() }

// AcceptsGzip tells whether the client accepts gzip, and does not prefer a body without coding.
func AcceptsGzip(c *fiber.Ctx) bool {
	return acceptsGzip(c.Request().Header.PeekAll(fiber.HeaderAcceptEncoding))
}
