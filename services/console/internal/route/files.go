package route

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/httpkit"
)

// file sends a file of the app (spec: console-files).
func (d Deps) file(c *fiber.Ctx) error {
	f := d.Site.Find(strings.Clone(c.Params("*")))
	if f == nil {
		return apierr.RouteNotFound()
	}
	c.Set(fiber.HeaderETag, f.ETag)
	c.Set(fiber.HeaderVary, fiber.HeaderAcceptEncoding)
	if f.Immutable {
		c.Set(fiber.HeaderCacheControl, "public, max-age=31536000, immutable")
	} else {
		c.Set(fiber.HeaderCacheControl, "no-cache")
	}
	if matches(c.Get(fiber.HeaderIfNoneMatch), f.ETag) {
		c.Status(fiber.StatusNotModified)
		return nil
	}
	body := f.Body
	if f.Gzip != nil && httpkit.AcceptsGzip(c) {
		c.Set(fiber.HeaderContentEncoding, "gzip")
		body = f.Gzip
	}
	return httpkit.Send(c, fiber.StatusOK, f.Type, body)
}

// matches tells whether If-None-Match has a tag (RFC 9110, 13.1.2), by the weak comparison.
func matches(header, tag string) bool {
	for t := range strings.SplitSeq(header, ",") {
		if t = strings.TrimSpace(t); t == "*" || strings.TrimPrefix(t, "W/") == strings.TrimPrefix(tag, "W/") {
			return true
		}
	}
	return false
}
