package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"time"

	"github.com/prism-results/prism/client"
)

// example is a client of the Prism that the environment names, with a prism "support".
func example() (context.Context, *client.Client) {
	c, err := client.FromEnvironment()
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
	c, err := client.FromEnvironment()
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	_, err = c.CreatePrism(ctx, client.NewPrism{Slug: "mood", NewVersion: client.NewVersion{
		Definition: client.Definition{
			Fields:    []client.Field{{Key: "text"}},
			Questions: []client.Question{{Key: "happy", Type: client.YesNo, Text: "Is the writer happy?"}},
		},
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
	happy, err := result.Answers.YesNo("happy")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(happy.Probability)
	// Output: 0.75
}

// A question has an answer of its type. Another type, or a key that is no question's, is an error that says what there is.
func ExampleAnswers() {
	ctx, c := example()
	result, err := c.CreateResult(ctx, "support", client.NewResult{Text: "Where is my parcel?"})
	if err != nil {
		log.Fatal(err)
	}
	topic, err := result.Answers.Choice("topic")
	if err != nil {
		log.Fatal(err)
	}
	urgency, err := result.Answers.Scale("urgency")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(topic.Value, urgency.Level)
	_, err = result.Answers.YesNo("topic")
	fmt.Println(err)
	_, err = result.Answers.YesNo("angry")
	fmt.Println(err)
	// Output:
	// delivery low
	// client: question "topic" is of type choice, not yes_no
	// client: there is no question "angry": the questions are topic, upset, urgency
}

// The request's id names a call in the server's logs, also of one that succeeded.
func ExampleWithMeta() {
	ctx, c := example()
	var meta client.Meta
	if _, err := c.ReadPrism(ctx, "support", client.WithMeta(&meta), client.WithTimeout(5*time.Second)); err != nil {
		log.Fatal(err)
	}
	fmt.Println(meta.RequestID != "", meta.Status)
	// Output: true 200
}

// A dry run tells whether a definition is valid.
func ExampleWithDryRun() {
	ctx, c := example()
	bad := triage("other")
	bad.Questions = nil
	_, err := c.CreatePrism(ctx, bad, client.WithDryRun())
	fmt.Println(errors.Is(err, client.ErrValidationFailed))
	// Output: true
}

// Many texts are answered several at a time and come back in order. The same job run again asks only for what is missing.
func ExampleClient_CreateResults() {
	ctx, c := example()
	texts := []string{"Where is my parcel?", "There is no answer to this.", "I was charged twice."}
	inputs := func(yield func(client.NewResult) bool) {
		for i, text := range texts {
			if !yield(client.NewResult{Text: text, Ref: fmt.Sprint("ticket-", i)}) {
				return
			}
		}
	}
	for one, err := range c.CreateResults(ctx, "support", inputs, client.Bulk{Job: "tickets of May", Concurrency: 4}) {
		if errors.Is(err, client.ErrUnauthorized) {
			log.Fatal(err) // all the others will have it too
		}
		if err != nil {
			fmt.Println(one.Input.Ref, "failed")
			continue
		}
		topic, err := one.Result.Answers.Choice("topic")
		fmt.Println(one.Input.Ref, topic.Value, err)
	}
	// Output:
	// ticket-0 delivery <nil>
	// ticket-1 failed
	// ticket-2 delivery <nil>
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

// A result can be had in five formats. JSON has the columns of the Lens, csv the same as a row.
func ExampleWithFormat() {
	ctx, c := example()
	result, err := c.CreateResult(ctx, "support", client.NewResult{Text: "Where is my parcel?"}, client.WithFormat(client.JSON))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Row.Get("topic"))
	row, err := c.ReadResult(ctx, result.ID, client.WithFormat(client.CSV))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.Contains(string(row.Body), "Delivery,"))
	// Output:
	// delivery true
	// true
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

// An export streams every result of a prism, however many there are. Rows decodes it into a type of yours.
func ExampleRows() {
	ctx, c := example()
	if _, err := c.CreateResult(ctx, "support", client.NewResult{Text: "Where is my parcel?"}); err != nil {
		log.Fatal(err)
	}
	type ticket struct {
		Message string  `json:"message"`
		Topic   string  `json:"topic"`
		Upset   float64 `json:"upset_probability"`
	}
	export := client.Export{Format: client.JSONL, Status: client.OK, From: time.Now().Add(-24 * time.Hour)}
	for one, err := range client.Rows[ticket](c.ExportResults(ctx, "support", export)) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(one.Topic, one.Upset)
		break
	}
	// Output: delivery 0.75
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
