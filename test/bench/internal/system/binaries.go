package system

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/prism-results/prism/pkg/testkit/program"
)

// packages are the main packages of the binaries.
var packages = []string{
	"cmd/prism", "services/gateway/cmd/prism-gateway", "services/results/cmd/prism-results",
	"services/model-proxy/cmd/prism-model-proxy",
}

const profileVariable = "PRISM_BENCH_PROFILE"

// profiler is a file that an overlay adds to the packages of the binaries for profiles. No shipped binary contains it.
//
//go:embed profiler.go.txt
var profiler []byte

// Build builds the binaries into a folder: as they are shipped or, for profiles, with symbols and a profile server.
func Build(ctx context.Context, dir string, profiled bool) error {
	root, err := program.Root()
	if err != nil {
		return err
	}
	args := []string{"build", "-trimpath", "-o", dir + "/"}
	if profiled {
		overlay, err := overlay(root, dir)
		if err != nil {
			return err
		}
		args = append(args, "-overlay", overlay)
	} else {
		args = append(args, "-ldflags=-s -w")
	}
	for _, p := range packages {
		args = append(args, "./"+p)
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

func overlay(root, dir string) (string, error) {
	source := filepath.Join(dir, "profiler.go")
	replace := map[string]string{}
	for _, p := range packages {
		replace[filepath.Join(root, p, "profiler_of_the_benchmark.go")] = source
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
