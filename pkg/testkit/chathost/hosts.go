package chathost

import (
	"fmt"
	"strconv"
	"strings"
)

// invalid is a refusal in OpenAI's form that names a parameter.
func invalid(param, message string) *refusal {
	return &refusal{400, fmt.Sprintf(`{"error":{"message":%q,"type":"invalid_request_error","param":%q,"code":"unsupported_parameter"}}`, message, param)}
}

// first is the first refusal of several checks.
func first(checks ...func(request) *refusal) func(request) *refusal {
	return func(in request) *refusal {
		for _, check := range checks {
			if r := check(in); r != nil {
				return r
			}
		}
		return nil
	}
}

// refuses returns a check that no such parameter is sent.
func refuses(message string, params ...string) func(request) *refusal {
	return func(in request) *refusal {
		for _, p := range params {
			if in.has(p) {
				return invalid(p, fmt.Sprintf(message, p))
			}
		}
		return nil
	}
}

// atMost refuses a number above a bound.
func atMost(param string, bound int) func(request) *refusal {
	return func(in request) *refusal {
		if in.number(param) > bound {
			return invalid(param, fmt.Sprintf("%s must be at most %d", param, bound))
		}
		return nil
	}
}

// unless returns a check of requests without a member of this value.
func unless(member, value string, check func(request) *refusal) func(request) *refusal {
	return func(in request) *refusal {
		if in.is(member, value) {
			return nil
		}
		return check(in)
	}
}

// thinks is a model that needs room to think: a lower limit ends its reply before it says anything.
func thinks(in request) *refusal {
	if in.limit() < 1000 {
		return &refusal{200, `{"choices":[{"index":0,"finish_reason":"length","message":{"role":"assistant","content":""}}],"usage":{"prompt_tokens":9,"completion_tokens":16}}`}
	}
	return nil
}

// schemaRefused is a host that takes no JSON schema.
func schemaRefused(message string) func(request) *refusal {
	return func(in request) *refusal {
		if strings.Contains(string(in.body["response_format"]), "json_schema") {
			return invalid("response_format", message)
		}
		return nil
	}
}

// content is a choice in OpenAI's form, with log-probabilities when there are some. members stand beside the content.
func content(members string) func(string, []token) string {
	return func(text string, logProbs []token) string {
		return fmt.Sprintf(`"finish_reason":"stop","message":{"role":"assistant","content":%s,"refusal":null%s},"logprobs":%s`,
			text, members, contentOf(logProbs, func(t token) string {
				return fmt.Sprintf(`{"token":%q,"logprob":%v,"bytes":[%s]}`, t.text, t.logProb(), bytesOf(t.text))
			}))
	}
}

// contentOf is `logprobs` with the tokens as render has them.
func contentOf(tokens []token, render func(token) string) string {
	if len(tokens) == 0 {
		return "null"
	}
	var list []string
	for _, t := range tokens {
		list = append(list, render(t))
	}
	return fmt.Sprintf(`{"content":[%s,"top_logprobs":[%s]}]}`, strings.TrimSuffix(list[0], "}"), strings.Join(list, ","))
}

func bytesOf(text string) string {
	var list []string
	for _, b := range []byte(text) {
		list = append(list, strconv.Itoa(int(b)))
	}
	return strings.Join(list, ",")
}

// older is a choice with log-probabilities in the form of OpenAI's first API.
func older(text string, logProbs []token) string {
	if len(logProbs) == 0 {
		return content("")(text, nil)
	}
	var top []string
	for _, t := range logProbs {
		top = append(top, fmt.Sprintf(`%q:%v`, t.text, t.logProb()))
	}
	return fmt.Sprintf(`"finish_reason":"length","message":{"role":"assistant","content":%s,"tool_calls":[]},
		"logprobs":{"token_ids":[1],"tokens":[%q],"token_logprobs":[%v],"top_logprobs":[{%s}]}`,
		text, logProbs[0].text, logProbs[0].logProb(), strings.Join(top, ","))
}

// Hosts are the hosts that Prism has a profile for.
func Hosts() []Host {
	hosts := []Host{
		{Name: "openai", path: "/v1/chat/completions", check: first(atMost("top_logprobs", 20), atMost("n", 128)), wrap: content(`,"annotations":[]`)},
		{
			Name: "openai-reasoning", path: "/v1/chat/completions", wrap: content(`,"annotations":[]`),
			check: first(refuses("Unsupported parameter: '%s' is not supported with this model.", "max_tokens", "temperature", "logprobs", "top_logprobs"), thinks),
		},
		{
			Name: "azure", path: "/openai/deployments/d/chat/completions", wrap: content(`,"content_filter_results":{"hate":{"filtered":false}}`),
			check: func(in request) *refusal {
				switch {
				case in.header.Get("Api-Key") != Key:
					return &refusal{401, `{"error":{"code":"401","message":"Access denied due to invalid subscription key or wrong API endpoint."}}`}
				case in.query("api-version") == "":
					return &refusal{404, `{"error":{"code":"404","message":"Resource not found"}}`}
				}
				return nil
			},
			faults: map[Fault]refusal{
				DeadKey:      {401, `{"error":{"code":"401","message":"Access denied due to invalid subscription key or wrong API endpoint."}}`},
				UnknownModel: {404, `{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}`},
				FilteredText: {400, `{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.","type":null,"param":"prompt","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation"}}}`},
			},
		},
		{
			Name: "openrouter", path: "/api/v1/chat/completions", wrap: content(`,"reasoning":null,"reasoning":"so"`),
			check: first(func(in request) *refusal {
				if in.limit() < 16 {
					return &refusal{400, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16"}}}`}
				}
				return nil
			}, unless("provider", `{"require_parameters":true}`, func(request) *refusal { // one that knows neither schemas nor log-probabilities
				return &refusal{200, `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"It is a, I think."}}],"usage":{"prompt_tokens":9,"completion_tokens":7}}`}
			})),
			faults: map[Fault]refusal{
				DeadKey:      {401, `{"error":{"message":"No auth credentials found","code":401}}`},
				EmptyBalance: {402, `{"error":{"message":"Insufficient credits.","code":402}}`},
				FilteredText: {403, `{"error":{"message":"Your chosen model requires moderation and your input was flagged","code":403,"metadata":{"reasons":["violence"]}}}`},
				UnknownModel: {400, `{"error":{"message":"o9/x is not a valid model ID","code":400}}`},
				TooManyCalls: {200, `{"error":{"message":"Rate limit exceeded","code":429}}`},
				OutOfOrder:   {200, `{"choices":[{"finish_reason":"error","error":{"code":502,"message":"Provider returned error"},"message":{"content":""}}]}`},
			},
		},
		{
			Name: "gemini", path: "/v1beta/openai/chat/completions", wrap: content(""),
			check: first(func(in request) *refusal {
				for _, name := range []string{"logprobs", "top_logprobs"} {
					if in.has(name) {
						return &refusal{400, `[{"error":{"code":400,"message":"Invalid JSON payload received. Unknown name \"` + name + `\": Cannot find field.","status":"INVALID_ARGUMENT"}}]`}
					}
				}
				return nil
			}, atMost("n", 8), thinks),
			faults: map[Fault]refusal{
				DeadKey:      {400, `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}]`},
				FilteredText: {200, `{"choices":[{"index":0,"finish_reason":"content_filter: SAFETY","message":{"role":"assistant"}}]}`},
				TooLongText:  {400, `[{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`},
				TooManyCalls: {429, `[{"error":{"code":429,"message":"You exceeded your current quota.","status":"RESOURCE_EXHAUSTED"}}]`},
			},
		},
		{
			Name: "groq", path: "/openai/v1/chat/completions", wrap: content(`,"reasoning":"so"`),
			check: first(refuses("property '%s' is unsupported", "logprobs", "top_logprobs", "logit_bias"), atMost("n", 1),
				schemaRefused("This model does not support response format `json_schema`.")),
		},
		{
			Name: "mistral", path: "/v1/chat/completions",
			check: func(in request) *refusal {
				for _, name := range []string{"logprobs", "top_logprobs", "max_completion_tokens"} {
					if in.has(name) {
						return &refusal{422, `{"detail":[{"type":"extra_forbidden","loc":["body","` + name + `"],"msg":"Extra inputs are not permitted"}]}`}
					}
				}
				return nil
			},
			wrap: func(text string, _ []token) string {
				return `"finish_reason":"stop","message":{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"{}"}]},{"type":"text","text":` + text + `}]}`
			},
			faults: map[Fault]refusal{
				UnknownModel: {400, `{"object":"error","message":"Invalid model: o9","type":"invalid_model","param":null,"code":"1500"}`},
			},
		},
		{
			Name: "together", path: "/v1/chat/completions", wrap: older,
			check: func(in request) *refusal {
				if in.is("logprobs", "true") || in.has("top_logprobs") {
					return invalid("logprobs", "logprobs: Expected integer, received boolean")
				}
				return nil
			},
		},
		{
			Name: "fireworks", path: "/inference/v1/chat/completions", wrap: content(""), check: atMost("top_logprobs", 5),
		},
		{
			Name: "deepseek", path: "/chat/completions", wrap: content(`,"reasoning_content":null`),
			check: first(schemaRefused("This response_format type is unavailable now"), unless("thinking", `{"type":"disabled"}`, thinks)),
			faults: map[Fault]refusal{
				EmptyBalance: {402, `{"error":{"message":"Insufficient Balance","type":"unknown_error","param":null,"code":"invalid_request_error"}}`},
			},
		},
		{
			Name: "xai", path: "/v1/chat/completions", check: first(atMost("top_logprobs", 8), thinks),
			wrap: func(text string, _ []token) string { return content(`,"reasoning_content":"so"`)(text, nil) },
			faults: map[Fault]refusal{
				DeadKey:      {400, `{"code":"Client specified an invalid argument","error":"Incorrect API key provided: xa***."}`},
				EmptyBalance: {429, `{"code":"Some resource has been exhausted","error":"Your team has either used all available credits or reached its monthly spending limit."}`},
			},
		},
	}
	return append(hosts, servers()...)
}

// servers are the programs that run models of one's own, and LiteLLM.
func servers() []Host {
	thinksFirst := func(request) *refusal {
		return &refusal{200, `{"choices":[{"index":0,"finish_reason":"length","message":{"role":"assistant","content":"<think>"},"logprobs":{"content":[
			{"token":"<think>","logprob":-0.0001,"top_logprobs":[{"token":"<think>","logprob":-0.0001},{"token":"Yes","logprob":-14},{"token":"A","logprob":-14}]}]}}]}`}
	}
	noThinking := unless("chat_template_kwargs", `{"enable_thinking":false}`, thinksFirst)
	return []Host{
		{Name: "vllm", path: "/v1/chat/completions", check: first(noThinking, atMost("top_logprobs", 20)), wrap: content(`,"reasoning_content":null`)},
		{
			Name: "sglang", path: "/v1/chat/completions", check: noThinking,
			wrap: func(text string, logProbs []token) string {
				return `"finish_reason":"stop","matched_stop":2,"message":{"role":"assistant","content":` + text + `},"logprobs":` +
					contentOf(logProbs, func(t token) string {
						return fmt.Sprintf(`{"token":"▁%s","logprob":%v,"bytes":null}`, t.text, t.logProb())
					})
			},
		},
		{
			Name: "ollama", path: "/v1/chat/completions", check: unless("reasoning_effort", `"none"`, thinksFirst), wrap: content(""),
			faults: map[Fault]refusal{
				UnknownModel: {404, `{"error":{"message":"model \"o9\" not found, try pulling it first","type":"not_found_error","param":null,"code":null}}`},
			},
		},
		{
			Name: "llamacpp", path: "/v1/chat/completions", check: noThinking,
			wrap: func(text string, logProbs []token) string { // parts of characters have no text
				return `"finish_reason":"stop","message":{"role":"assistant","content":` + text + `},"logprobs":` +
					contentOf(logProbs, func(t token) string {
						return fmt.Sprintf(`{"id":1,"token":"","logprob":%v,"bytes":[%s]}`, t.logProb(), bytesOf(t.text))
					})
			},
			faults: map[Fault]refusal{
				TooLongText: {400, `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096}}`},
				OutOfOrder:  {503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`},
			},
		},
		{
			Name: "litellm", path: "/chat/completions", check: func(request) *refusal { return nil }, wrap: content(`,"provider_specific_fields":{"refusal":null}`),
			faults: map[Fault]refusal{
				EmptyBalance: {400, `{"error":{"message":"Budget has been exceeded! Current cost: 10, Max budget: 10","type":"budget_exceeded","param":null,"code":"400"}}`},
			},
		},
	}
}
