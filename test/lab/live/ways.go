package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/test/lab/internal/worked"
)

// ways are the values of `probabilities`, in the order of the table.
var ways = []string{"logprobs", "stated", "sampled"}

// way is what one prism made of its texts in one way.
type way struct {
	prism, probabilities string
	asked                int
	said                 []stated
	took                 []time.Duration
	input, output        int64 // tokens
	wrong                map[string]int
}

// stated is an answer: the probability that it gave to the label, and whether its most probable one, with this probability, is right.
type stated struct {
	label, highest float64
	right          bool
}

// compare asks a server each text in each way, one call after the other.
func compare(ctx context.Context, out io.Writer, u upstream, sets []set) (all []*way, err error) {
	models := "default: logprobs\nmodels:\n"
	for _, w := range ways {
		models += fmt.Sprintf("- {name: %s, provider: openai-chat, host: llamacpp, base_url: %q, model: %s, probabilities: %[1]s}\n", w, u.baseURL, modelName)
	}
	err = worked.WithPrism(ctx, models, func(c *client.Client) error {
		for _, s := range sets {
			_, _ = fmt.Fprintf(out, "%s: %d texts of %s in %d ways\n", u.name, len(s.rows), s.prism.Slug, len(ways))
			var these []*way
			for _, name := range ways {
				p := s.prism
				p.Slug, p.Model = s.prism.Slug+"-"+name, name
				if _, err := c.CreatePrism(ctx, p); err != nil {
					return err
				}
				these = append(these, &way{prism: s.prism.Slug, probabilities: name, wrong: map[string]int{}})
			}
			for _, l := range s.rows {
				for _, w := range these {
					if err := w.ask(ctx, c, l); err != nil {
						return err
					}
				}
			}
			all = append(all, these...)
		}
		return nil
	})
	return all, err
}

func (w *way) ask(ctx context.Context, c *client.Client, l labelled) error {
	began := time.Now()
	result, err := c.CreateResult(ctx, w.prism+"-"+w.probabilities, client.NewResult{Text: l.text})
	w.asked++
	var failed *client.FailedError
	if errors.As(err, &failed) && failed.Result != nil && failed.Result.Error != nil {
		w.wrong[*failed.Result.Error]++
		return nil
	}
	if err != nil {
		return err
	}
	w.took = append(w.took, time.Since(began))
	w.said = append(w.said, readAnswer(result.Answers[0], l.answer))
	record, err := c.ReadRecord(ctx, result.ID)
	if err != nil {
		return err
	}
	if u := record.Usage; u != nil && u.InputTokens != nil && u.OutputTokens != nil {
		w.input, w.output = w.input+*u.InputTokens, w.output+*u.OutputTokens
	}
	return nil
}

func readAnswer(a client.Answer, label string) (s stated) {
	all := a.Probabilities
	if p := a.Probability; p != nil {
		all = client.Probabilities{{Key: "yes", P: *p}, {Key: "no", P: 1 - *p}}
	}
	for _, one := range all {
		if one.Key == label {
			s.label = one.P
		}
		s.highest = max(s.highest, one.P)
	}
	s.right = value(a) == label
	return s
}

// logLoss is the mean of −ln p of the labels, with p of at least 10⁻⁶: an answer that is certain and wrong costs much, not everything.
func (w *way) logLoss() (loss float64) {
	for _, s := range w.said {
		loss -= math.Log(max(s.label, 1e-6)) / float64(len(w.said))
	}
	return loss
}

// calibrationError is the expected one, in ten bins of equal width: how far the probability of the most probable answer is from how
// often that is right.
func (w *way) calibrationError() (e float64) {
	var bins [10]float64
	for _, s := range w.said {
		right := 0.0
		if s.right {
			right = 1
		}
		bins[min(int(s.highest*10), 9)] += right - s.highest
	}
	for _, b := range bins {
		e += math.Abs(b) / float64(len(w.said))
	}
	return e
}

func (w *way) right() (n float64) {
	for _, s := range w.said {
		if s.right {
			n++
		}
	}
	return n
}

// waysTable writes them as Markdown.
func waysTable(all []*way) string {
	var b strings.Builder
	b.WriteString("| prism | `probabilities` | answered | right | log loss | calibration error | p50 | tokens in, out of a result | what went wrong |\n" +
		"|---|---|---:|---:|---:|---:|---:|---:|---|\n")
	for _, w := range all {
		loss, wrong, in, out := "–", "–", "–", "–"
		if n := len(w.said); n > 0 {
			loss, wrong = fmt.Sprintf("%.2f", w.logLoss()), fmt.Sprintf("%.2f", w.calibrationError())
			in, out = fmt.Sprint(w.input/int64(n)), fmt.Sprint(w.output/int64(n))
		}
		fmt.Fprintf(&b, "| %s | `%s` | %d of %d | %s | %s | %s | %s | %s, %s | %s |\n", w.prism, w.probabilities, len(w.said), w.asked,
			percent(w.right(), float64(len(w.said))), loss, wrong, milliseconds(percentile(w.took, 50)), in, out, row{wrong: w.wrong}.problems(figures{}))
	}
	return b.String()
}
