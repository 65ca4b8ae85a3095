package main

import (
	"context"
	"fmt"
	"io"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/test/lab/internal/page"
	"github.com/prism-results/prism/test/lab/internal/worked"
)

// measure works the example of docs/quality.md with n questions, and writes tables and pictures unless file is "".
func measure(ctx context.Context, out io.Writer, root string, u upstream, n int, file string) error {
	data, err := worked.Read(root)
	if err != nil {
		return err
	}
	models := fmt.Sprintf("default: offline\nmodels:\n- {name: offline, provider: offline}\n"+
		"- {name: %s, provider: openai-chat, base_url: %q, model: %[1]s}\n", modelName, u.baseURL)
	var live worked.Live
	shown := int64(0)
	err = worked.WithPrism(ctx, models, func(c *client.Client) (err error) {
		live, err = worked.AnswerLive(ctx, c, data, min(n, data.Rows()), "offline", modelName, "SmolLM2-135M", func(r client.Run) {
			if tenth := r.Done() * 10 / max(r.Rows, 1); tenth > shown {
				shown = tenth
				_, _ = fmt.Fprintf(out, "%s: %d of %d labelled texts\n", u.name, r.Done(), r.Rows)
			}
		})
		return err
	})
	if err != nil {
		return err
	}
	sections := live.Sections()
	for name, table := range sections {
		_, _ = fmt.Fprintf(out, "\n%s\n\n%s", name, table)
	}
	if file == "" {
		return nil
	}
	if err := page.ReplaceIn(file, sections); err != nil {
		return err
	}
	return worked.WritePictures(worked.PicturesOf(file), live.Pictures())
}
