package route

import (
	"crypto/sha256"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/prism-results/prism/pkg/apikey"
	"github.com/prism-results/prism/pkg/contract"
)

// The names of the cookies. A browser accepts a cookie with the prefix __Host- only over TLS and only from this host, so that no
// other site of the domain can set one (spec: session-cookie).
const (
	sessionCookie     = "prism"
	transactionCookie = "prism-openid"
	hostPrefix        = "__Host-"
)

func (d Deps) cookieName(c *fiber.Ctx, name string) string {
	if d.secure(c) {
		return hostPrefix + name
	}
	return name
}

// cookie is the value of a cookie; "" if the request has none.
func (d Deps) cookie(c *fiber.Ctx, name string) string {
	return string(c.Request().Header.Cookie(d.cookieName(c, name)))
}

// setCookie sets a cookie that scripts cannot read. An age of less than a second removes it.
func (d Deps) setCookie(c *fiber.Ctx, name, value string, age time.Duration) {
	cookie := fasthttp.AcquireCookie()
	defer fasthttp.ReleaseCookie(cookie)
	cookie.SetKey(d.cookieName(c, name))
	cookie.SetValue(value)
	cookie.SetPath("/")
	cookie.SetHTTPOnly(true)
	cookie.SetSecure(d.secure(c))
	cookie.SetSameSite(fasthttp.CookieSameSiteLaxMode)
	if seconds := int(age / time.Second); seconds > 0 {
		cookie.SetMaxAge(seconds)
	} else {
		cookie.SetExpire(fasthttp.CookieExpireDelete)
	}
	c.Response().Header.SetCookie(cookie)
}

// session is the digest of the session of a request. It is false for a text that does not have the form of our tokens, which needs
// no look-up.
func (d Deps) session(c *fiber.Ctx) (contract.SessionDigest, bool) {
	text := d.cookie(c, sessionCookie)
	return sha256.Sum256([]byte(text)), apikey.IsToken(text)
}

// earlier is the session of the browser before a sign-in.
func (d Deps) earlier(c *fiber.Ctx) *contract.SessionDigest {
	digest, ok := d.session(c)
	if !ok {
		return nil
	}
	return &digest
}
