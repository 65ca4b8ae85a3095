// Command banking77 answers 200 real customer questions with a running Prism. It makes the prism of prism.json, runs the file
// questions.csv through the prism, and prints how many answers agree with the file. A second start continues or reports the
// same run.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/prism-results/prism/client"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout, isTerminal(os.Stdout))
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "banking77:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to stop
	}
}

const defaultURL = "http://127.0.0.1:8080"

func run(ctx context.Context, args []string, getenv func(string) string, out io.Writer, terminal bool) error {
	flags := flag.NewFlagSet("banking77", flag.ContinueOnError)
	flags.SetOutput(out)
	name := flags.String("run", "1", "part of the idempotency key: another name asks everything anew")
	concurrency := flags.Int("concurrency", 0, "questions at the model at once at most; 0 is no limit")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *concurrency < 0 {
		return errors.New("-concurrency must be 0 or more")
	}
	c, err := newClient(getenv)
	if err != nil {
		return err
	}
	if err := ensurePrism(ctx, c); err != nil {
		return explained(err)
	}
	shown := &progress{out: out, terminal: terminal, began: time.Now()}
	r, err := answerAll(ctx, c, *name, *concurrency, shown)
	if err != nil {
		return explained(err)
	}
	report, err := readReport(ctx, c, r)
	if err != nil {
		return explained(err)
	}
	report.print(out)
	return report.err()
}

func newClient(getenv func(string) string) (*client.Client, error) {
	key := getenv("PRISM_API_KEY")
	if key == "" {
		return nil, errors.New("PRISM_API_KEY is not set.\n\n" +
			"  Start Prism with \"make run\": its first start prints a key. Then:\n\n" +
			"    export PRISM_API_KEY=prism_...\n\n" +
			"  Another key is made with: bin/prism key create --account demo")
	}
	url := getenv("PRISM_URL")
	if url == "" {
		url = defaultURL
	}
	c, err := client.New(client.Config{URL: url, Key: key, UserAgent: "banking77"})
	if err != nil {
		return nil, fmt.Errorf("PRISM_URL must be an address such as %s, and PRISM_API_KEY a key: %w", defaultURL, err)
	}
	return c, nil
}

// ensurePrism makes the prism unless the account has it.
func ensurePrism(ctx context.Context, c *client.Client) error {
	var p client.NewPrism
	if err := json.Unmarshal(prismJSON, &p); err != nil {
		return err
	}
	_, err := c.CreatePrism(ctx, p)
	if !errors.Is(err, client.ErrConflict) {
		return err
	}
	found, err := c.ReadPrism(ctx, prismSlug)
	if err == nil && found.ArchivedAt != nil {
		err = fmt.Errorf("the prism %[1]s is archived; bin/prismctl prisms unarchive %[1]s lets it answer again", prismSlug)
	}
	return err
}

// explained turns an error of the client into a message for people.
func explained(err error) error {
	var refused *client.Error
	var cut *client.ConnectionError
	switch {
	case errors.As(err, &refused):
		return fmt.Errorf("%d %s", refused.Status, refused.Message)
	case errors.As(err, &cut):
		return fmt.Errorf("no response from Prism (is it running? \"make run\" starts it; PRISM_URL says where it is): %w", cut.Err)
	}
	return err
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
