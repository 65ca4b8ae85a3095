package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/prism-results/prism/client"
)

// example is a client of the Prism that the environment names, with a prism "support".
func example() (context.Context, *client.Client) {
	c, err := client.New(client.Config{URL: os.Getenv("PRISM_URL"), Key: os.Getenv("PRISM_API_KEY")})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	if _, err := c.CreatePrism(ctx, triage("support")); err != nil && !errors.Is(err, client.ErrConflict) {
		log.Fatal(err)
	}
	return ctx, c
}

// The whole of it: a client, a prism, a text, its answers.
func Example() {
	c, err := client.New(client.Config{URL: os.Getenv("PRISM_URL"), Key: os.Getenv("PRISM_API_KEY")})
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	_, err = c.CreatePrism(ctx, client.NewPrism{Slug: "mood", NewVersion: client.NewVersion{
		Fields:    []client.Field{{Key: "text"}},
		Questions: []client.Question{{Key: "happy", Type: client.YesNo, Text: "Is the writer happy?"}},
	}})
	if err != nil {
		log.Fatal(err)
	}
	result, err := c.CreateResult(ctx, "mood", client.NewResult{
		Text: "What a lovely day!", IdempotencyKey: client.NewIdempotencyKey(),
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, answer := range result.Answers {
		fmt.Println(answer.Name, answer.Value)
	}
	// Output:
	// happy yes
	// happy_probability 0.75
}

// With an idempotency key a call can be repeated as often as need be, by the client and by you: it happens once.
func ExampleNewIdempotencyKey() {
	ctx, c := example()
	key := client.NewIdempotencyKey() // keep it with your own record of the call
	first, err := c.CreateResult(ctx, "support", client.NewResult{Text: "Where is my parcel?", IdempotencyKey: key})
	if err != nil {
		log.Fatal(err)
	}
	second, err := c.CreateResult(ctx, "support", client.NewResult{Text: "Where is my parcel?", IdempotencyKey: key})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(first.ID == second.ID)
	// Output: true
}

// A result that failed is saved and can be retried once.
func ExampleFailedError() {
	ctx, c := example()
	_, err := c.CreateResult(ctx, "support", client.NewResult{Text: "There is no answer to this."})
	var failed *client.FailedError
	if errors.As(err, &failed) {
		fmt.Println(*failed.Result.Error)
		_, err = c.RetryResult(ctx, failed.Result.ID)
	}
	fmt.Println(errors.As(err, &failed))
	// Output:
	// The model service refused the call (status 400).
	// true
}

// Errors have a code to branch on.
func ExampleError() {
	ctx, c := example()
	_, err := c.ReadPrism(ctx, "no-such-prism")
	if errors.Is(err, client.ErrNotFound) {
		fmt.Println("there is none")
	}
	var refused *client.Error
	if errors.As(err, &refused) {
		fmt.Println(refused.Status, refused.Code, refused.Message)
	}
	// Output:
	// there is none
	// 404 not_found Prism not found
}

// A result can be had in five formats, as a stream.
func ExampleClient_ReadResultAs() {
	ctx, c := example()
	result, err := c.CreateResult(ctx, "support", client.NewResult{
		Text: "Where is my parcel?", IdempotencyKey: client.NewIdempotencyKey(),
	})
	if err != nil {
		log.Fatal(err)
	}
	stream, err := c.ReadResultAs(ctx, result.ID, client.CSV)
	if err != nil {
		log.Fatal(err)
	}
	defer stream.Close()
	rows, err := io.ReadAll(stream)
	fmt.Println(len(rows) > 0, err)
	// Output: true <nil>
}

// Lists are loops; pages are read as they are needed.
func ExampleClient_Results() {
	ctx, c := example()
	for result, err := range c.Results(ctx, client.ResultFilter{Prism: "support", Status: client.Failed}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(result.Prism, result.Status)
		break
	}
	// Output: support failed
}

// An export streams every result of a prism, however many there are.
func ExampleClient_ExportResults() {
	ctx, c := example()
	stream, err := c.ExportResults(ctx, "support", client.Export{Format: client.JSONL, From: time.Now().Add(-24 * time.Hour)})
	if err != nil {
		log.Fatal(err)
	}
	defer stream.Close()
	n, err := io.Copy(io.Discard, stream)
	fmt.Println(n > 0, err)
	// Output: true <nil>
}

// A whole file is one call: it is uploaded, run and followed. The rows come back in its order, with the answers beside its own columns.
func ExampleClient_RunFile() {
	ctx, c := example()
	file, err := os.Open("tickets.csv")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	upload, err := client.UploadOf(file, "")
	if err != nil {
		log.Fatal(err)
	}
	run, err := c.RunFile(ctx, "support", upload, client.NewRun{
		Fields: map[string]string{"message": "text"}, // of each field, the column
	}, func(r client.Run) { fmt.Printf("%d of %d\n", r.Done(), r.Rows) })
	if err != nil {
		log.Fatal(err)
	}
	rows, err := c.ListRunRows(ctx, run.ID, client.RunRows{Format: client.RowsCSV})
	if err != nil {
		log.Fatal(err)
	}
	defer rows.Close()
	if _, err := io.Copy(os.Stdout, rows); err != nil {
		log.Fatal(err)
	}
}
