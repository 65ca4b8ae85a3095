package httpkit

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"path"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"
	"github.com/klauspost/compress/gzip"
)

// PagePolicy is the Content-Security-Policy of the pages. They load scripts, styles and pictures of the server that they come
// from and call the same server; no inline script or style runs, no text becomes markup, and no other page frames them.
const PagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

// File is a file that every client gets the same bytes of: typed and tagged before it is served, and compressed once, when a
// client first accepts that.
type File struct {
	mediaType string
	body      []byte
	gzip      func() []byte // nil where compression would save little
	etag      string
	immutable bool
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
		return nil, fmt.Errorf("%s: its type is not known", name)
	}
	sum := sha256.Sum256(body)
	// The tag is weak, because the compressed bytes have the same one (RFC 9110, 8.8.1).
	return &File{
		mediaType: mediaType, body: body, immutable: immutable,
		etag: `W/"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`,
		gzip: sync.OnceValue(func() []byte { return compressed(body) }),
	}, nil
}

// compressed is a body in gzip, or nil where that would save little.
func compressed(body []byte) []byte {
	var zipped bytes.Buffer
	w, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(body)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil || zipped.Len() >= len(body)-len(body)/leastSaving {
		return nil
	}
	return bytes.Clone(zipped.Bytes())
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
	body := f.body
	if AcceptsGzip(c) {
		if zipped := f.gzip(); zipped != nil {
			c.Set(fiber.HeaderContentEncoding, "gzip")
			body = zipped
		}
	}
	return Send(c, fiber.StatusOK, f.mediaType, body)
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
