package request

import (
	"errors"
	"math"
	"net/http"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
)

// createShape has the members in the order in which their problems are listed (spec: validation-order).
var createShape = &shape{members: append([]member{{"fields", &shape{fields: true}}},
	members("text", "version", "idempotency_key", "ref", "context")...)}

// parseCreate reads a create call: the syntax of the body first, then path, format and body together
// (spec: order-of-checks-create).
func parseCreate(from Source) (*api.CreateResultRequest, error) {
	sent, err := parseBody(from.Body, createShape)
	if err != nil {
		return nil, err
	}
	r := reader{header: from.Header}
	c := &api.CreateResultRequest{PrismRequest: api.PrismRequest{Prism: r.prismParam(from.Param("prism"))}}
	c.Format = oneOf(&r, "format", from.Query("format"), api.Formats(), api.JSON)
	if r.is(sent, kindObject) {
		r.create(&c.NewResult, sent)
	}
	return c, r.err()
}

func (r *reader) create(c *api.NewResult, body item) {
	version, key, ref := body.at("version"), body.at("idempotency_key"), body.at("ref")
	c.Fields, c.Text = r.values(body)
	if version.sent() && r.is(version, kindNumber) {
		n := r.integer("version", parseNumber(version.text), math.MaxInt32)
		c.Version = int32(n) //nolint:gosec // integer has checked the range
	}
	c.IdempotencyKey = r.strOrHeader(key, key.sent(), "Idempotency-Key", 1, maxIdempotencyKey)
	if ref.hasValue() {
		s, _ := r.str(ref, 0, maxRef)
		c.Ref = &s
	}
	c.Context = r.context(body)
}

// values reads fields or text.
func (r *reader) values(body item) (values api.FieldValues, only *string) {
	fields, text := body.at("fields"), body.at("text")
	isOrAbsent := func(it item, k kind) bool { return !it.sent() || it.kind() == k }
	if isOrAbsent(fields, kindObject) && isOrAbsent(text, kindString) && fields.sent() == text.sent() {
		r.add("fields", textEither)
	}
	if fields.sent() && r.is(fields, kindObject) {
		values = r.fields(fields.fields)
	}
	if text.sent() {
		s, _ := r.str(text, 0, maxField)
		only = &s
	}
	return values, only
}

func (r *reader) context(body item) (s string) {
	if context := body.at("context"); context.sent() {
		s, _ = r.str(context, 0, maxField)
	}
	return s
}

// Row is the create call that a row of a run stands for. It sends the fields as an object. The error is the one that the body
// of that call would get (spec: rows-are-calls, row-invalid).
func Row(fields []prism.FieldValue, ref *string, context string) (api.NewResult, error) {
	if !fits(fields, ref, context) {
		return api.NewResult{}, apierr.BodyTooLarge()
	}
	var r reader
	for _, f := range fields {
		r.field(f.Key, f.Value, isClean(f.Value))
	}
	if ref != nil {
		r.checkString("ref", *ref, isClean(*ref), 0, maxRef)
	}
	r.checkString("context", context, isClean(context), 0, maxField)
	return api.NewResult{Fields: fields, Ref: ref, Context: context}, r.err()
}

// RefusesRow tells whether an error of the create call of a row makes the row invalid, and returns the row's message
// (spec: row-invalid).
func RefusesRow(err error) (message string, invalid bool) {
	refused, ok := errors.AsType[*apierr.Error](err)
	if !ok || refused.Status != http.StatusBadRequest && refused.Status != http.StatusRequestEntityTooLarge {
		return "", false
	}
	return refused.Message, true
}

// fits tells whether the shortest JSON body that sends a row is within the body limit.
func fits(fields []prism.FieldValue, ref *string, context string) bool {
	const escaped = 6 // bytes that one byte of a text takes at most, as \u0000
	texts := []string{"fields"}
	if ref != nil {
		texts = append(texts, "ref", *ref)
	}
	if context != "" {
		texts = append(texts, "context", context)
	}
	for _, f := range fields {
		texts = append(texts, f.Key, f.Value)
	}
	most := 0
	for _, text := range texts {
		most += escaped*len(text) + len(`"",`)
	}
	if most <= httpkit.BodyLimit {
		return true
	}
	size := len(`{{}}`) + len(texts) - 1 // a colon or comma between two
	var quoted []byte
	for _, text := range texts {
		quoted = strictjson.AppendString(quoted[:0], text)
		size += len(quoted)
	}
	return size <= httpkit.BodyLimit
}
