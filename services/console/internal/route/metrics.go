package route

import (
	"errors"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/prism-results/prism/pkg/apierr"
)

// Metrics are the collectors of the console.
type Metrics struct {
	signIns     *prometheus.CounterVec
	keys        *prometheus.CounterVec
	signOuts    prometheus.Counter
	crossOrigin prometheus.Counter
}

// How people sign in.
const (
	byLink   = "link"
	byOpenID = "openid"
)

// The outcomes of sign-ins and of new session keys.
const (
	outcomeOK          = "ok"
	outcomeRefused     = "refused"     // by Prism or the provider: a used link, an unknown person, an answer for another browser
	outcomeLimited     = "limited"     // the address made too many attempts, or showed too many unknown sessions
	outcomeUnavailable = "unavailable" // results or the provider is down, or failed
)

// NewMetrics registers the collectors.
func NewMetrics(to prometheus.Registerer) *Metrics {
	factory := promauto.With(to)
	m := &Metrics{
		signIns: factory.NewCounterVec(prometheus.CounterOpts{
			Name: "prism_console_sign_ins_total",
			Help: "Sign-ins to the console, by a link or by OpenID Connect: ok, refused, limited, unavailable.",
		}, []string{"by", "outcome"}),
		keys: factory.NewCounterVec(prometheus.CounterOpts{
			Name: "prism_console_session_keys_total", Help: "Session keys that pages asked for: ok, refused, limited, unavailable.",
		}, []string{"outcome"}),
		signOuts: factory.NewCounter(prometheus.CounterOpts{
			Name: "prism_console_sign_outs_total", Help: "Sessions that their members ended.",
		}),
		crossOrigin: factory.NewCounter(prometheus.CounterOpts{
			Name: "prism_console_cross_origin_total", Help: "Changes that were refused, as they came from another origin.",
		}),
	}
	for _, outcome := range []string{outcomeOK, outcomeRefused, outcomeLimited, outcomeUnavailable} {
		m.keys.WithLabelValues(outcome) // a rate needs the zero before the first event
	}
	for _, by := range []string{byLink, byOpenID} {
		for _, outcome := range []string{outcomeOK, outcomeRefused, outcomeLimited, outcomeUnavailable} {
			m.signIns.WithLabelValues(by, outcome)
		}
	}
	return m
}

func (m *Metrics) signedIn(by string, err error) { m.signIns.WithLabelValues(by, outcomeOf(err)).Inc() }

func (m *Metrics) keyMade(err error) { m.keys.WithLabelValues(outcomeOf(err)).Inc() }

func outcomeOf(err error) string {
	var known *apierr.Error
	var limited *apierr.RetryAfterError
	switch {
	case err == nil:
		return outcomeOK
	case errors.As(err, &limited):
		return outcomeLimited
	case errors.As(err, &known) && known.Status < http.StatusInternalServerError:
		return outcomeRefused
	}
	return outcomeUnavailable
}
