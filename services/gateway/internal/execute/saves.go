package execute

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/pkg/contract"
)

// CountSaves returns inner with prism_save_tries_total: tries to save by how they ended. A try that failed is made again
// while its caller can still be answered; after that the answer of the model is lost.
func CountSaves(inner contract.Results, to prometheus.Registerer) contract.Results {
	tries := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "prism_save_tries_total",
		Help: "Tries to save a result: saved, beaten (another call of the race saved first), failed.",
	}, []string{"outcome"})
	to.MustRegister(tries)
	for _, outcome := range []string{saved, beaten, failed} {
		tries.WithLabelValues(outcome) // a rate needs the zero before the first event
	}
	return counting{inner, tries}
}

const (
	saved  = "saved"
	beaten = "beaten"
	failed = "failed"
)

// counting embeds what it counts: there is nothing to say about the other methods.
type counting struct {
	contract.Results
	tries *prometheus.CounterVec
}

func (c counting) Save(ctx context.Context, s contract.Save) (contract.Response, error) {
	doc, err := c.Results.Save(ctx, s)
	outcome := failed
	switch {
	case err == nil:
		outcome = saved
	case lostRace(err):
		outcome = beaten
	}
	c.tries.WithLabelValues(outcome).Inc()
	return doc, err
}
