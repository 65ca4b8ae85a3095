package request

import (
	"bytes"
	"math"
	"slices"
	"strings"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
)

// maxParts is how many messages an input has, and parts a message.
const maxParts = 1000

// The shapes of calls in formats of others, with members in the order in which their problems are listed.
var (
	asSent         = &shape{whole: true}
	decisionShape  = &shape{members: []member{{"model", scalar}, {"input", asSent}, {"questions", asSent}}}
	systemOneShape = &shape{members: []member{{"model", scalar}, {"state", asSent}, {"questions", asSent}, {"assets", asSent}}}
	messagesShape  = &shape{maxElements: maxParts, element: &shape{members: []member{
		{"type", scalar}, {"role", scalar}, {"content", asSent}, {"output", asSent},
	}}}
	partsShape = &shape{maxElements: maxParts, element: &shape{members: []member{{"type", scalar}, {"text", scalar}, {"data", asSent}}}}
	stateShape = &shape{fields: true, lists: true, objects: true}
)

// parseDecision reads a call in OpenAI's decisions format (spec: decisions-call).
func parseDecision(from Source) (*api.CreateDecisionRequest, error) {
	sent, err := parseBody(from.Body, decisionShape)
	if err != nil {
		return nil, err
	}
	r := reader{header: from.Header}
	var c api.CreateDecisionRequest
	c.Call.Format = api.Decisions
	if r.is(sent, kindObject) {
		if model, is := r.isAdHoc(sent.at("model")); is {
			r.adHocDecision(&c.Call, model, sent)
		} else {
			r.foreignModel(&c.Call, sent.at("model"))
			c.Call.Text = r.input(sent.at("input"))
			r.foreignQuestions(&c.Call, sent.at("questions"), kindArray)
		}
	}
	r.foreignHeaders(&c.Call)
	return &c, r.err()
}

// parseSystemOne reads a call in TypeSafe's System One format (spec: systemone-call).
func parseSystemOne(from Source) (*api.CreateSystemOneRequest, error) {
	sent, err := parseBody(from.Body, systemOneShape)
	if err != nil {
		return nil, err
	}
	r := reader{header: from.Header}
	var c api.CreateSystemOneRequest
	c.Call.Format = api.SystemOne
	if r.is(sent, kindObject) {
		if model, is := r.isAdHoc(sent.at("model")); is {
			r.adHocSystemOne(&c.Call, model, sent)
		} else {
			r.foreignModel(&c.Call, sent.at("model"))
			c.Call.Fields, c.Call.Text = r.state(sent.at("state"))
			r.foreignQuestions(&c.Call, sent.at("questions"), kindObject)
		}
		if assets := sent.at("assets"); assets.hasValue() {
			r.add(assets.path, textNoImages)
		}
	}
	r.foreignHeaders(&c.Call)
	return &c, r.err()
}

// foreignModel reads the prism that the name of a model stands for, and its version behind an @.
func (r *reader) foreignModel(c *api.ForeignCall, it item) {
	s, ok := r.str(it, 1, maxName)
	if !ok {
		return
	}
	if slug, number, found := cutLast(s, "@"); found && number != "" && strings.Trim(number, "0123456789") == "" {
		s = slug
		c.Version = int32(r.integer(it.path, parseNumber([]byte(number)), math.MaxInt32)) //nolint:gosec // integer has checked the range
	}
	c.Prism = prism.ParseRef(s)
}

func cutLast(s, sep string) (before, after string, found bool) {
	at := strings.LastIndex(s, sep)
	if at < 0 {
		return s, "", false
	}
	return s[:at], s[at+len(sep):], true
}

// foreignQuestions keeps the questions as they were sent. Without any the prism's own are asked (spec: own-questions).
func (r *reader) foreignQuestions(c *api.ForeignCall, it item, want kind) {
	if it.hasValue() && r.is(it, want) && len(bytes.Trim(it.text, "[]{} \t\r\n")) > 0 {
		c.Questions = bytes.Clone(it.text)
	}
}

// foreignHeaders reads the idempotency key and the ref.
func (r *reader) foreignHeaders(c *api.ForeignCall) {
	c.IdempotencyKey = r.strOrHeader(item{path: "idempotency_key"}, false, "Idempotency-Key", 1, maxIdempotencyKey)
	if len(r.header.values("Prism-Ref")) > 0 {
		ref := r.strOrHeader(item{path: "Prism-Ref"}, false, "Prism-Ref", 0, maxRef)
		c.Ref = &ref
	}
}

// input reads a text, or messages.
func (r *reader) input(it item) *string {
	if it.sent() && it.kind() == kindArray {
		return new(r.messages(it))
	}
	s, _ := r.str(it, 0, maxField)
	return &s
}

// roles are those of messages, and messageTypes what else an input has beside messages.
var (
	roles        = []string{"user", "assistant", "system", "developer"}
	messageTypes = []string{"message", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output"}
	partTypes    = []string{"input_text", "input_json", "output_text", "refusal"}
)

// messages is the text of the messages of a user, each a paragraph. A conversation of others too is its JSON as it was sent
// (spec: decisions-input).
func (r *reader) messages(it item) string {
	n, _ := parseJSON(it.text, messagesShape) // a part of what was parsed
	var texts []string
	conversation := false
	for _, m := range r.array(item{it.path, n, messagesShape}, 1, maxParts) {
		if !r.is(m, kindObject) {
			continue
		}
		kind := "message"
		if m.at("type").hasValue() {
			kind = oneOfStr(r, m.at("type"), messageTypes)
		}
		switch {
		case kind == "message":
			role := oneOfStr(r, m.at("role"), roles)
			conversation = conversation || role != "user"
			texts = append(texts, r.parts(m.at("content"))...)
		case m.at("output").sent():
			r.parts(m.at("output"))
			fallthrough
		default:
			conversation = true
		}
	}
	text := strings.Join(texts, "\n\n")
	if conversation {
		text = string(it.text)
	}
	r.checkString(it.path, text, true, 0, maxField)
	return text
}

// parts are the texts of a message: a text, or parts that are texts or JSON.
func (r *reader) parts(it item) (texts []string) {
	if !it.sent() || it.kind() != kindArray {
		return []string{r.anyStr(it)}
	}
	n, _ := parseJSON(it.text, partsShape) // a part of what was parsed
	for _, part := range r.array(item{it.path, n, partsShape}, 0, maxParts) {
		if !r.is(part, kindObject) {
			continue
		}
		switch oneOfStr(r, part.at("type"), partTypes) {
		case "input_text", "output_text":
			texts = append(texts, r.anyStr(part.at("text")))
		case "input_json":
			if data := part.at("data"); data.sent() {
				texts = append(texts, string(data.text))
			} else {
				r.add(data.path, textRequired)
			}
		}
	}
	return texts
}

// state reads a text, or the values of fields. A value that is no text is its JSON as it was sent (spec: systemone-state).
func (r *reader) state(it item) (api.FieldValues, *string) {
	if !it.sent() || !slices.Contains([]kind{kindObject, kindArray}, it.kind()) {
		s, _ := r.str(it, 0, maxField)
		return nil, &s
	}
	if it.kind() == kindArray {
		r.checkString(it.path, string(it.text), true, 0, maxField)
		return nil, new(string(it.text))
	}
	n, _ := parseJSON(it.text, stateShape) // a part of what was parsed
	values := api.FieldValues{}
	for i, s := range n.fields.sent {
		if n.fields.uncleanName == i+1 {
			r.add(it.path, textUnclean)
		}
		key, text := string(n.fields.plain(s)), n.fields.text(s.value)
		value, clean := string(text), true
		if s.first == '"' {
			value, clean = unquote(text)
		}
		r.checkString(it.child(key), value, clean, 0, maxField)
		values = append(values, prism.FieldValue{Key: key, Value: value})
		if len(r.problems) >= manyProblems {
			r.list()
		}
	}
	if n.fields.uncleanName == len(n.fields.sent)+1 {
		r.add(it.path, textUnclean)
	}
	return values, nil
}
