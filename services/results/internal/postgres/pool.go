package postgres

import (
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/services/results/internal/background"
)

// Measure registers metrics of the pool. A registerer takes those of one store.
func (s *Store) Measure(to prometheus.Registerer) error {
	const prefix = "prism_postgres_"
	state := func(name string, conns func(*pgxpool.Stat) int32) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: prefix + "connections", Help: "Connections to Postgres by what they do.",
			ConstLabels: prometheus.Labels{"state": name},
		}, func() float64 { return float64(conns(s.database.pool.Stat())) })
	}
	total := func(name, help string, read func(*pgxpool.Stat) float64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: prefix + name, Help: help},
			func() float64 { return read(s.database.pool.Stat()) })
	}
	places := &s.database.places
	return background.Register(to,
		state("acquired", (*pgxpool.Stat).AcquiredConns),
		state("idle", (*pgxpool.Stat).IdleConns),
		state("connecting", (*pgxpool.Stat).ConstructingConns),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: prefix + "connections_max", Help: "Most connections to Postgres."},
			func() float64 { return float64(s.database.pool.Stat().MaxConns()) }),
		total("acquires_total", "Connections that statements got.",
			func(s *pgxpool.Stat) float64 { return float64(s.AcquireCount()) }),
		total("acquires_canceled_total", "Statements that gave up waiting for a connection.",
			func(s *pgxpool.Stat) float64 { return float64(s.CanceledAcquireCount() + places.gaveUp.Load()) }),
		total("acquire_waits_total", "Statements that waited for a connection, because none was idle, and got one.",
			func(s *pgxpool.Stat) float64 { return float64(s.EmptyAcquireCount() + places.waits.Load()) }),
		total("acquire_wait_seconds_total", "Time that those waited.",
			func(s *pgxpool.Stat) float64 {
				return (s.EmptyAcquireWaitTime() + time.Duration(places.waited.Load())).Seconds()
			}),
	)
}
