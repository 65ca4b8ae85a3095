package route

import (
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// sameOrigin tells whether a change comes from the app's own pages, or from no browser. Sec-Fetch-Site decides, which every browser
// sends to a site with TLS and to this machine; without it, Origin does (spec: console-same-origin). If a proxy in front changes
// Host, Origin differs from it: PRISM_PUBLIC_URL then names the origin that browsers see.
func (d Deps) sameOrigin(c *fiber.Ctx) bool {
	if site := c.Get("Sec-Fetch-Site"); site != "" {
		return site == "same-origin"
	}
	origin := c.Get(fiber.HeaderOrigin)
	if origin == "" || d.PublicURL != nil && origin == d.PublicURL.Scheme+"://"+d.PublicURL.Host {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, host(c)) && (u.Scheme == "https" || !d.secure(c))
}

// secure tells whether cookies require TLS. They do, except on this machine without TLS.
func (d Deps) secure(c *fiber.Ctx) bool {
	if d.PublicURL != nil && d.PublicURL.Scheme == "https" {
		return true
	}
	return c.Get(fiber.HeaderXForwardedProto) == "https" || !IsLoopback(host(c))
}

// host is the host of the request, with its port.
func host(c *fiber.Ctx) string { return string(c.Request().Header.Host()) }

// IsLoopback tells whether a host, with or without a port, is this machine.
func IsLoopback(hostport string) bool {
	name := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		name = h
	}
	name = strings.ToLower(strings.Trim(name, "[]"))
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	address, err := netip.ParseAddr(name)
	return err == nil && address.IsLoopback()
}
