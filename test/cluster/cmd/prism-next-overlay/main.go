// Command prism-next-overlay writes the overlay of package next, and prints its path.
package main

import (
	"fmt"
	"os"

	"github.com/prism-results/prism/pkg/testkit/program"
	"github.com/prism-results/prism/test/internal/next"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "prism-next-overlay:", err)
		os.Exit(1)
	}
}

func run() error {
	root, err := program.Root()
	if err != nil {
		return err
	}
	file, err := next.Overlay(root)
	if err != nil {
		return err
	}
	_, err = fmt.Println(file)
	return err
}
