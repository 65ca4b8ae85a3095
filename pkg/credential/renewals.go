package credential

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Renewals counts the renewals of the credentials of a process for one purpose, by the kind of its identity.
type Renewals struct{ total *prometheus.CounterVec }

// NewRenewals registers the counters of a purpose, such as postgres, for each kind of identity. to may be nil. It panics if the purpose is
// registered already.
func NewRenewals(to prometheus.Registerer, purpose string, kinds ...string) *Renewals {
	r := &Renewals{promauto.With(to).NewCounterVec(prometheus.CounterOpts{
		Name:        "prism_credential_renewals_total",
		Help:        "Tokens and keys of the workload's own identity that were fetched, by whether that succeeded.",
		ConstLabels: prometheus.Labels{"purpose": purpose},
	}, []string{"identity", "outcome"})}
	for _, kind := range kinds {
		r.Count(kind) // a rate needs the zero before the first failure
	}
	return r
}

// Count has the counters of a kind. Those of nil count nothing.
func (r *Renewals) Count(kind string) *Count {
	if r == nil {
		return nil
	}
	return &Count{r.total.WithLabelValues(kind, "renewed"), r.total.WithLabelValues(kind, "failed")}
}

// Count counts how fetches end. nil counts nothing.
type Count struct{ renewed, failed prometheus.Counter }

func (c *Count) end(err error) {
	switch {
	case c == nil:
	case err != nil:
		c.failed.Inc()
	default:
		c.renewed.Inc()
	}
}
