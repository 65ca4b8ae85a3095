package httpkit

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"path"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/klauspost/compress/gzip"
)

// PagePolicy is the Content-Security-Policy of the pages. They load scripts, styles and pictures of the server that they come
// from and call the same server; no inline script or style runs, no text becomes markup, and no other page frames them.
const PagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

// File is a file that every client gets the same bytes of: typed, compressed and tagged once, before it is served.
type File struct {
	mediaType  string
	body, gzip []byte // gzip is nil where compression would save little
	etag       string
	immutable  bool
}

// fileTypes are media types by extension. The machine's own table would differ between machines.
var fileTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".json": JSONType, ".svg": "image/svg+xml", ".png": "image/png", ".ico": "image/x-icon",
	".woff2": "font/woff2", ".txt": "text/plain; charset=utf-8", ".webmanifest": "application/manifest+json",
}

// leastSaving is the part of a file that compression has to save, as a divisor.
const leastSaving = 10

// NewFile prepares a file. An immutable one has a hash of its content in its name, so clients keep it for a year. A name whose
// extension is not known is an error.
func NewFile(name string, body []byte, immutable bool) (*File, error) {
	mediaType, known := fileTypes[path.Ext(name)]
	if !known {
		return nil, fmt.Errorf("%s: its media type is not known", name)
	}
	sum := sha256.Sum256(body)
	// The tag is weak, because the compressed bytes have the same one (RFC 9110, 8.8.1).
	f := &File{
		mediaType: mediaType, body: body, immutable: immutable,
		etag: `W/"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`,
	}
	var zipped bytes.Buffer
	w, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(body); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if zipped.Len() < len(body)-len(body)/leastSaving {
		f.gzip = bytes.Clone(zipped.Bytes())
	}
	return f, nil
}

// Send answers with the file, or with 304 if the client has it.
func (f *File) Send(c *fiber.Ctx) error {
	c.Set(fiber.HeaderETag, f.etag)
	c.Set(fiber.HeaderVary, fiber.HeaderAcceptEncoding)
	c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	c.Set(fiber.HeaderCacheControl, "no-cache")
	if f.immutable {
		c.Set(fiber.HeaderCacheControl, "public, max-age=31536000, immutable")
	}
	if matchesTag(c.Get(fiber.HeaderIfNoneMatch), f.etag) {
		c.Status(fiber.StatusNotModified)
		return nil
	}
	if f.gzip != nil && acceptsGzip(c.Request().Header.PeekAll(fiber.HeaderAcceptEncoding)) {
		c.Set(fiber.HeaderContentEncoding, "gzip")
		return Send(c, fiber.StatusOK, f.mediaType, f.gzip)
	}
	return Send(c, fiber.StatusOK, f.mediaType, f.body)
}

// matchesTag tells whether If-None-Match has a tag, by the weak comparison (RFC 9110, 13.1.2).
func matchesTag(header, tag string) bool {
	for t := range strings.SplitSeq(header, ",") {
		if t = strings.TrimSpace(t); t == "*" || strings.TrimPrefix(t, "W/") == strings.TrimPrefix(tag, "W/") {
			return true
		}
	}
	return false
}
