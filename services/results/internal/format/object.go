package format

import (
	"fmt"
	"strconv"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/lens"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
)

// object is format json: {id, ref, prism, version, status, error, took_ms, created_at, answers}, where answers has a
// member for each Lens column, in Lens order (spec: format-json).
type object struct {
	slug    []byte // as a JSON string
	answers answers
}

func (*object) Header(b []byte) []byte { return b }

func (o *object) Row(b []byte, r Row) ([]byte, error) {
	cells, err := o.answers.of(r)
	if err != nil {
		return b, err
	}
	b = appendEnvelope(b, o.slug, &r.Result)
	if r.Result.Status == prism.Failed {
		return append(b, "null}"...), nil
	}
	b = append(b, '{')
	for i, c := range cells {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, r.Plan.names[i]...)
		b = appendCell(b, c)
	}
	return append(b, "}}"...), nil
}

// raw is format raw: as json, but answers is a copy of the stored answers, so Lens edits can't change it (spec: format-raw).
// The stored answers are parsed first, because a damaged row must not make the JSON around it invalid.
type raw struct {
	slug   []byte // as a JSON string
	parser answerjson.Parser
}

func (*raw) Header(b []byte) []byte { return b }

func (o *raw) Row(b []byte, r Row) ([]byte, error) {
	if r.Result.Status == prism.Failed {
		return append(appendEnvelope(b, o.slug, &r.Result), "null}"...), nil
	}
	if _, err := o.parser.Parse(r.Result.Answers); err != nil {
		return b, fmt.Errorf("format: result %s: %w", r.Result.ID, err)
	}
	b = append(appendEnvelope(b, o.slug, &r.Result), r.Result.Answers...)
	return append(b, '}'), nil
}

// appendEnvelope appends the members of a result before the value of answers.
func appendEnvelope(b, slug []byte, r *prism.Result) []byte {
	b = appendID(append(b, `{"id":`...), r)
	b = appendNullable(append(b, `,"ref":`...), r.Ref)
	b = append(append(b, `,"prism":`...), slug...)
	b = strconv.AppendInt(append(b, `,"version":`...), int64(r.Version), 10)
	b = strictjson.AppendString(append(b, `,"status":`...), string(r.Status))
	b = appendNullable(append(b, `,"error":`...), errorText(r))
	b = strconv.AppendInt(append(b, `,"took_ms":`...), r.TookMS, 10)
	b = appendTime(append(b, `,"created_at":`...), r)
	return append(b, `,"answers":`...)
}

// errorText is nil unless the result failed.
func errorText(r *prism.Result) *string {
	if r.Status != prism.Failed {
		return nil
	}
	return &r.Error
}

func appendID(b []byte, r *prism.Result) []byte {
	b, _ = r.ID.AppendText(append(b, '"')) // never fails
	return append(b, '"')
}

func appendTime(b []byte, r *prism.Result) []byte {
	return append(prism.AppendTime(append(b, '"'), r.CreatedAt), '"')
}

func appendNullable(b []byte, s *string) []byte {
	if s == nil {
		return append(b, "null"...)
	}
	return strictjson.AppendString(b, *s)
}

// appendCell appends a Lens cell for programs: keys instead of labels (spec: jsonl-rows).
func appendCell(b []byte, c lens.Cell) []byte {
	switch c.Kind {
	case lens.Number:
		return prism.AppendNumber(b, c.Number)
	case lens.Text:
		return strictjson.AppendString(b, c.Key)
	case lens.Null:
	}
	return append(b, "null"...)
}

func quoted(s string) []byte { return strictjson.AppendString(nil, s) }
