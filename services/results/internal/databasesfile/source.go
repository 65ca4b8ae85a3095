package databasesfile

import (
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/prism-results/prism/pkg/credential"
	"github.com/prism-results/prism/pkg/reload"
)

// Source has the databases of a file at any time. It is safe for concurrent use.
type Source struct {
	path     string
	value    *reload.Value[[]Database]
	restarts atomic.Bool
}

// Open reads the file at a path, and again when it changes. While a new file cannot be used, the last one stays.
func Open(path string, log *slog.Logger) (*Source, error) {
	value, err := reload.New(log, func(files [][]byte) ([]Database, error) { return Parse(path, files[0], readFile) }, path)
	if err != nil {
		return nil, fmt.Errorf("PRISM_DATABASES_FILE: %w", err)
	}
	return &Source{path: path, value: value}, nil
}

func readFile(path string) (string, error) {
	content, err := reload.ReadFile(path)
	return string(content), err
}

// Databases are home and the others in their order.
func (s *Source) Databases() []Database { return s.value.Get() }

// Named is a database, if the file has it now.
func (s *Source) Named(name string) (Database, bool) { return named(s.Databases(), name) }

func named(all []Database, name string) (d Database, ok bool) {
	i := slices.IndexFunc(all, func(d Database) bool { return d.Name == name })
	if i < 0 {
		return d, false
	}
	return all[i], true
}

// URL gives the URL that the file has for a database. That of one that the file no longer has stays.
func (s *Source) URL(name string) (credential.Source, error) {
	// Open logs what is wrong with a file.
	return credential.Part(s.path, slog.New(slog.DiscardHandler), func(content []byte) (string, error) {
		all, err := Parse(s.path, content, readFile)
		if err != nil {
			return "", err
		}
		d, ok := named(all, name)
		if !ok {
			return "", fmt.Errorf("%s: has no database %q", s.path, name)
		}
		return d.URL, nil
	})
}

// Restarts tells whether the file has something that is used only after a restart.
func (s *Source) Restarts(does bool) { s.restarts.Store(does) }

// The file may have passwords, so no metric has a hash of it.
var fileState = prometheus.NewDesc("prism_databases_file",
	"1 if the file of databases is refused, and the one before is used; or if something in it is used only after a restart.", []string{"state"}, nil)

// Describe implements prometheus.Collector.
func (s *Source) Describe(to chan<- *prometheus.Desc) { to <- fileState }

// Collect implements prometheus.Collector.
func (s *Source) Collect(to chan<- prometheus.Metric) {
	s.value.Get()
	for state, is := range map[string]bool{"refused": s.value.Failure() != "", "restart": s.restarts.Load()} {
		value := 0.0
		if is {
			value = 1
		}
		to <- prometheus.MustNewConstMetric(fileState, prometheus.GaugeValue, value, state)
	}
}
