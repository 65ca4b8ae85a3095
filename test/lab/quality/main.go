// Command quality works the example of docs/quality.md with the offline model, and writes the tables and pictures of the page:
// `make quality`. Those of the real model are written by `make live`.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/pkg/testkit/program"
	"github.com/prism-results/prism/test/lab/internal/page"
	"github.com/prism-results/prism/test/lab/internal/worked"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "quality:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("quality", flag.ContinueOnError)
	flags.SetOutput(out)
	file := flags.String("page", "docs/quality.md", "page that gets the tables; the folder of its name gets the pictures")
	if err := flags.Parse(args); err != nil {
		return err
	}
	done, err := work(ctx)
	if err != nil {
		return err
	}
	if err := page.ReplaceIn(*file, done.Sections()); err != nil {
		return err
	}
	return worked.WritePictures(worked.PicturesOf(*file), done.Pictures())
}

// work works the example with a Prism that is built with flags of go build.
func work(ctx context.Context) (done worked.Offline, err error) {
	root, err := program.Root()
	if err != nil {
		return done, err
	}
	data, err := worked.Read(root)
	if err != nil {
		return done, err
	}
	err = worked.WithPrism(ctx, "", func(c *client.Client) (err error) {
		done, err = worked.AnswerOffline(ctx, c, data)
		return err
	})
	return done, err
}
