package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/prism-results/prism/pkg/testkit/program"
	"github.com/prism-results/prism/test/lab/internal/page"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "live:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("live", flag.ContinueOnError)
	flags.SetOutput(out)
	questions := flags.Int("questions", 200, "questions of Banking77 that the model answers, at most 200; 0 is none, also of the other prisms")
	through := flags.Int("litellm", 20, "how many of them are asked again through LiteLLM")
	inWays := flags.Int("ways", 20, "questions of Banking77 that are asked by logprobs, stated and sampled; 0 is none, also of the other prisms")
	file := flags.String("page", "", "page whose section <!-- live --> gets the table, such as docs/providers.md")
	labelled := flags.Int("labelled", 300, "questions of examples/quality that it answers too; 0 is none, else at least 30")
	quality := flags.String("quality", "", "page that gets the tables of these, such as docs/quality.md")
	if err := flags.Parse(args); err != nil {
		return err
	}
	root, err := program.Root()
	if err != nil {
		return err
	}
	sets, err := readSets(root)
	if err != nil {
		return err
	}
	servers := &servers{dir: filepath.Join(root, ".tools", "live"), source: filepath.Join(root, "test", "lab", "live")}
	defer func() { err = errors.Join(err, servers.stop()) }()
	llama, err := servers.llamaCPP(ctx)
	if err != nil {
		return err
	}
	banking := sets[0]
	if *inWays > 0 {
		sets[0].rows = some(banking.rows, *inWays)
		all, err := compare(ctx, out, llama, sets)
		if err != nil {
			return err
		}
		text := waysTable(all)
		_, _ = fmt.Fprint(out, "\n"+text)
		if *file != "" {
			if err := page.ReplaceIn(*file, map[string]string{"live: ways": text}); err != nil {
				return err
			}
		}
	}
	if *questions == 0 {
		return nil
	}
	sets[0].rows = some(banking.rows, *questions)
	rows, err := answer(ctx, out, llama, sets)
	if err != nil {
		return err
	}
	if *through > 0 {
		lite, err := servers.liteLLM(ctx, llama)
		if err != nil {
			return err
		}
		banking.rows = some(banking.rows, *through)
		more, err := answer(ctx, out, lite, []set{banking})
		if err != nil {
			return err
		}
		rows = append(rows, more...)
	}
	text := table(rows)
	_, _ = fmt.Fprint(out, "\n"+text)
	if *file != "" {
		if err := page.ReplaceIn(*file, map[string]string{"live": text}); err != nil {
			return err
		}
	}
	if err := silent(rows); err != nil || *labelled == 0 {
		return err
	}
	return measure(ctx, out, root, llama, *labelled, *quality)
}
