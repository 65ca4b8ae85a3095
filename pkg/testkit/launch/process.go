package launch

import (
	"slices"
	"strings"

	"github.com/prism-results/prism/pkg/testkit/program"
)

// Lines are all lines of a process's output, first those of the standard output.
func Lines(p *program.Process) []string {
	return strings.Split(strings.TrimRight(p.Stdout()+"\n"+p.Stderr(), "\n"), "\n")
}

// Tail is the last n lines of Lines, for messages about what went wrong.
func Tail(p *program.Process, n int) string {
	lines := Lines(p)
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// Crashes are the texts that a broken program prints.
var Crashes = []string{"WARNING: DATA RACE", "panic: ", "panicked", "fatal error: "}

// Crashed tells whether a process has printed one of Crashes.
func Crashed(p *program.Process) bool {
	text := p.Output()
	return slices.ContainsFunc(Crashes, func(crash string) bool { return strings.Contains(text, crash) })
}
