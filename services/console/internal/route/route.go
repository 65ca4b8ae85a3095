// Package route has the endpoints of the console: the files of the app, the session, and the sign-in by OpenID Connect.
package route

import (
	"log/slog"
	"net/url"
	"time"

	"github.com/gofiber/fiber/v2"
	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/console/internal/openid"
	"github.com/prism-results/prism/services/console/internal/site"
)

// Deps are what the routes work with; all but OpenID and PublicURL are required.
type Deps struct {
	Console   contract.Console
	Site      *site.Site
	OpenID    *openid.Client // nil: people can sign in by links only
	PublicURL *url.URL       // nil: the Host of requests is the public one
	Version   string
	Metrics   *Metrics
	Log       *slog.Logger
	Now       func() time.Time

	signIns, unknown *attempts
	known            *lru.Cache[contract.SessionDigest, struct{}] // sessions that were found recently
}

// headers are added to every response of the console that is not an error (spec: console-policy).
var headers = map[string]string{
	fiber.HeaderContentSecurityPolicy:   httpkit.PagePolicy,
	fiber.HeaderReferrerPolicy:          "no-referrer",
	fiber.HeaderPermissionsPolicy:       "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
	"Cross-Origin-Opener-Policy":        "same-origin",
	"Cross-Origin-Resource-Policy":      "same-origin",
	"X-Permitted-Cross-Domain-Policies": "none",
}

// Register adds every route of the console to the app.
func Register(app *fiber.App, d Deps) error {
	var err error
	if d.signIns, err = newAttempts(d.Now, signInBurst, signInInterval); err != nil {
		return err
	}
	if d.unknown, err = newAttempts(d.Now, unknownBurst, unknownInterval); err != nil {
		return err
	}
	if d.known, err = lru.New[contract.SessionDigest, struct{}](knownSessions); err != nil {
		return err
	}
	app.Get("/console/config", secured(d.config))
	app.Post("/console/session", d.change(d.signIn))
	app.Post("/console/session/link", d.change(d.link))
	app.Get("/console/session", secured(d.readSession))
	app.Delete("/console/session", d.change(d.signOut))
	app.Post("/console/session/key", d.change(d.newKey))
	app.Post("/console/session/leave", d.change(d.leave))
	app.Get("/console/openid/start", secured(d.startOpenID))
	app.Post("/console/openid/start", d.change(d.startFromPage))
	app.Get("/console/openid/callback", secured(d.callback))
	app.Get("/console", func(c *fiber.Ctx) error { return c.Redirect("/console/", fiber.StatusPermanentRedirect) })
	app.Get("/console/*", secured(d.file))
	return nil
}

// secured adds headers to the responses of a handler.
func secured(next fiber.Handler) fiber.Handler {
	return func(c *fiber.Ctx) error {
		for name, value := range headers {
			c.Set(name, value)
		}
		return next(c)
	}
}

// change handles a call that changes something: its body must be JSON or absent, and it must come from the app's own origin.
func (d Deps) change(next func(c *fiber.Ctx, body []byte) error) fiber.Handler {
	return secured(func(c *fiber.Ctx) error {
		body, err := httpkit.ReadBody(c)
		if err != nil {
			return err
		}
		if body.Kind == httpkit.Text {
			return apierr.UnsupportedMediaType()
		}
		if !d.sameOrigin(c) {
			d.Metrics.crossOrigin.Inc()
			return apierr.CrossOrigin()
		}
		return next(c, body.Bytes)
	})
}

func (d Deps) config(c *fiber.Ctx) error {
	return sendJSON(c, struct {
		Version string `json:"version"`
		OpenID  bool   `json:"openid"`
	}{d.Version, d.OpenID != nil})
}

// parse reads the body of a change. An absent body leaves v as it is.
func parse(body []byte, v any) error {
	if len(body) == 0 {
		return nil
	}
	if strictjson.Unmarshal(body, v) != nil {
		return apierr.Malformed()
	}
	return nil
}

func sendJSON(c *fiber.Ctx, v any) error {
	body, err := strictjson.Marshal(v)
	if err != nil {
		return err
	}
	return httpkit.Send(c, fiber.StatusOK, httpkit.JSONType, body)
}

func noContent(c *fiber.Ctx) error {
	c.Status(fiber.StatusNoContent)
	return nil
}
