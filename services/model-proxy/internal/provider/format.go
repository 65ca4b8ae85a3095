package provider

import (
	"context"
	"net/http"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

// Format is a wire format of remote models, with the defaults of the host that defined it.
type Format struct {
	Name    string                         // value of PRISM_MODEL_PROVIDER
	BaseURL string                         // default of PRISM_MODEL_BASE_URL
	Model   string                         // default of PRISM_MODEL_NAME; "" when there is none
	Header  func(key string) http.Header   // sent with every request; proves who the caller is
	Path    string                         // below the base URL
	Split   func(a contract.Ask) []Request // the calls that answer an ask, in question order
}

// Request is the body of one upstream call and the reader of its response.
type Request struct {
	Questions []prism.Question
	// Body returns what is sent as JSON for a model. It is called for each attempt, so that the bodies of an ask of many
	// calls are not all in memory at once.
	Body func(model string) any
	// Decode reads the body of a 2xx response. What it can't read is a Reply with nil answers.
	Decode func(raw []byte, questions []prism.Question) Reply
}

// Open makes a provider that speaks the format to a model at the client's base URL.
func (f Format) Open(client *upstream.Client, model string) Provider { return remote{f, client, model} }

type remote struct {
	format Format
	client *upstream.Client
	model  string
}

// Name is the value of PRISM_MODEL_PROVIDER.
func (r remote) Name() string { return r.format.Name }

// Calls posts each request of the format.
func (r remote) Calls(a contract.Ask) []Call {
	requests := r.format.Split(a)
	calls := make([]Call, len(requests))
	for i, q := range requests {
		calls[i] = Call{Questions: q.Questions, Do: func(ctx context.Context) (Reply, *upstream.Fault) {
			raw, fault := r.client.Post(ctx, r.format.Path, Encode(q.Body(r.model)))
			if fault != nil {
				return Reply{}, fault
			}
			return q.Decode(raw, q.Questions), nil
		}}
	}
	return calls
}
