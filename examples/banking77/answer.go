package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/csv"
	"fmt"
	"sync"
	"time"

	"github.com/prism-results/prism/client"
)

// prismSlug is the slug in prism.json.
const prismSlug = "banking77"

//go:embed prism.json
var prismJSON []byte

//go:embed questions.csv
var questionsCSV []byte

// question is a row of the data: what a customer wrote, and the intent that a person gave it.
type question struct{ Text, Intent string }

func readQuestions(data []byte) ([]question, error) {
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("questions.csv: %w", err)
	}
	questions := make([]question, 0, len(rows))
	for _, row := range rows[1:] {
		questions = append(questions, question{row[0], row[1]})
	}
	return questions, nil
}

// answerAll asks all questions, at most parallel at once, until ctx ends.
func answerAll(ctx context.Context, c *client.Client, questions []question, parallel int, run string, shown *progress) *report {
	began, report := time.Now(), &report{total: len(questions), intents: map[string]int{}}
	var lock sync.Mutex // of report and shown
	var calls sync.WaitGroup
	free := make(chan struct{}, parallel)
	for i, q := range questions {
		free <- struct{}{} // calls end with ctx, so this does not block for long
		if ctx.Err() != nil {
			break
		}
		calls.Go(func() {
			defer func() { <-free }()
			asked := time.Now()
			// The key names the row, so that an interrupted run continues where it stopped.
			key := fmt.Sprintf("%s-%s-%03d", prismSlug, run, i+1)
			r, err := c.CreateResult(ctx, prismSlug, client.NewResult{Text: q.Text, IdempotencyKey: key, Ref: key})
			lock.Lock()
			defer lock.Unlock()
			report.add(q, r, time.Since(asked), err)
			shown.step(report.done())
		})
	}
	calls.Wait()
	report.elapsed = time.Since(began)
	shown.end()
	return report
}
