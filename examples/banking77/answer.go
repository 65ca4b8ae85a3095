package main

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"

	"github.com/prism-results/prism/client"
)

// prismSlug is the slug in prism.json.
const prismSlug = "banking77"

//go:embed prism.json
var prismJSON []byte

// questionsCSV has the columns text, what a customer wrote, and category, the intent that a person gave it.
//
//go:embed questions.csv
var questionsCSV []byte

// answerAll runs the file through the prism, or continues the run that an earlier start made. When ctx ends, the run goes on.
func answerAll(ctx context.Context, c *client.Client, name string, concurrency int, shown *progress) (client.Run, error) {
	upload := client.Upload{Name: "questions.csv", Format: client.FileCSV, Content: bytes.NewReader(questionsCSV), Bytes: int64(len(questionsCSV))}
	run := client.NewRun{
		Fields: map[string]string{"text": "text"},
		Name:   prismSlug,
		// The key names the run, so that the example starts one only once.
		IdempotencyKey: prismSlug + "-file-" + name,
	}
	if concurrency > 0 {
		run.Concurrency = &concurrency
	}
	r, err := c.RunFile(ctx, prismSlug, upload, run, shown.step)
	shown.end()
	if ctx.Err() != nil && r.ID != "" {
		err = fmt.Errorf("stopped watching at %d of %d; the run goes on, and another start comes back to it", r.Done(), r.Rows)
	}
	return r, err
}
