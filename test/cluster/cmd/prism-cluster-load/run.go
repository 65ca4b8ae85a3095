package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/test/internal/filerun"
	"github.com/prism-results/prism/test/internal/load"
	"github.com/prism-results/prism/test/internal/next"
	"github.com/prism-results/prism/test/internal/upstream"
	"github.com/prism-results/prism/test/internal/visit"
)

const usage = `usage: prism-cluster-load COMMAND
  model    a decision model
  call     calls a prism that has the field message, at PRISM_URL with PRISM_API_KEY, and prints the result
  load     calls Prism until it is told to stop; then reads everything back and prints a report
  filerun  uploads a file, runs it through a prism to its end, reads its results and prints a report
  visit    signs in to the console by the link PRISM_SIGN_IN_LINK and uses it until it is told to stop; then prints a report
  next     calls what this release and the next one know, and what only the next one knows, until it is told to stop; then prints a report
  stop     tells process 1 to stop, for kubectl exec
  get URL  prints what is there, for kubectl exec
  revoke   makes and revokes keys, and calls every replica with them
The keys of two accounts are PRISM_API_KEY and PRISM_OTHER_API_KEY, or in the files that load -key-files names; COMMAND -help lists the flags`

// run runs a command. The load stops when ctx is done.
func run(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	switch args[0] {
	case "model":
		listen := flags.String("listen", ":8080", "address")
		pause := flags.Duration("pause", 5*time.Second, "how long each answer takes")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		return serve(ctx, *listen, *pause)
	case "call":
		slug := flags.String("prism", "", "slug of the prism")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		c, err := client.New(client.Config{URL: getenv("PRISM_URL"), Key: getenv("PRISM_API_KEY")})
		if err != nil {
			return err
		}
		result, err := c.CreateResult(ctx, *slug, client.NewResult{Fields: map[string]string{"message": upstream.Tag{}.String()}})
		if err != nil {
			return err
		}
		return json.NewEncoder(stdout).Encode(result)
	case "load":
		url := flags.String("url", "", "host:port of Prism")
		model := flags.String("model", "", "the URL of the model")
		clients := flags.Int("clients", 250, "concurrent clients")
		pause := flags.Duration("pause", time.Second, "the time between two calls of a client")
		files := flags.String("key-files", "", "files that have the two keys, with a comma between; they are read for each call")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		first, second, both := strings.Cut(*files, ",")
		if *files != "" && !both {
			return errors.New(usage)
		}
		l := load.New(load.Config{
			Seed: rand.Uint64(), Gateways: []string{*url}, Keys: [2]string{getenv("PRISM_API_KEY"), getenv("PRISM_OTHER_API_KEY")},
			KeyFiles: [2]string{first, second},
			Clients:  *clients, Pause: *pause, Turnover: 10, Tag: upstream.Tag{FailPercent: 10},
		})
		defer l.Close()
		// The calls in progress end by themselves: every call has a bound.
		running := context.WithoutCancel(ctx)
		if err := l.Prepare(running); err != nil {
			return err
		}
		out := json.NewEncoder(stdout)
		report, err := l.Report(running, ctx, *model, func(s load.Seen) { _ = out.Encode(load.Line{Progress: &s}) })
		if err != nil {
			return err
		}
		return out.Encode(load.Line{Report: report})
	case "filerun":
		url := flags.String("url", "", "host:port of Prism")
		rows := flags.Int("rows", 20_000, "rows of the file")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		return runFile(ctx, filerun.Config{
			URL: "http://" + *url, Key: getenv("PRISM_API_KEY"), Prism: "file-run", Rows: *rows, Tag: upstream.Tag{FailPercent: 2},
		}, stdout)
	case "visit":
		url := flags.String("url", "", "host:port of Prism")
		pause := flags.Duration("pause", 100*time.Millisecond, "the time between two rounds of calls")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		out := json.NewEncoder(stdout)
		report, err := visit.Do(context.WithoutCancel(ctx), ctx, visit.Config{URL: "http://" + *url, Link: getenv("PRISM_SIGN_IN_LINK"), Pause: *pause},
			func(rounds int) { _ = out.Encode(visit.Line{Rounds: rounds}) })
		if err != nil {
			return err
		}
		return out.Encode(visit.Line{Report: report})
	case "next":
		url := flags.String("url", "", "host:port of Prism")
		pause := flags.Duration("pause", 100*time.Millisecond, "the time between two rounds of calls")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		out := json.NewEncoder(stdout)
		report, err := next.Call(context.WithoutCancel(ctx), ctx, "http://"+*url, getenv("PRISM_API_KEY"), *pause,
			func(c next.Calls) { _ = out.Encode(next.Line{Progress: &c}) })
		if err != nil {
			return err
		}
		return out.Encode(next.Line{Report: report})
	case "stop":
		return syscall.Kill(1, syscall.SIGTERM)
	case "get":
		if len(args) != 2 {
			return errors.New(usage)
		}
		return get(ctx, args[1], stdout)
	case "revoke":
		replicas := flags.String("replicas", "", "host:port of every gateway, with commas between")
		keys := flags.Int("keys", 50, "how many keys are revoked")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		seen, err := load.Revoke(ctx, strings.Split(*replicas, ","), getenv("PRISM_API_KEY"), *keys)
		if err != nil {
			return err
		}
		return json.NewEncoder(stdout).Encode(seen)
	}
	return fmt.Errorf("unknown command %q\n%s", args[0], usage)
}

func runFile(ctx context.Context, c filerun.Config, stdout io.Writer) error {
	out := json.NewEncoder(stdout)
	report, err := filerun.Do(ctx, c, func(done int64) { _ = out.Encode(filerun.Line{Done: done}) })
	if err != nil {
		return err
	}
	return out.Encode(filerun.Line{Report: report})
}

func serve(ctx context.Context, listen string, pause time.Duration) error {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", listen)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: upstream.Handler(upstream.Config{Pause: pause}), ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func get(ctx context.Context, url string, stdout io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, resp.Status)
	}
	_, err = io.Copy(stdout, resp.Body)
	return err
}
