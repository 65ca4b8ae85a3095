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

// answered is how one call ended.
type answered struct {
	question question
	result   client.Result
	took     time.Duration
	err      error
}

// answerAll asks all questions, at most parallel at once, until ctx ends.
func answerAll(ctx context.Context, c *client.Client, questions []question, parallel int, run string, shown *progress) *report {
	rows := make(chan int)
	go func() {
		defer close(rows)
		for i := range questions {
			select {
			case rows <- i:
			case <-ctx.Done():
				return
			}
		}
	}()
	ended := make(chan answered)
	var workers sync.WaitGroup
	for range parallel {
		workers.Go(func() {
			for i := range rows {
				began := time.Now()
				// The key names the row, so that an interrupted run continues where it stopped.
				key := fmt.Sprintf("%s-%s-%03d", prismSlug, run, i+1)
				r, err := c.CreateResult(ctx, prismSlug, client.NewResult{Text: questions[i].Text, IdempotencyKey: key, Ref: key})
				ended <- answered{questions[i], r, time.Since(began), err}
			}
		})
	}
	go func() {
		workers.Wait()
		close(ended)
	}()
	began := time.Now()
	report := newReport(len(questions))
	for a := range ended {
		report.add(a)
		shown.step(report.done())
	}
	report.elapsed = time.Since(began)
	shown.end()
	return report
}
