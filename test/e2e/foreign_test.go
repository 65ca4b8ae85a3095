package e2e

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/testkit/model"
)

// The questions of triageQuestions as clients of others write them.
const (
	decisionQuestions = `[
		{"type":"choice","name":"intent","instructions":"What is it about?","choices":[
			{"value":"card","description":"The card is gone"},{"value":"transfer"},{"value":"insufficient_information","description":"Insufficient information"}]},
		{"type":"predicate","instructions":"Is it urgent?"},
		{"type":"score","name":"mood","instructions":"How does the customer feel?","levels":[{"label":"Calm"},{"label":"Upset"},{"label":"Angry"}]}]`
	systemOneQuestions = `{
		"urgent":{"type":"noul","instructions":"Is it urgent?"},
		"mood":{"type":"score","instructions":"How does the customer feel?","criteria":["Calm","Upset","Angry"]},
		"intent":{"type":"choice","instructions":"What is it about?","criteria":{"card":"Card, lost or stolen: The card is gone","transfer":null,"insufficient_information":null}}}`
)

// foreignAnswers are answers whose numbers stay what they are.
func foreignAnswers() model.Step {
	return model.Answer(model.Answers{
		"intent": model.Options{"card": 0.75, "transfer": 0.25, "insufficient_information": 0}, "urgent": model.Yes(0.9),
		"mood": model.Levels{0.25, 0.5, 0.25},
	})
}

// decide calls in OpenAI's format, and ask in TypeSafe's. The first header is the name.
func (c *client) decide(t *testing.T, body string, header ...string) reply {
	t.Helper()
	return c.do(t, call{path: "/v1/decisions", body: body, header: headerOf(header)})
}

func (c *client) ask(t *testing.T, body string, header ...string) reply {
	t.Helper()
	return c.do(t, call{path: "/v1/systemone", body: body, header: headerOf(header)})
}

func headerOf(pairs []string) http.Header {
	h := http.Header{}
	for i := 0; i+1 < len(pairs); i += 2 {
		h[pairs[i]] = append(h[pairs[i]], pairs[i+1])
	}
	return h
}

// wantForeignFail checks an error of a format of others.
func (r reply) wantForeignFail(t *testing.T, want fail, kind string, param any) {
	t.Helper()
	var got struct {
		Error map[string]any `json:"error"`
	}
	r.wantStatus(t, want.status)
	r.decode(t, &got)
	wantEqual(t, "the error", got.Error, map[string]any{"code": want.code, "message": want.message, "type": kind, "param": param})
	if retry := r.header.Get("X-Should-Retry"); (want.status == 409) != (retry == "false") {
		t.Errorf("a %d has X-Should-Retry %q", want.status, retry)
	}
}

func TestFormatsOfOthers(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		// spec: formats-of-others, decisions-call, decisions-answer, headers-of-others
		t.Run("a decision is a result of the prism", func(t *testing.T) {
			t.Parallel()
			prism, script := s.main.triage(t), s.model.Script(foreignAnswers())
			r := s.main.decide(t, object("model", prism+"@1", "input", script.Tag, "safety_identifier", "someone"), "Prism-Ref", "order 1")
			r.wantStatus(t, 200)
			var got struct {
				Usage struct{ Input, Total int }
			}
			r.decode(t, &got)
			whole, _, _ := strings.Cut(string(r.body), `"usage"`)
			wantEqual(t, "the body", whole, `{"answers":[`+
				`{"type":"choice","name":"intent","choice":"card","confidence":0.625,"probabilities":[`+
				`{"value":"card","probability":0.75},{"value":"transfer","probability":0.25},{"value":"insufficient_information","probability":0}]},`+
				`{"type":"predicate","name":"urgent","probability":0.9},`+
				`{"type":"score","name":"mood","score":1,"confidence":0.25,"probabilities":[`+
				`{"label":"Calm","value":0,"probability":0.25},{"label":"Upset","value":1,"probability":0.5},{"label":"Angry","value":2,"probability":0.25}]}`+
				`],"model":"`+prism+`@1",`)
			wantEqual(t, "Prism-Version", r.header.Get("Prism-Version"), "1")
			kept := s.main.read(t, r.header.Get("Prism-Result-Id"), "raw").ok(t)
			wantEqual(t, "the ref", *kept.Ref, "order 1")
			wantEqual(t, "the field", script.Requests()[0].Field("message"), script.Tag)
			wantEqual(t, "the number of results", len(s.main.results(t, "prism="+prism).Data), 1)
		})
		// spec: systemone-call, systemone-state, systemone-answer, headers-of-others
		t.Run("a System One call is a result of the prism", func(t *testing.T) {
			t.Parallel()
			prism, script := s.main.prism(t, twoFields, triageQuestions), s.model.Script(foreignAnswers())
			r := s.main.ask(t, object("model", prism, "state", raw(object("message", script.Tag, "subject", raw(`{"n": 1}`)))))
			r.wantStatus(t, 200)
			whole, _, _ := strings.Cut(string(r.body), `"usage"`)
			wantEqual(t, "the body", whole, `{"model":"`+prism+`@1","answers":{`+
				`"intent":{"type":"choice","choice":"card","confidence":0.625,"probabilities":{"card":0.75,"transfer":0.25,"insufficient_information":0}},`+
				`"urgent":{"type":"noul","noul":0.9},`+
				`"mood":{"type":"score","score":1,"confidence":0.25,"legend":{"0":"Calm","1":"Upset","2":"Angry"},"probabilities":{"0":0.25,"1":0.5,"2":0.25}}},`)
			wantEqual(t, "the subject", script.Requests()[0].Field("subject"), `{"n": 1}`)
			kept := s.main.read(t, r.header.Get("Prism-Result-Id"), "").ok(t)
			wantEqual(t, "the ref", kept.Ref, (*string)(nil))
			one := s.main.triage(t)
			s.main.ask(t, object("model", one, "state", raw(`["a", 1]`))).wantStatus(t, 200)
			s.main.ask(t, object("model", one, "state", "a")).wantStatus(t, 200)
			s.main.ask(t, object("model", one, "state", raw(object("message", "a")), "assets", nil)).wantStatus(t, 200)
		})
		// spec: own-questions
		t.Run("the questions are those of the prism, or none", func(t *testing.T) {
			t.Parallel()
			prism := s.main.triage(t)
			other := strings.Replace(decisionQuestions, "Is it urgent?", "Is it spam?", 1)
			renamed := strings.Replace(systemOneQuestions, `"urgent"`, `"later"`, 1)
			for _, questions := range []string{"null", "[]", "[ ]", decisionQuestions} {
				s.main.decide(t, object("model", prism, "input", "x", "questions", raw(questions))).wantStatus(t, 200)
			}
			for _, questions := range []string{"null", "{}", systemOneQuestions} {
				s.main.ask(t, object("model", prism, "state", "x", "questions", raw(questions))).wantStatus(t, 200)
			}
			want := invalid("questions: must be the questions of the prism, or none")
			s.main.decide(t, object("model", prism, "input", "x", "questions", raw(other))).wantForeignFail(t, want, "invalid_request_error", "questions")
			s.main.ask(t, object("model", prism, "state", "x", "questions", raw(renamed))).wantForeignFail(t, want, "invalid_request_error", "questions")
			wantEqual(t, "the number of results", len(s.main.results(t, "prism="+prism).Data), 7)
		})
		// spec: decisions-input
		t.Run("messages are a text", func(t *testing.T) {
			t.Parallel()
			prism := s.main.triage(t)
			sent := func(input string) string {
				script := s.model.Script()
				s.main.decide(t, object("model", prism, "input", raw(strings.ReplaceAll(input, "TAG", script.Tag)))).wantStatus(t, 200)
				return strings.ReplaceAll(script.Requests()[0].Field("message"), script.Tag, "TAG")
			}
			wantEqual(t, "the text of messages", sent(
				`[{"role":"user","content":"TAG"},{"type":"message","role":"user","content":[{"type":"input_text","text":"b"},{"type":"input_json","data":{"c": 1}}]}]`,
			), "TAG\n\nb\n\n{\"c\": 1}")
			conversation := `[{"role":"system","content":"TAG"}, {"type":"function_call","name":"f","call_id":"1","arguments":"{}"},` +
				`{"type":"function_call_output","call_id":"1","output":[{"type":"input_text","text":"x"}]},{"role":"assistant","content":[{"type":"output_text","text":"y"}]}]`
			wantEqual(t, "the text of a conversation", sent(conversation), conversation)
		})
		// spec: errors-of-others, decisions-call, decisions-input, systemone-call
		t.Run("errors have the contract's members and those of the format", func(t *testing.T) {
			t.Parallel()
			prism, two := s.main.triage(t), s.main.prism(t, twoFields, yesNo)
			image := `[{"role":"user","content":[{"type":"input_image","image_url":"data:,"}]}]`
			for _, c := range []struct {
				path, body string
				want       fail
				kind       string
				param      any
			}{
				{"decisions", `{}`, invalid("model: Required; input: Required"), "invalid_request_error", "model"},
				{"systemone", `{}`, invalid("model: Required; state: Required"), "invalid_request_error", "model"},
				{"decisions", `{`, malformed, "invalid_request_error", nil},
				{"decisions", `[]`, invalid("body: Expected object, received array"), "invalid_request_error", "body"},
				{"decisions", object("model", prism+"@0", "input", 1), invalid("model: Number must be greater than or equal to 1; input: Expected string, received number"), "invalid_request_error", "model"},
				{"decisions", object("model", prism, "input", raw(`[]`)), invalid("input: Array must contain at least 1 element(s)"), "invalid_request_error", "input"},
				{"decisions", object("model", prism, "input", raw(image)), invalid("input.0.content.0.type: Expected 'input_text' | 'input_json' | 'output_text' | 'refusal'"), "invalid_request_error", "input.0.content.0.type"},
				{"decisions", object("model", prism, "input", "x", "questions", "x"), invalid("questions: Expected array, received string"), "invalid_request_error", "questions"},
				{"systemone", object("model", prism, "state", "x", "assets", raw(`{"a":{"type":"image"}}`)), invalid("assets: images are not supported"), "invalid_request_error", "assets"},
				{"systemone", object("model", prism, "state", raw(`{"a":"\u0000"}`)), invalid("state.a: must not contain NUL or unpaired surrogate characters"), "invalid_request_error", "state.a"},
				{"decisions", object("model", two, "input", "x"), fail{400, "validation_failed", "Missing fields: subject, message"}, "invalid_request_error", nil},
				{"systemone", object("model", prism, "state", raw(`{"message":"","more":""}`)), fail{400, "validation_failed", "Unknown fields: more"}, "invalid_request_error", nil},
				{"decisions", object("model", newSlug(), "input", "x"), noPrism, "invalid_request_error", nil},
				{"systemone", object("model", prism+"@2", "state", "x"), noVersion, "invalid_request_error", nil},
			} {
				s.main.do(t, call{path: "/v1/" + c.path, body: c.body}).wantForeignFail(t, c.want, c.kind, c.param)
			}
			body := object("model", prism, "input", "x")
			r := s.main.do(t, call{path: "/v1/decisions", body: body, auth: none})
			r.wantForeignFail(t, authRequired, "authentication_error", nil)
			wantEqual(t, "WWW-Authenticate", r.header.Get("WWW-Authenticate"), "Bearer")
			s.main.do(t, call{path: "/v1/decisions", body: body, contentType: "text/html"}).wantForeignFail(t, unparsedType, "invalid_request_error", nil)
			s.main.decide(t, body, "Prism-Ref", strings.Repeat("x", 201), "Idempotency-Key", "").wantForeignFail(t,
				invalid("idempotency_key: String must contain at least 1 character(s); Prism-Ref: String must contain at most 200 character(s)"),
				"invalid_request_error", "idempotency_key")
			wantEqual(t, "the number of results", len(s.main.results(t, "prism="+prism).Data), 0)
		})
		// spec: retries-of-others, headers-of-others
		t.Run("a failed result is the result, and is not to be repeated", func(t *testing.T) {
			t.Parallel()
			prism, script := s.main.triage(t), s.model.Script(model.Status(400))
			for path, body := range map[string]string{
				"/v1/decisions": object("model", prism, "input", script.Tag), "/v1/systemone": object("model", prism, "state", script.Tag),
			} {
				r := s.main.do(t, call{path: path, body: body})
				failed := r.failed(t)
				s.main.read(t, failed.ID, "").wantBody(t, string(r.body))
				wantEqual(t, "Prism-Result-Id", r.header.Get("Prism-Result-Id"), failed.ID)
				wantEqual(t, "X-Should-Retry", r.header.Get("X-Should-Retry"), "false")
				wantEqual(t, "Retry-After", r.header.Get("Retry-After"), "60")
			}
		})
		// spec: formats-of-others, idempotency-header, repeat-of-an-ok-result, decisions-answer
		t.Run("the idempotency key is that of create calls", func(t *testing.T) {
			t.Parallel()
			prism, script, key := s.main.triage(t), s.model.Script(), newKey()
			first := s.main.decide(t, object("model", prism, "input", script.Tag), "Idempotency-Key", key)
			first.wantStatus(t, 200)
			again := s.main.ask(t, object("model", prism, "state", "another", "questions", raw(`{"a":{}}`)), "Idempotency-Key", key)
			again.wantStatus(t, 200)
			wantEqual(t, "Prism-Result-Id", again.header.Get("Prism-Result-Id"), first.header.Get("Prism-Result-Id"))
			wantEqual(t, "Prism-Version", again.header.Get("Prism-Version"), "1")
			wantEqual(t, "Idempotent-Replayed", again.header.Get("Idempotent-Replayed"), "true")
			var usage struct{ Usage json.RawMessage }
			again.decode(t, &usage)
			wantEqual(t, "the usage of a stored result", string(usage.Usage), `{"input_tokens":0,"output_tokens":0}`)
			wantEqual(t, "the id of a create call", s.main.create(t, prism, text("x", "idempotency_key", key)).ok(t).ID, first.header.Get("Prism-Result-Id"))
			s.main.decide(t, object("model", s.main.triage(t), "input", "x"), "Idempotency-Key", key).wantForeignFail(t, otherPrism, "invalid_request_error", nil)
			wantEqual(t, "the number of model calls", script.Calls(), 1)
		})
		// spec: decisions-answer
		t.Run("a tags is a predicate for each option", func(t *testing.T) {
			t.Parallel()
			prism := s.main.prism(t, oneField, `[{"key":"about","type":"tags","text":"What is it about?","options":[{"key":"card","label":"Card"},{"key":"fee","label":"Fee"}]}]`)
			r := s.main.decide(t, object("model", prism, "input", "x"))
			r.wantStatus(t, 200)
			var got struct {
				Answers []struct{ Type, Name string }
			}
			r.decode(t, &got)
			wantEqual(t, "the answers", got.Answers, []struct{ Type, Name string }{{"predicate", "about.card"}, {"predicate", "about.fee"}})
		})
	})
}
