package upstream

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/prism-results/prism/services/model-proxy/internal/failure"
)

// The bodies are those of the hosts' documents, or of their servers' source.
//
// spec: failure-classes
func TestRefusalsOfHostsHaveTheirClass(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		host   string
		status int
		body   string
		want   failure.Class
	}{
		{"openai", 429, `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, failure.Exhausted},
		{"openai", 400, `{"error":{"message":"Billing hard limit has been reached","type":"invalid_request_error","param":null,"code":"billing_hard_limit_reached"}}`, failure.Exhausted},
		{"openai", 429, `{"error":{"message":"Rate limit reached for gpt-4.1-mini in organization org-1 on tokens per min (TPM): Limit 200000, Used 199000. Please try again in 6ms.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`, failure.Limited},
		{"openai", 400, `{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 200000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, failure.TooLong},
		{"openai", 401, `{"error":{"message":"Incorrect API key provided: sk-x.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`, failure.RefusedKey},
		{"openai", 403, `{"error":{"message":"Country, region, or territory not supported","type":"request_forbidden","param":null,"code":"unsupported_country_region_territory"}}`, failure.RefusedKey},
		{"openai", 404, `{"error":{"message":"The model 'o9' does not exist or you do not have access to it.","type":"invalid_request_error","param":null,"code":"model_not_found"}}`, failure.NotFound},
		{"openai", 400, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}`, failure.Parameter},
		{"openai", 500, `{"error":{"message":"The server had an error while processing your request.","type":"server_error","param":null,"code":null}}`, failure.Unavailable},
		{"azure", 400, `{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.","type":null,"param":"prompt","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation","content_filter_result":{"hate":{"filtered":true,"severity":"high"}}}}}`, failure.Content},
		{"azure", 404, `{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}`, failure.NotFound},
		{"azure", 401, `{"error":{"code":"401","message":"Access denied due to invalid subscription key or wrong API endpoint."}}`, failure.RefusedKey},
		{"openrouter", 402, `{"error":{"message":"Insufficient credits. Add more using https://openrouter.ai/settings/credits","code":402}}`, failure.Exhausted},
		{"openrouter", 403, `{"error":{"message":"Your chosen model requires moderation and your input was flagged","code":403,"metadata":{"reasons":["violence"],"flagged_input":"x"}}}`, failure.Content},
		{"openrouter", 400, `{"error":{"message":"o9/x is not a valid model ID","code":400}}`, failure.NotFound},
		{"openrouter", 400, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"Input is too long: maximum context length is 8192 tokens\"}}","provider_name":"x"}}}`, failure.TooLong},
		{"gemini", 400, `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com"}]}}]`, failure.RefusedKey},
		{"gemini", 400, `[{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`, failure.TooLong},
		{"gemini", 429, `[{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED"}}]`, failure.Limited},
		{"groq", 413, `{"error":{"message":"Request too large for model llama in organization org on tokens per minute (TPM): Limit 6000, Requested 9000","type":"tokens","code":"rate_limit_exceeded"}}`, failure.TooLong},
		{"mistral", 422, `{"detail":[{"type":"extra_forbidden","loc":["body","logprobs"],"msg":"Extra inputs are not permitted","input":true}]}`, failure.Parameter},
		{"mistral", 400, `{"object":"error","message":"Invalid model: o9","type":"invalid_model","param":null,"code":"1500"}`, failure.NotFound},
		{"mistral", 400, `{"object":"error","message":"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length","type":"invalid_request_error","param":null,"code":null}`, failure.TooLong},
		{"together", 422, `{"error":{"message":"Input validation error: inputs tokens + max_new_tokens + max_new_tokens must be <= 4097","type":"invalid_request_error","param":null,"code":null}}`, failure.TooLong},
		{"fireworks", 400, `{"error":{"object":"error","type":"invalid_request_error","message":"The prompt is too long: 5000, model maximum context length: 4095"}}`, failure.TooLong},
		{"deepseek", 402, `{"error":{"message":"Insufficient Balance","type":"unknown_error","param":null,"code":"invalid_request_error"}}`, failure.Exhausted},
		{"xai", 400, `{"code":"Client specified an invalid argument","error":"Incorrect API key provided: xa***. You can obtain an API key from https://console.x.ai."}`, failure.RefusedKey},
		{"xai", 403, `{"code":"The caller does not have permission to execute the specified operation","error":"Your newly created team doesn't have any credits yet."}`, failure.Exhausted},
		{"xai", 429, `{"code":"Some resource has been exhausted","error":"Your team has either used all available credits or reached its monthly spending limit."}`, failure.Exhausted},
		{"vllm", 400, `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.","type":"BadRequestError","param":null,"code":400}`, failure.TooLong},
		{"vllm", 404, `{"error":{"message":"The model o9 does not exist.","type":"NotFoundError","param":"model","code":404}}`, failure.NotFound},
		{"sglang", 400, `{"object":"error","message":"The input (5000 tokens) is longer than the model's context length (4096 tokens).","type":"BadRequestError","param":null,"code":400}`, failure.TooLong},
		{"ollama", 404, `{"error":{"message":"model \"o9\" not found, try pulling it first","type":"not_found_error","param":null,"code":null}}`, failure.NotFound},
		{"llamacpp", 400, `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096}}`, failure.TooLong},
		{"llamacpp", 503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, failure.Unavailable},
		{"litellm", 400, `{"error":{"message":"Budget has been exceeded! Current cost: 10, Max budget: 10","type":"budget_exceeded","param":null,"code":"400"}}`, failure.Exhausted},
		{"litellm", 400, `{"error":{"message":"litellm.ContentPolicyViolationError: The response was filtered.","type":"content_policy_violation","param":null,"code":"400"}}`, failure.Content},
		{"anthropic", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}`, failure.Exhausted},
		{"anthropic", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 200251 tokens > 200000 maximum"}}`, failure.TooLong},
		{"anthropic", 401, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`, failure.RefusedKey},
		{"anthropic", 404, `{"type":"error","error":{"type":"not_found_error","message":"model: o9"}}`, failure.NotFound},
		{"anthropic", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, failure.Unavailable},
		{"a proxy", 400, `<html><body>Bad Request</body></html>`, failure.Parameter},
		{"a proxy", 502, `{"error":{"message":"insufficient_quota of a context length","code":"insufficient_quota"}}`, failure.Unavailable},
		{"nobody", 418, ``, failure.Parameter},
	} {
		if f := Refused(c.status, nil, []byte(c.body)); f.Class != c.want || f.Status != c.status {
			t.Errorf("%s, %d %s: got %s, want %s", c.host, c.status, c.body, f.Class, c.want)
		}
	}
}

// spec: errors-in-a-200
func TestAnErrorInABodyHasTheStatusThatItsCodeIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		body   string
		status int
		class  failure.Class
	}{
		{`{"error":{"message":"Rate limit exceeded","code":429}}`, 429, failure.Limited},
		{`{"error":{"code":"401","message":"x"}}`, 401, failure.RefusedKey},
		{`{"error":{"code":42,"message":"x"}}`, 502, failure.Unavailable},
		{`{"error":{"code":"rate_limit_exceeded","message":"x"}}`, 502, failure.Limited},
		{`{"error":{"type":"overloaded_error","message":"x"}}`, 502, failure.Unavailable},
		{`{"error":{}}`, 502, failure.Unavailable},
		{`{"error":"Upstream idle timeout"}`, 502, failure.Unavailable},
	} {
		if f := ErrorInBody([]byte(c.body)); f.Status != c.status || f.Class != c.class || f.Cause != "error" {
			t.Errorf("%s: got %+v", c.body, f)
		}
	}
}

// spec: failure-classes
func TestAParameterIsNamedIfItWasSent(t *testing.T) {
	t.Parallel()
	sent := Body{[]byte(`{"model":"m","messages":[],"max_tokens":1,`), []byte(`"temperature":0,"logprobs":true,"top_logprobs":20,"n":1}`)}
	for body, want := range map[string]string{
		`{"error":{"message":"Unsupported parameter.","param":"max_tokens"}}`:                                                                       "max_tokens",
		`{"error":{"message":"Unsupported parameter: 'temperature' is not supported.","param":null}}`:                                               "temperature",
		`{"error":{"message":"This model does not support logprobs."}}`:                                                                             "logprobs",
		`{"error":{"message":"top_logprobs must be at most 5"}}`:                                                                                    "top_logprobs",
		`{"error":{"message":"x","param":"messages[0].content"}}`:                                                                                   "messages",
		"{\"error\":\"`n` must be 1\"}":                                                                                                             "n",
		`{"detail":[{"loc":["body","logprobs"],"msg":"Extra inputs are not permitted"}]}`:                                                           "logprobs",
		`{"error":{"message":"This model needs n messages.","param":"reasoning_effort"}}`:                                                           "",
		`{"error":{"message":"Use 'max_completion_tokens' with the key sk-secret.","param":"sk-secret"}}`:                                           "",
		`{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"Invalid 'max_output_tokens': integer below minimum value."}}}`: "max_tokens",
		`{"error":{"message":"max_new_tokens must be at least 16"}}`:                                                                                "max_tokens",
		`<html>model</html>`: "",
		``:                   "",
	} {
		if got := readRefusal([]byte(body)).parameter(sent); got != want {
			t.Errorf("%s: got %q, want %q", body, got, want)
		}
	}
	if got := readRefusal([]byte(`{"error":{"param":"x"}}`)).parameter(Body{[]byte("no JSON")}); got != "" {
		t.Errorf("got %q of no request", got)
	}
}

// spec: retry-after
func TestALimitSaysWhenItIsReset(t *testing.T) {
	t.Parallel()
	const delay = `[{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.07s"}]}}]`
	for _, c := range []struct {
		name   string
		status int
		header http.Header
		body   string
		want   time.Duration
	}{
		{"a limit that is used up", 429, http.Header{
			"X-Ratelimit-Remaining-Requests": {"0"}, "X-Ratelimit-Reset-Requests": {"8.64s"},
			"X-Ratelimit-Remaining-Tokens": {"5000"}, "X-Ratelimit-Reset-Tokens": {"30s"},
		}, "", 8640 * time.Millisecond},
		{"both are used up", 429, http.Header{
			"X-Ratelimit-Remaining-Requests": {"0"}, "X-Ratelimit-Reset-Requests": {"20ms"},
			"X-Ratelimit-Remaining-Tokens": {"0"}, "X-Ratelimit-Reset-Tokens": {"1m6s"},
		}, "", 66 * time.Second},
		{"neither says what is left", 429, http.Header{"X-Ratelimit-Reset-Requests": {"1"}, "X-Ratelimit-Reset-Tokens": {"2.5"}}, "", 2500 * time.Millisecond},
		{"Retry-After comes first", 429, http.Header{"Retry-After": {"3"}, "X-Ratelimit-Reset-Tokens": {"9s"}}, delay, 3 * time.Second},
		{"Google's delay", 429, http.Header{"X-Ratelimit-Reset-Tokens": {"9s"}}, delay, 34070 * time.Millisecond},
		{"a time that is none", 429, http.Header{"X-Ratelimit-Reset-Tokens": {"soon"}}, "", 0},
		{"a long time", 429, http.Header{"X-Ratelimit-Reset-Tokens": {"9999h"}}, "", maxRetryAfter},
		{"another status", 503, http.Header{"X-Ratelimit-Reset-Tokens": {"9s"}}, "", 0},
	} {
		if f := Refused(c.status, c.header, []byte(c.body)); f.RetryAfter != c.want {
			t.Errorf("%s: got %v, want %v", c.name, f.RetryAfter, c.want)
		}
	}
}

// An error in a body with the status 200 is read as one with its status is: with what the headers and the request say of it.
//
// spec: errors-in-a-200, retry-after, failure-classes
func TestAnErrorInABodyIsReadWithItsHeadersAndTheRequest(t *testing.T) {
	t.Parallel()
	const google = `"details":[{"retryDelay":"34s"}]`
	for name, c := range map[string]struct {
		header    http.Header
		body      string
		pause     time.Duration
		parameter string
	}{
		"Retry-After":                 {http.Header{"Retry-After": {"3"}}, `{"error":{"code":429}}`, 3 * time.Second, ""},
		"Retry-After of a 503":        {http.Header{"Retry-After": {"3"}}, `{"error":{"code":503}}`, 3 * time.Second, ""},
		"Retry-After before Google's": {http.Header{"Retry-After": {"3"}}, `{"error":{"code":429,` + google + `}}`, 3 * time.Second, ""},
		"Google's before a reset":     {http.Header{"X-Ratelimit-Reset-Requests": {"9s"}}, `{"error":{"code":429,` + google + `}}`, 34 * time.Second, ""},
		"a reset":                     {http.Header{"X-Ratelimit-Reset-Requests": {"9s"}}, `{"error":{"code":429}}`, 9 * time.Second, ""},
		"a reset of another error":    {http.Header{"X-Ratelimit-Reset-Requests": {"9s"}}, `{"error":{"code":503}}`, 0, ""},
		"a parameter":                 {nil, `{"error":{"message":"'temperature' is not supported","code":400}}`, 0, "temperature"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				maps.Copy(w.Header(), c.header)
				_, _ = io.WriteString(w, c.body)
			}))
			t.Cleanup(server.Close)
			f := client(t, Config{BaseURL: server.URL}).Post(t.Context(), "/x", Body{[]byte(`{"temperature":0}`)}, 1, ErrorInBody)
			if f == nil || f.RetryAfter != c.pause || f.Parameter != c.parameter {
				t.Errorf("got %+v", f)
			}
		})
	}
}

// spec: unreadable-replies
func TestABrokenFrameIsUnreadable(t *testing.T) {
	t.Parallel()
	for name, response := range map[string]string{
		"a chunk without a length": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
		"gzip that is none":        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 22\r\n\r\nthis is no gzip stream",
		"a status that is none":    "HTTP/1.1 ok\r\n\r\n",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			_, _ = conn.Write([]byte(response))
		}))
		t.Cleanup(server.Close)
		_, fault := post(t.Context(), client(t, Config{BaseURL: server.URL}), nil)
		if fault == nil || fault.Class != failure.Unreadable || fault.Cause != broken || !fault.Retryable() {
			t.Errorf("%s: got %+v", name, fault)
		}
	}
}
