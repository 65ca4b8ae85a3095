// Package openapi checks calls and their responses against an OpenAPI document.
package openapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

// Path is where the document is in the repository.
const Path = "services/gateway/internal/apidoc/openapi.json"

// Document checks exchanges.
type Document struct {
	// calls is the document as written: unknown members of a call are ignored (spec: unknown-members-ignored). In responses
	// unknown members are refused, so that Prism sends nothing that the document does not describe.
	calls, responses routers.Router

	mu     sync.Mutex
	unused map[string]bool // the operations that no call succeeded with
}

// Exchange is a call as it was sent, and its response.
type Exchange struct {
	Method, Target string // Target is the path with the query
	ContentType    string
	Body           string
	Status         int
	Header         http.Header
	Response       []byte
}

// withoutCharset are the media types that name no character set: events are UTF-8 by definition, a workbook and a table of Parquet are no
// texts.
var withoutCharset = []string{
	"text/event-stream", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "application/vnd.apache.parquet",
}

// New reads a document. It must be a valid one.
func New(source []byte) (*Document, error) {
	// The decoders of media types are global in the validator's package.
	openapi3filter.RegisterBodyDecoder("application/json", decodeJSON)
	for _, opaque := range append(withoutCharset, "application/jsonl", "text/tab-separated-values") {
		openapi3filter.RegisterBodyDecoder(opaque, openapi3filter.PlainBodyDecoder)
	}

	d := &Document{unused: map[string]bool{}}
	doc, calls, err := load(source)
	if err != nil {
		return nil, err
	}
	for _, path := range doc.Paths.Map() {
		for _, operation := range path.Operations() {
			d.unused[operation.OperationID] = true
		}
	}
	var closed any
	if err := json.Unmarshal(source, &closed); err != nil {
		return nil, err
	}
	closeObjects(closed)
	if source, err = json.Marshal(closed); err != nil {
		return nil, err
	}
	d.calls = calls
	_, d.responses, err = load(source)
	return d, err
}

func load(source []byte) (*openapi3.T, routers.Router, error) {
	doc, err := openapi3.NewLoader().LoadFromData(source)
	if err != nil {
		return nil, nil, err
	}
	if err := doc.Validate(context.Background(), openapi3.DisableExamplesValidation()); err != nil {
		return nil, nil, err
	}
	router, err := gorillamux.NewRouter(doc)
	return doc, router, err
}

// closeObjects refuses undescribed members wherever a schema describes an object. A schema that only adds a condition has no
// type.
func closeObjects(v any) {
	switch v := v.(type) {
	case map[string]any:
		if v["type"] == "object" && v["properties"] != nil && v["additionalProperties"] == nil {
			v["additionalProperties"] = false
		}
		for _, x := range v {
			closeObjects(x)
		}
	case []any:
		for _, x := range v {
			closeObjects(x)
		}
	}
}

// decodeJSON reads numbers as the gateway does (spec: javascript-numbers). A number that exceeds a float64 is left out; only
// an unknown member can have one.
func decodeJSON(body io.Reader, _ http.Header, _ *openapi3.SchemaRef, _ openapi3filter.EncodingFn) (v any, err error) {
	b, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	err = json.Unmarshal(bytes.TrimPrefix(b, []byte("\ufeff")), &v)
	if beyond := new(json.UnmarshalTypeError); errors.As(err, &beyond) {
		err = nil
	}
	return v, err
}

// Unused names the operations that no checked call succeeded with.
func (d *Document) Unused() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.unused))
}

// Check returns the differences between an exchange and the document: those of the response, and those of the call if the
// gateway accepted the call.
func (d *Document) Check(x Exchange) error {
	call, err := http.NewRequestWithContext(context.Background(), x.Method, "http://prism.test"+x.Target, strings.NewReader(x.Body))
	if err != nil { // no path of the document
		return x.undescribed(err)
	}
	call.Header.Set("Content-Type", x.ContentType)
	if x.Method == http.MethodHead {
		call.Method = http.MethodGet // HEAD is GET without the body, and is not described by itself
	}
	responses, _, err := d.responses.FindRoute(call)
	if err != nil {
		return x.undescribed(err)
	}
	if x.Status == http.StatusNotFound && bytes.Contains(x.Response, []byte(`"Route not found"`)) {
		return errors.New("described, but there is no such route")
	}
	options := &openapi3filter.Options{
		IncludeResponseStatus: true, ExcludeResponseBody: x.Method == http.MethodHead, SkipSettingDefaults: true,
		AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, SchemaValidationOptions: formats,
	}
	errs := []error{openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: call, Route: responses},
		Status:                 x.Status, Header: x.Header, Body: io.NopCloser(bytes.NewReader(x.Response)), Options: options,
	})}
	mediaType, params, err := mime.ParseMediaType(x.Header.Get("Content-Type"))
	if x.Status != http.StatusNoContent && !slices.Contains(withoutCharset, mediaType) && (err != nil || params["charset"] != "utf-8") {
		errs = append(errs, fmt.Errorf("Content-Type %q is not in UTF-8", x.Header.Get("Content-Type")))
	}
	if !x.taken() {
		return errors.Join(errs...)
	}
	if x.Status < 300 {
		d.mu.Lock()
		delete(d.unused, responses.Operation.OperationID)
		d.mu.Unlock()
	}
	calls, params, err := d.calls.FindRoute(call)
	if err != nil {
		return err
	}
	err = openapi3filter.ValidateRequest(context.Background(), &openapi3filter.RequestValidationInput{
		Request: call, PathParams: params, Route: calls, Options: options,
	})
	if err != nil {
		err = fmt.Errorf("it was taken: %w", err)
	}
	return errors.Join(append(errs, err)...)
}

// taken tells whether the gateway accepted a call. A failed result is a 502.
func (x Exchange) taken() bool { return x.Status < 300 || x.Status == http.StatusBadGateway }

// undescribed is an error for a call that the gateway accepted, except for the pages outside /v1/.
func (x Exchange) undescribed(why error) error {
	if x.taken() && strings.HasPrefix(x.Target, "/v1/") {
		return fmt.Errorf("it was answered with %d, but no operation is described: %w", x.Status, why)
	}
	return nil
}

var formats = []openapi3.SchemaValidationOption{
	openapi3.EnableFormatValidation(),
	openapi3.WithStringFormatValidator("uuid", openapi3.NewRegexpFormatValidator(openapi3.FormatOfStringForUUIDOfRFC9562)),
}
