package system

import (
	"context"
	_ "embed"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/prism-results/prism/pkg/testkit/launch"
	"github.com/prism-results/prism/pkg/testkit/program"
)

// Packages are the main packages of the binaries.
var Packages = []string{launch.Prism, launch.Gateway, launch.Results, launch.ModelProxy, launch.Runs, launch.Webhooks}

const profileVariable = "PRISM_BENCH_PROFILE"

// profiler is a file that an overlay adds to the packages of the binaries for profiles. No shipped binary contains it.
//
//go:embed profiler.go.txt
var profiler []byte

// Build builds the binaries, as they are shipped or, for profiles, with symbols and a profile server, and returns their
// folder.
func Build(ctx context.Context, profiled bool) (dir string, err error) {
	var flags []string
	if profiled {
		overlay, err := overlay()
		if err != nil {
			return "", err
		}
		flags = []string{"-ldflags=", "-overlay=" + overlay}
	}
	for _, pkg := range Packages {
		bin, err := program.Binary(ctx, pkg, flags...)
		if err != nil {
			return "", err
		}
		dir = filepath.Dir(bin)
	}
	return dir, nil
}

// overlay writes the profiler and the overlay, and returns the file of the overlay.
func overlay() (string, error) {
	root, err := program.Root()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, ".tools", "profiler")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	source := filepath.Join(dir, "profiler.go")
	replace := map[string]string{}
	for _, pkg := range Packages {
		replace[filepath.Join(root, pkg, "profiler_of_the_benchmark.go")] = source
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(source, profiler, 0o600); err != nil {
		return "", err
	}
	file := filepath.Join(dir, "overlay.json")
	return file, os.WriteFile(file, list, 0o600)
}
