package provider

import (
	"bytes"
	"context"
	"crypto/rand"
	"net/http"
	"sync"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

// Format is a wire format of remote models, with the defaults of the host that defined it.
type Format struct {
	Name    string                       // value of PRISM_MODEL_PROVIDER
	BaseURL string                       // default of PRISM_MODEL_BASE_URL
	Model   string                       // default of PRISM_MODEL_NAME; "" when there is none
	Header  func(key string) http.Header // sent with every request: credentials and protocol versions
	Path    string                       // below the base URL
	// PerQuestion: each question has a call of its own. Otherwise one call asks all questions.
	PerQuestion bool
	// Body returns what is sent as JSON to ask the questions, with Input in place of the input: as a string, or, when
	// InputInText, as a part of a string. Examples are those that answer any of the questions; none when ExamplesInInput.
	Body        func(model, instructions string, examples []Example, questions []prism.Question) any
	InputInText bool
	// ExamplesInInput: the format has no turns before the input, so the examples are a member of the input (spec: examples-in-a-call).
	ExamplesInInput bool
	// Decode reads the body of a 2xx response. An answer that can't be read is nil.
	Decode func(raw []byte, questions []prism.Question) Reply
	// Probabilities is where the probabilities come from.
	Probabilities api.ProbabilitySource
	// Orders, if not nil, returns at least one format, each of which asks the questions of a call once more: a question with its labels
	// in another order, or all questions for further samples.
	Orders func([]prism.Question) []Format
	// Samples is how many answers to each question a call asks for, if it draws samples.
	Samples int
	// MaxOptions is the most options or levels that a question may have. Without it there is no bound.
	MaxOptions int
	// FlatOptions is the most options of a choice that are asked at once, and GroupOptions how many of them a group of a choice with more
	// has (spec: option-groups). Without it there are no groups.
	FlatOptions, GroupOptions int
}

// Input stands for the input of a call in the Body of a Format. It is random, so that no definition contains it.
var Input = rand.Text()

// Open makes a provider that speaks the format to a model at the client's base URL.
func (f Format) Open(client *upstream.Client, model string) Provider {
	cache := templates{byDefinition: map[prism.DefinitionHash][]template{}}
	return Provider{
		Name: f.Name, Probabilities: f.Probabilities, FlatOptions: f.FlatOptions,
		Calls: func(a contract.Ask) []Call {
			return f.calls(client, a, cache.get(a.Hash, func() []template { return f.templates(model, a.Definition) }))
		},
		LastRound: func(a contract.Ask, questions []prism.Question) []Call {
			last := prism.Definition{Instructions: a.Definition.Instructions, Examples: a.Definition.Examples, Questions: questions}
			return f.calls(client, a, f.templates(model, last))
		},
	}
}

// calls are the calls that send the requests about the input of an ask.
func (f Format) calls(client *upstream.Client, a contract.Ask, requests []template) []Call {
	shared := f.input(a, nil)
	calls := make([]Call, len(requests))
	for i, t := range requests {
		input := shared
		if t.examples != nil {
			input = f.input(a, t.examples)
		}
		calls[i] = Call{Questions: t.questions, Grouped: t.grouped, Later: t.later, Order: t.order, Samples: t.samples}
		calls[i].Do = func(ctx context.Context) (reply Reply, fault *upstream.Fault) {
			if reply, ok := t.beyond(f.MaxOptions); ok {
				return reply, nil
			}
			body := upstream.Body{t.before, input, t.after}
			fault = client.Post(ctx, f.Path, body, len(t.questions)*max(t.samples, 1), func(answer []byte) *upstream.Fault {
				reply = t.decode(answer, t.questions)
				return reply.Fault
			})
			return reply, fault
		}
	}
	return calls
}

// input is the input of an ask as its place in a body has it.
func (f Format) input(a contract.Ask, examples []byte) []byte {
	input := appendInput(nil, a, examples)
	if f.InputInText {
		input = inText(input)
	}
	return input
}

// template is the body of a request in two parts, between which the input belongs.
type template struct {
	asked
	order         int // see Call
	samples       int // see Call
	before, after []byte
	examples      []byte // a member of the input, as JSON; nil without one
	decode        func([]byte, []prism.Question) Reply
}

// beyond is the reply without an answer to the first question that has too many options, if there is one (spec: max-options). Nothing is
// sent: a host would refuse the call.
func (t template) beyond(bound int) (r Reply, ok bool) {
	if bound == 0 {
		return r, false
	}
	for _, q := range t.questions {
		answer, counts := &prism.Answer{}, []int{t.samples}
		if !ok && len(q.AnswerKeys()) > bound {
			answer, counts, ok = nil, nil, true
		}
		r.Answers, r.Counts = append(r.Answers, answer), append(r.Counts, counts)
	}
	return r, ok
}

func (f Format) templates(model string, d prism.Definition) []template {
	var ts []template
	for _, a := range f.split(d.Questions) {
		orders, questions, examples := []Format{f}, a.questions, shown(d.Examples, a)
		if f.Orders != nil && a.grouped == nil {
			orders = f.Orders(questions)
		}
		for i, o := range orders {
			mark := []byte(Input)
			if !o.InputInText {
				mark = Encode(Input)
			}
			turns, member := examples, []byte(nil)
			if o.ExamplesInInput && len(examples) > 0 {
				turns, member = nil, examplesMember(examples, questions)
			}
			before, after, _ := bytes.Cut(Encode(o.Body(model, d.Instructions, turns, questions)), mark)
			ts = append(ts, template{a, i, o.Samples, before, after, member, o.Decode})
		}
	}
	return ts
}

// maxKept limits the bytes of the templates that a provider keeps.
const maxKept = 32 << 20

// templates caches the templates of definitions by hash. Encoding the template of a definition of 18 KB took a fifth of the
// processor time of an ask.
type templates struct {
	mu           sync.Mutex
	byDefinition map[prism.DefinitionHash][]template
	bytes        int
}

// get returns the templates of the definition with this hash. encode makes those that are not kept.
func (t *templates) get(hash prism.DefinitionHash, encode func() []template) []template {
	if hash == (prism.DefinitionHash{}) { // nobody computed the hash
		return encode()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if ts, ok := t.byDefinition[hash]; ok {
		return ts
	}
	if t.bytes > maxKept {
		clear(t.byDefinition)
		t.bytes = 0
	}
	ts := encode()
	t.byDefinition[hash] = ts
	for _, one := range ts {
		t.bytes += 256 + len(one.before) + len(one.after) + len(one.examples)
	}
	return ts
}
