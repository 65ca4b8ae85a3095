package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/prism-results/prism/test/cluster/internal/load"
	"github.com/prism-results/prism/test/cluster/internal/model"
)

const usage = `usage: prism-cluster-load COMMAND
  model    a decision model that takes the time that a call tells it
  load     calls Prism at a constant rate until it is told to stop; then reads everything back and prints a report
  stop     tells process 1 to stop, for kubectl exec
  get URL  prints what is there, for kubectl exec
  revoke   makes and revokes keys, and calls every replica with them
The key is PRISM_API_KEY; COMMAND -help lists the flags`

// run runs a command. The load stops when ctx is done.
func run(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	switch args[0] {
	case "model":
		listen := flags.String("listen", ":8080", "address")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		return serve(ctx, *listen)
	case "load":
		cfg := load.Config{Key: getenv("PRISM_API_KEY")}
		flags.StringVar(&cfg.URL, "url", "", "where Prism is")
		flags.StringVar(&cfg.Model, "model", "", "where the model is")
		flags.Float64Var(&cfg.Reads, "reads", 100, "reads a second")
		flags.Float64Var(&cfg.Creates, "creates", 3, "creates a second")
		flags.Float64Var(&cfg.Repeats, "repeats", 1, "creates with an idempotency key that are repeated, a second")
		flags.Float64Var(&cfg.Retries, "retries", 1, "creates without an answer that are retried, a second")
		flags.DurationVar(&cfg.Pause, "pause", 10*time.Second, "how long the model takes")
		flags.DurationVar(&cfg.Keep, "keep", load.Keep, "how long an unused connection is kept")
		flags.IntVar(&cfg.Seeds, "seeds", 20, "results to read at first")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		out := json.NewEncoder(stdout)
		// What was taken ends by itself: every call has a bound.
		report, err := load.New(cfg).Run(context.WithoutCancel(ctx), ctx, func(p load.Progress) { _ = out.Encode(load.Line{Progress: &p}) })
		if err != nil {
			return err
		}
		return out.Encode(load.Line{Report: report})
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
		var clients []*load.Client
		for addr := range strings.SplitSeq(*replicas, ",") {
			c := load.NewClient("http://"+addr, getenv("PRISM_API_KEY"), load.Keep)
			defer c.Close()
			clients = append(clients, c)
		}
		seen, err := load.Revoke(ctx, clients, *keys)
		if err != nil {
			return err
		}
		return json.NewEncoder(stdout).Encode(seen)
	}
	return fmt.Errorf("unknown command %q\n%s", args[0], usage)
}

func serve(ctx context.Context, listen string) error {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", listen)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: model.New(), ReadHeaderTimeout: 10 * time.Second}
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
