package execute

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/pkg/contract"
)

// CountSaves returns inner with the metric prism_save_tries_total: tries to save by outcome. Executor repeats a failed try for
// saveLimit, also when the client has left. After that the answers of the model are lost.
func CountSaves(inner contract.Results, to prometheus.Registerer) contract.Results {
	tries := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "prism_save_tries_total",
		Help: "Tries to save a result: saved, beaten (another call of the race saved first, or the result to retry was deleted), failed.",
	}, []string{"outcome"})
	to.MustRegister(tries)
	for _, outcome := range []string{saved, beaten, failed} {
		tries.WithLabelValues(outcome) // a rate needs the zero before the first event
	}
	return countingSaves{inner, tries}
}

const (
	saved  = "saved"
	beaten = "beaten"
	failed = "failed"
)

// countingSaves counts saves alone, so the other methods are embedded.
type countingSaves struct {
	contract.Results
	tries *prometheus.CounterVec
}

func (c countingSaves) Save(ctx context.Context, s contract.Save) (contract.Response, error) {
	response, err := c.Results.Save(ctx, s)
	outcome := failed
	switch {
	case err == nil:
		outcome = saved
	case lostRace(err), deleted(err):
		outcome = beaten
	}
	c.tries.WithLabelValues(outcome).Inc()
	return response, err
}
