package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/pkg/testkit/launch"
)

// row is what one upstream made of one prism's texts.
type row struct {
	upstream, prism string
	choices         int // answers that the question allows
	asked           int
	answered        int
	right           int
	said            map[string]int  // answers
	took            []time.Duration // of the calls with a result
	wrong           map[string]int  // errors of results, and of calls without one
	before, after   figures
}

// answer starts a standalone Prism with the upstream, and asks it everything, one call after the other.
func answer(ctx context.Context, out io.Writer, u upstream, sets []set) (rows []row, err error) {
	dir, err := os.MkdirTemp("", "prism-live-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	prism, err := launch.Options{Dir: dir, Env: map[string]string{
		"PRISM_MODEL_PROVIDER": "openai-chat", "PRISM_MODEL_BASE_URL": u.baseURL, "PRISM_MODEL_NAME": modelName,
		"PRISM_MODEL_API_KEY": u.key,
	}}.Standalone(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, prism.Stop()) }()
	if err := prism.Start(ctx); err != nil {
		return nil, err
	}
	key, err := prism.DemoKey(ctx)
	if err != nil {
		return nil, err
	}
	c, err := client.New(client.Config{URL: prism.URL(), Key: key, UserAgent: "prism-live"})
	if err != nil {
		return nil, err
	}
	for _, s := range sets {
		if len(s.rows) == 0 {
			continue
		}
		if _, err := c.CreatePrism(ctx, s.prism); err != nil {
			return nil, err
		}
		_, _ = fmt.Fprintf(out, "%s: %d texts of %s\n", u.name, len(s.rows), s.prism.Slug)
		r := row{
			upstream: u.name, prism: s.prism.Slug, choices: choices(s.prism.Questions[0]),
			said: map[string]int{}, wrong: map[string]int{},
		}
		if r.before, err = read(ctx, prism); err != nil {
			return nil, err
		}
		for _, l := range s.rows {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			r.ask(ctx, c, l)
		}
		if r.after, err = read(ctx, prism); err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func choices(q client.Question) int {
	switch {
	case q.Type == client.YesNo:
		return 2
	case q.InsufficientInformation:
		return len(q.Options) + 1
	default:
		return len(q.Options) + len(q.Levels)
	}
}

func (r *row) ask(ctx context.Context, c *client.Client, l labelled) {
	began := time.Now()
	result, err := c.CreateResult(ctx, r.prism, client.NewResult{Text: l.text})
	r.asked++
	var failed *client.FailedError
	switch {
	case errors.As(err, &failed) && failed.Result != nil && failed.Result.Error != nil:
		r.wrong[*failed.Result.Error]++
	case err != nil:
		r.wrong[err.Error()]++
		return
	default:
		r.answered++
		said := value(result.Answers[0])
		r.said[said]++
		if said == l.answer {
			r.right++
		}
	}
	r.took = append(r.took, time.Since(began))
}

// figures are sums over all series of a metric, and its calls by status.
type figures struct {
	input, output  float64 // tokens
	mass, massed   float64 // sum of label masses, and their number
	low            float64 // label masses of at most 0.5
	attempts, lost float64 // calls to the model, and those without a 2xx
}

// read reads the metrics of Prism.
func read(ctx context.Context, prism *launch.Service) (f figures, err error) {
	_, text, err := prism.Get(ctx, "/metrics")
	if err != nil {
		return f, err
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		return f, err
	}
	for name, family := range families {
		for _, m := range family.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			count := m.GetCounter().GetValue()
			switch name {
			case "prism_model_tokens_total":
				switch labels["kind"] {
				case "input":
					f.input += count
				case "output":
					f.output += count
				}
			case "prism_model_attempts_total":
				f.attempts += count
				if labels["status"] != "2xx" {
					f.lost += count
				}
			case "prism_model_label_mass":
				f.mass += m.GetHistogram().GetSampleSum()
				f.massed += float64(m.GetHistogram().GetSampleCount())
				for _, b := range m.GetHistogram().GetBucket() {
					if b.GetUpperBound() == 0.5 {
						f.low += float64(b.GetCumulativeCount())
					}
				}
			}
		}
	}
	return f, nil
}

func (f figures) less(g figures) figures {
	return figures{
		f.input - g.input, f.output - g.output, f.mass - g.mass, f.massed - g.massed, f.low - g.low,
		f.attempts - g.attempts, f.lost - g.lost,
	}
}
