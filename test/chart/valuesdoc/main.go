// Command valuesdoc writes the table of the chart's values into its README, from the comments in values.yaml. It is run in
// the chart's folder; with -check it changes nothing, and fails when the table is not what it would write.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

const valuesFile, readmeFile = "values.yaml", "README.md"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "valuesdoc:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("valuesdoc", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	check := flags.Bool("check", false, "change nothing, and fail when the table is stale")
	if err := flags.Parse(args); err != nil {
		return err
	}
	values, err := os.ReadFile(valuesFile)
	if err != nil {
		return err
	}
	readme, err := os.ReadFile(readmeFile)
	if err != nil {
		return err
	}
	table, err := Table(values)
	if err != nil {
		return fmt.Errorf("%s: %w", valuesFile, err)
	}
	fresh, err := Insert(readme, table)
	if err != nil {
		return fmt.Errorf("%s: %w", readmeFile, err)
	}
	switch {
	case bytes.Equal(readme, fresh):
		return nil
	case *check:
		return errors.New(readmeFile + " is not what " + valuesFile + " says; run valuesdoc without -check")
	}
	return os.WriteFile(readmeFile, fresh, 0o644)
}
