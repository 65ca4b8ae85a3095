package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"sync"
)

// Bulk says how CreateResults goes.
type Bulk struct {
	// Job names the job. The idempotency keys are derived from it: the same job with the same inputs has the same results, however
	// often it is run. Another name asks the model again. Required.
	Job string
	// Concurrency is the most calls at once; 8 when 0.
	Concurrency int
}

// BulkResult is one input of CreateResults with its result.
type BulkResult struct {
	Index  int       // of the input; the first is 0
	Input  NewResult // as it was sent, with its idempotency key
	Result Result    // the failed one with a *FailedError
	Meta   Meta
}

// readAhead is how many inputs are read before their results can be yielded, as a multiple of the concurrency. More than one lets
// calls go on while the first of them is slow.
const readAhead = 4

// CreateResults answers many inputs through a prism, several at once, and yields them in order. Each input has an error of its
// own, which does not end the iteration: leave the loop for an error that all inputs will have, such as ErrUnauthorized.
//
// Run the same job again after a crash, or for the inputs with errors: an input that has a result gets that result without a call
// of the model, and an input whose result failed is retried. The idempotency key of an input without one is derived from the
// job, the prism as it is named here, and the members of the input, but not from its position. Inputs with the same members share
// one result; give them different refs to have several.
//
// inputs is read on another goroutine, ahead of the loop by at most 4 times the concurrency. A call is repeated for about half a
// minute without a server, unless WithAttempts says otherwise. The iteration ends with the context; its last error is then that
// of the context, unless all inputs have been sent. Leaving the loop cancels the calls under way, and waits for them and for
// inputs to return.
func (c *Client) CreateResults(
	ctx context.Context, prism string, inputs iter.Seq[NewResult], b Bulk, options ...CallOption,
) iter.Seq2[BulkResult, error] {
	return func(yield func(BulkResult, error) bool) {
		if b.Concurrency == 0 {
			b.Concurrency = 8
		}
		if b.Job == "" || b.Concurrency < 0 {
			yield(BulkResult{}, errors.New("client: createResults: Bulk.Job is empty or Bulk.Concurrency is below zero"))
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		k := &bulk{
			Bulk: b, c: c, prism: prism, options: slices.Concat([]CallOption{WithAttempts(patience)}, options),
			begun: make(chan *begunInput, readAhead*b.Concurrency), left: make(chan struct{}),
		}
		var reader sync.WaitGroup
		defer reader.Wait()
		defer cancel()
		defer close(k.left)
		reader.Go(func() { k.begin(ctx, inputs) })
		for input := range k.begun {
			<-input.done
			if !yield(input.BulkResult, input.err) {
				return
			}
		}
	}
}

// bulk is a job under way.
type bulk struct {
	Bulk
	c       *Client
	prism   string
	options []CallOption
	begun   chan *begunInput // in the order of the inputs
	left    chan struct{}    // closed when the loop was left
}

type begunInput struct {
	BulkResult
	err  error
	done chan struct{}
}

// begin begins the calls of all inputs, and returns when the calls have ended.
func (k *bulk) begin(ctx context.Context, inputs iter.Seq[NewResult]) {
	defer close(k.begun)
	var calls sync.WaitGroup
	defer calls.Wait()
	slots, index := make(chan struct{}, k.Concurrency), 0
	for input := range inputs {
		input.IdempotencyKey = k.key(input)
		begun := &begunInput{BulkResult: BulkResult{Index: index, Input: input}, done: make(chan struct{})}
		index++
		select {
		case k.begun <- begun:
		case <-k.left:
			return
		}
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
		}
		if begun.err = ctx.Err(); begun.err != nil {
			close(begun.done)
			return
		}
		calls.Go(func() {
			defer func() { <-slots }()
			defer close(begun.done)
			k.call(ctx, begun)
		})
	}
}

func (k *bulk) call(ctx context.Context, input *begunInput) {
	options := slices.Concat(k.options, []CallOption{WithMeta(&input.Meta)})
	input.Result, input.err = k.c.CreateResult(ctx, k.prism, input.Input, options...)
	var failed *FailedError
	if errors.As(input.err, &failed) && failed.Result != nil {
		input.Result = *failed.Result
	}
}

// key is the idempotency key of an input. Releases keep it as it is: a job may begin with one release and go on with the next.
func (k *bulk) key(r NewResult) string {
	if r.IdempotencyKey != "" {
		return r.IdempotencyKey
	}
	text, _ := json.Marshal([]any{k.Job, k.prism, r}) // these types always have an encoding
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
