package httpkit

import (
	"errors"
	"log/slog"
	"strconv"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/fair"
)

// JSONType is the media type of JSON bodies (spec: media-types).
const JSONType = "application/json; charset=utf-8"

// retryAfter is the pause that a 503 asks for, in seconds: bounds are free again as soon as a call ends.
const retryAfter = "1"

// Send responds with a finished body that is small or shared by many responses. It always returns nil. The body must not be
// changed afterwards.
func Send(c *fiber.Ctx, status int, contentType string, body []byte) error {
	r := c.Response()
	r.SetStatusCode(status)
	r.Header.SetContentType(contentType)
	r.SetBodyRaw(body)
	return nil
}

// SendOwn is Send for a body of any size that this response alone holds. If Config.MaxResponseBytes leaves no room for the body,
// it is the 503 (spec: response-budget), except if the request has taken effect: then the response is sent in any case.
func SendOwn(c *fiber.Ctx, status int, contentType string, body []byte, tookEffect bool) error {
	x := exchangeOf(c)
	if !fair.ReserveResponse(x.ctx, len(body), tookEffect) {
		return x.shed(shedAnswers)
	}
	return Send(c, status, contentType, body)
}

// ExtendErrors has the errors of a request end in further members beside code and message, which are JSON without braces. The 503 of a
// restarting server has none.
func ExtendErrors(c *fiber.Ctx, members func(*apierr.Error) []byte) { exchangeOf(c).extend = members }

// respondError is the one place where errors become responses. An error that is not of the catalogue is logged and becomes
// the 500 (spec: error-internal).
func (x *exchange) respondError(err error) {
	known, level, message := apierr.Internal(), slog.LevelError, "request failed"
	if errors.As(err, &known) {
		level, message = slog.LevelWarn, "request refused"
	}
	// The cause, such as a dependency that is away, is for the operator.
	if known.Status >= fasthttp.StatusInternalServerError && err.Error() != known.Error() {
		attrs := []slog.Attr{slog.String("route", x.route), slog.String("method", x.method), slog.String("error", err.Error())}
		var p *panicked
		if errors.As(err, &p) {
			attrs = append(attrs, slog.String("stack", string(p.stack)))
		}
		x.server.deps.Log.LogAttrs(x.ctx, level, message, attrs...)
	}
	writeError(&x.fctx.Response, known)
	if x.extend != nil && known.Status != fasthttp.StatusServiceUnavailable {
		x.fctx.Response.SetBodyRaw(errorBody(known, x.extend(known)))
	}
	var later *apierr.RetryAfterError
	if errors.As(err, &later) {
		x.fctx.Response.Header.Set(fiber.HeaderRetryAfter, strconv.Itoa(later.Seconds)) // spec: retry-after-of-a-503
	}
	if known.Status == fasthttp.StatusMethodNotAllowed {
		x.fctx.Response.Header.Set(fiber.HeaderAllow, fiber.MethodPost) // spec: error-method-not-allowed
	}
	// A list of problems can be six times as long as the body.
	if !fair.ReserveResponse(x.ctx, len(x.fctx.Response.Body()), false) {
		writeError(&x.fctx.Response, x.shed(shedAnswers))
	}
}

// setStandardHeaders sets the headers that every response has (spec: request-id, nosniff, no-store). Names that are
// canonical already need no normalising.
func setStandardHeaders(h *fasthttp.ResponseHeader, requestID string) {
	h.SetCanonical([]byte("X-Request-Id"), []byte(requestID)) // fiber.HeaderXRequestID is not canonical
	h.SetCanonical([]byte(fiber.HeaderXContentTypeOptions), []byte("nosniff"))
	h.SetCanonical([]byte(fiber.HeaderCacheControl), []byte("no-store"))
}

// writeError replaces what the handler has written, except the headers that every response has.
func writeError(r *fasthttp.Response, e *apierr.Error) {
	id, closing := string(r.Header.Peek(fiber.HeaderXRequestID)), r.Header.ConnectionClose()
	r.Reset()
	r.Header.SetNoDefaultContentType(true)
	setStandardHeaders(&r.Header, id)
	if closing {
		r.Header.SetConnectionClose()
	}
	r.SetStatusCode(e.Status)
	r.Header.SetContentType(JSONType)
	if e.Status == fasthttp.StatusUnauthorized {
		r.Header.Set(fiber.HeaderWWWAuthenticate, "Bearer") // spec: www-authenticate
	}
	if e.Status == fasthttp.StatusServiceUnavailable {
		r.Header.Set(fiber.HeaderRetryAfter, retryAfter) // spec: retry-after-of-a-503
	}
	r.SetBodyRaw(ErrorBody(e))
}
