// Package proc finds and runs the programs that tests need, and ends them with the tests.
package proc

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Find returns the path of a program: the one in PATH or else the newest in a folder that matches pattern,
// such as /usr/lib/postgresql/*/bin. Debian keeps some servers out of PATH.
func Find(program, pattern string) (string, error) {
	if path, err := exec.LookPath(program); err == nil {
		return path, nil
	}
	found, err := filepath.Glob(filepath.Join(pattern, program))
	if err != nil {
		return "", fmt.Errorf("find %s: %w", program, err)
	}
	slices.SortFunc(found, func(a, b string) int { return version(b) - version(a) })
	for _, path := range found {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is not installed: run `make deps`", program)
}

// version is the last whole number in a path, so that 9 comes before 15.
func version(path string) (n int) {
	for part := range strings.SplitSeq(path, string(filepath.Separator)) {
		if number, err := strconv.Atoi(part); err == nil {
			n = number
		}
	}
	return n
}
