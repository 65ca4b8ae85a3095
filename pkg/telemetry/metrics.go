package telemetry

import (
	"runtime/debug"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/prism-results/prism/pkg/build"
)

// Registry is a new registry with the collectors that every process has: the Go runtime, the process, and
// prism_build_info, which is always 1 and has the version in its labels.
func Registry(service string) *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		buildInfo(service, debug.ReadBuildInfo),
	)
	return r
}

func buildInfo(service string, read func() (*debug.BuildInfo, bool)) prometheus.Collector {
	i := build.Read(read)
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "prism_build_info",
		Help: "What runs: always 1, the facts are in the labels.",
		ConstLabels: prometheus.Labels{
			"service": service, "version": i.Version, "revision": i.Revision, "goversion": i.GoVersion,
		},
	}, func() float64 { return 1 })
}
