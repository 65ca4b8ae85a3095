package client

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/prism-results/prism/pkg/api"
)

// CallOption changes one call. A call returns an error, and sends nothing, if its operation does not have the option.
type CallOption func(*call)

// WithTimeout is how long one attempt of the call may take, in place of [AnswerTimeout], [Timeout] or what the method names.
// The context bounds all attempts together.
func WithTimeout(d time.Duration) CallOption {
	return func(k *call) {
		if d <= 0 {
			k.err = errors.Join(k.err, fmt.Errorf("client: %s: WithTimeout is %s, which is not above zero", k.operation, d))
		}
		k.timeout = d
	}
}

// WithAttempts is the most attempts of the call, in place of Config.Attempts; 1 never repeats.
func WithAttempts(n int) CallOption {
	return func(k *call) {
		if n < 1 {
			k.err = errors.Join(k.err, fmt.Errorf("client: %s: WithAttempts is %d, which is not above zero", k.operation, n))
		}
		k.attempts = n
	}
}

// Meta is what is known of a call beside its response body.
type Meta struct {
	RequestID string      // names the last request in the server's logs
	Status    int         // of the last response; 0 without one
	Header    http.Header // of the last response
	Attempts  int         // how often the call was sent, or tried to be
}

// WithMeta fills m when the call ends, whether it succeeds or fails, and for a stream when the stream begins. Calls at the same
// time need a Meta each. In an iteration, m is that of the last page.
func WithMeta(m *Meta) CallOption { return func(k *call) { k.meta = m } }

// WithFormat is the format of the results of createResult, readResult, retryResult or listResults, in place of Raw. With JSON,
// Result.Row has the columns of the Lens. Result.Body is the response as Prism wrote it. A list has the formats Raw and JSON,
// and no Body.
func WithFormat(f Format) CallOption {
	return func(k *call) {
		if !k.supports(k.format != "", "format") {
			return
		}
		k.asked = true
		k.setFormat(f)
	}
}

// WithDryRun makes every check of a call and returns what the call would do, but stores nothing. CreatePrism, CreateVersion,
// CreateRun, ReplaceLens, DeleteResults and RetryResults have it.
func WithDryRun() CallOption {
	return func(k *call) {
		if k.supports(k.dryRunAllowed, "dry run") {
			k.dryRun, k.repeatable, k.want = true, true, http.StatusOK
		}
	}
}

// IfUnchanged makes CreateVersion or ReplaceLens return ErrConflict if the prism's ETag or latest version is not that of was.
func IfUnchanged(was Prism) CallOption {
	return func(k *call) {
		if !k.supports(k.ifUnchangedAllowed, "condition") {
			return
		}
		if was.ETag == "" {
			k.err = errors.Join(k.err,
				fmt.Errorf("client: %s: IfUnchanged got a prism without an ETag: read it with ReadPrism", k.operation))
		}
		k.ifMatch, k.ifLatest = was.ETag, was.LatestVersion
	}
}

// WithExamplesFromLabels has CreateVersion take the examples of the version from labels. The version has none of its own.
func WithExamplesFromLabels(from ExamplesFromLabels) CallOption {
	return func(k *call) {
		if k.supports(k.operation == api.CreateVersion.Name, "examples from labels") {
			k.taken = &from
		}
	}
}

// supports refuses an option that the operation does not have.
func (k *call) supports(option bool, name string) bool {
	if !option {
		k.err = errors.Join(k.err, fmt.Errorf("client: %s has no %s", k.operation, name))
	}
	return option
}

func (k call) with(options []CallOption) call {
	for _, set := range options {
		set(&k)
	}
	return k
}
