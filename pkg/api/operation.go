package api

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"time"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
)

// Declaration is what an operation is, but for its types.
type Declaration struct {
	// Name is the operationId of the OpenAPI document. Clients, metrics and requests between the services use it too.
	Name string
	// Method is GET, POST, PUT or DELETE.
	Method string
	// Path begins with /v1 and has its parameters in braces.
	Path string
	// Tag is the group of the operation in the OpenAPI document.
	Tag string
	// Role is the least role that may call the operation (spec: roles).
	Role prism.Role
	// Class is the kind of place that the operation takes (spec: place-classes).
	Class Class
	// Status is that of a success; 200 when 0. A dry run is always 200 (spec: dry-run).
	Status int
	// Wait is how long the gateway waits for results; contract.ResultsWait when 0.
	Wait time.Duration
	// Repeatable is true of a POST that does the same when it is sent twice. A GET, PUT and DELETE always do.
	Repeatable bool
	// ReadOnly is true of a POST that changes nothing. A GET never does.
	ReadOnly bool
	// ETag is true of an operation whose response has the ETag of a prism (spec: prism-etag).
	ETag bool
	// ByGateway is true of an operation that the gateway answers: with other calls of results than Do, or not with results alone.
	// Any other one is one call of Do, or of Open if its class is Streamed.
	ByGateway bool
	// Failing is true of an operation whose response may be a failed answer of the model, with 502 (spec: result-status).
	Failing bool
	// Foreign is true of an operation in a format that clients of others speak. Prism's own clients have no method of it
	// (spec: formats-of-others).
	Foreign bool
	// Plan is a zero value of the response of a dry run; nil: it is that of another call.
	Plan any
	// Media are the types of the response beside the JSON of Out.
	Media []Media
	// Errors are those that only some operations return, with example arguments. The first 404 is what the handler's
	// "not found" means.
	Errors []*apierr.Error
}

// Reads reports whether the operation changes nothing, so that a response which was lost may be asked for again.
func (d Declaration) Reads() bool { return d.Method == http.MethodGet || d.ReadOnly }

// SuccessStatus is the status of a success.
func (d Declaration) SuccessStatus() int {
	if d.Status == 0 {
		return http.StatusOK
	}
	return d.Status
}

// NotFound is the error of the operation when what its path names is not there, or nil.
func (d Declaration) NotFound() *apierr.Error {
	for _, e := range d.Errors {
		if e.Status == http.StatusNotFound {
			return e
		}
	}
	return nil
}

// Op is an operation with the types of its request and response. Out is None for an operation whose response has no JSON.
type Op[In, Out any] struct{ Declaration }

// None is the response of an operation that returns no JSON: with 204, or in other Media.
type None struct{}

// DryRun reports whether a request can be a dry run (spec: dry-run).
func (o Op[In, Out]) DryRun() bool { return o.has(InBody, "dry_run") }

// IfMatch reports whether a request can have the header If-Match (spec: if-match).
func (o Op[In, Out]) IfMatch() bool { return o.has(InHeader, "If-Match") }

func (o Op[In, Out]) has(place Place, name string) bool {
	request, _ := o.Types()
	return slices.ContainsFunc(Properties(request), func(m Property) bool { return m.Place == place && m.Name == name })
}

// Operation is an Op of any types.
type Operation interface {
	Declared() Declaration
	// NewRequest returns a pointer to a zero request.
	NewRequest() any
	// Types are those of the request and of the response.
	Types() (request, response reflect.Type)
}

// Declared implements Operation.
func (o Op[In, Out]) Declared() Declaration { return o.Declaration }

// NewRequest implements Operation.
func (o Op[In, Out]) NewRequest() any { return new(In) }

// Types implements Operation.
func (o Op[In, Out]) Types() (request, response reflect.Type) {
	return reflect.TypeFor[In](), reflect.TypeFor[Out]()
}

// Handler answers the calls of one operation for callers of type C.
type Handler[C any] struct {
	Operation
	call func(ctx context.Context, caller C, request any) (any, error)
}

// Handle makes the handler of an operation.
func Handle[C, In, Out any](op Op[In, Out], fn func(ctx context.Context, caller C, in In) (Out, error)) Handler[C] {
	return Handler[C]{op, func(ctx context.Context, caller C, request any) (any, error) {
		in, ok := request.(*In)
		if !ok {
			return nil, fmt.Errorf("api: %s takes a %T, not a %T", op.Name, in, request)
		}
		return fn(ctx, caller, *in)
	}}
}

// HandleEncoded is Handle for a handler that returns the JSON of the response, because it bounds its bytes.
func HandleEncoded[C, In, Out any](op Op[In, Out], fn func(ctx context.Context, caller C, in In) ([]byte, error)) Handler[C] {
	h := Handle(Op[In, []byte](op), fn)
	h.Operation = op
	return h
}

// Call answers one call. request is what NewRequest returned, filled. The response is nil for None, and bytes are its JSON.
func (h Handler[C]) Call(ctx context.Context, caller C, request any) (any, error) {
	response, err := h.call(ctx, caller, request)
	if _, none := response.(None); none {
		response = nil
	}
	return response, err
}

// Handlers finds handlers by the names of their operations.
type Handlers[C any] map[string]Handler[C]

// NewHandlers makes Handlers. Two handlers of one operation are a fault of the program.
func NewHandlers[C any](list ...Handler[C]) Handlers[C] {
	all := make(Handlers[C], len(list))
	for _, h := range list {
		name := h.Declared().Name
		if _, taken := all[name]; taken {
			panic("api: two handlers of " + name) // a fault of the program, found at every start
		}
		all[name] = h
	}
	return all
}
