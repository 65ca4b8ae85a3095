package upstream

import (
	"bytes"
	"cmp"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/model-proxy/internal/failure"
)

// refusal is an error of an upstream in one of the forms that hosts have: the members of `error`, which may be a text, or those of the
// body itself; in a list (Gemini); or a `detail`, which may be a list of problems with their places (FastAPI).
type refusal struct {
	Message string
	// Words are the type, the code and further names of the error.
	Words []string
	Param string
	// Status is the code, if it is a status of HTTP.
	Status int
	// RetryDelay is what google.rpc.RetryInfo asks for.
	RetryDelay time.Duration
}

// errorObject is an error, and a body with one.
type errorObject struct {
	Error    strictjson.Value `json:"error"`
	Message  strictjson.Value `json:"message"`
	Detail   strictjson.Value `json:"detail"`
	Type     strictjson.Value `json:"type"`
	Code     strictjson.Value `json:"code"`
	Param    strictjson.Value `json:"param"`
	Status   strictjson.Value `json:"status"`
	Inner    strictjson.Value `json:"innererror"` // Azure
	Details  strictjson.Value `json:"details"`    // google.rpc.Status
	Metadata strictjson.Value `json:"metadata"`   // OpenRouter
}

// readRefusal reads the body of an error. Without a message that is known, the message is the whole body.
func readRefusal(body []byte) refusal {
	var r refusal
	if list := []strictjson.Value(nil); decode(body, &list) && len(list) > 0 {
		body = list[0]
	}
	var top errorObject
	if decode(body, &top) {
		r.add(top)
		var inner errorObject
		if text := textOf(top.Error); text != "" {
			r.Message = text
		} else if decode(top.Error, &inner) {
			r.Message = textOf(inner.Message)
			r.add(inner)
		}
	}
	if r.Message == "" {
		r.Message = string(body)
	}
	return r
}

// add adds what the members of an object say.
func (r *refusal) add(e errorObject) {
	if r.Message == "" {
		r.Message = textOf(e.Message)
	}
	r.Param = textOf(e.Param)
	for _, name := range []strictjson.Value{e.Type, e.Code, e.Status} {
		if text := textOf(name); text != "" {
			r.Words = append(r.Words, text)
		}
	}
	if n, err := strconv.Atoi(strings.Trim(string(e.Code), `"`)); err == nil && n >= 400 && n <= 599 {
		r.Status = n
	}
	var azure struct {
		Code strictjson.Value `json:"code"`
	}
	if decode(e.Inner, &azure) {
		r.Words = append(r.Words, textOf(azure.Code))
	}
	var router struct {
		Raw strictjson.Value `json:"raw"` // what the provider behind OpenRouter said
	}
	if decode(e.Metadata, &router) {
		r.Message = strings.TrimSpace(r.Message + " " + textOf(router.Raw))
	}
	var details []struct {
		Reason string `json:"reason"`
		Delay  string `json:"retryDelay"`
	}
	if decode(e.Details, &details) {
		for _, d := range details {
			r.Words = append(r.Words, d.Reason)
			if pause, err := time.ParseDuration(d.Delay); err == nil {
				r.RetryDelay = min(max(pause, 0), maxRetryAfter)
			}
		}
	}
	var problems []struct {
		Place   []strictjson.Value `json:"loc"`
		Message string             `json:"msg"`
	}
	switch {
	case r.Message == "" && textOf(e.Detail) != "":
		r.Message = textOf(e.Detail)
	case decode(e.Detail, &problems) && len(problems) > 0:
		r.Message = problems[0].Message
		for _, part := range problems[0].Place {
			if text := textOf(part); text != "" && text != "body" {
				r.Param = text
				break
			}
		}
	}
}

// textOf is a JSON string, or "".
func textOf(raw strictjson.Value) (text string) {
	if !decode(raw, &text) {
		return ""
	}
	return text
}

// signs are what tells a class of error apart: words of its type or code, and parts of its message, all in lower case. The first class
// that is found counts. The words and phrases are those of the hosts' documents and of their servers' source (docs/providers.md).
var signs = []struct {
	class   failure.Class
	words   []string
	phrases []string
}{
	{
		failure.Exhausted,
		[]string{"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "billing_error", "budget_exceeded", "insufficient_balance"},
		[]string{
			"insufficient balance", "insufficient credits", "credit balance is too low", "doesn't have any credits", "does not have any credits",
			"used all available credits", "monthly spending limit", "billing hard limit", "budget has been exceeded",
		},
	},
	{
		failure.Content,
		[]string{"content_filter", "content_policy_violation", "responsibleaipolicyviolation", "moderation_blocked", "data_inspection_failed"},
		[]string{"content management policy", "content policy", "safety system", "requires moderation", "violates usage guidelines", "input was flagged"},
	},
	{
		failure.TooLong,
		[]string{"context_length_exceeded", "exceed_context_size_error", "string_above_max_length", "request_too_large"},
		[]string{
			"context length", "context size", "context window", "maximum context", "prompt is too long", "input is too long",
			"exceeds the maximum number of tokens", "request too large for model", "reduce the length", "tokens must be <=",
		},
	},
	{
		failure.RefusedKey,
		[]string{"invalid_api_key", "authentication_error", "api_key_invalid", "permission_error"},
		[]string{"api key not valid", "incorrect api key", "invalid api key"},
	},
	{
		failure.NotFound,
		[]string{"model_not_found", "deploymentnotfound", "invalid_model", "not_found_error"},
		[]string{"is not a valid model", "invalid model name", "invalid model:", "model does not exist"},
	},
	{failure.Limited, []string{"rate_limit_exceeded", "rate_limit_error", "resource_exhausted"}, nil},
	{failure.Unavailable, []string{"overloaded_error", "server_error", "internal_server_error"}, nil},
}

// classOf is the class of a refusal with a status.
func (r refusal) classOf(status int, inBody bool) failure.Class {
	if status < 500 || inBody { // the body of a 5xx is what a broken host says
		message := strings.ToLower(r.Message)
		for _, sign := range signs {
			listed := func(word string) bool { return slices.Contains(sign.words, strings.ToLower(word)) }
			in := func(phrase string) bool { return strings.Contains(message, phrase) }
			if slices.ContainsFunc(r.Words, listed) || slices.ContainsFunc(sign.phrases, in) {
				return sign.class
			}
		}
	}
	switch {
	case status == http.StatusPaymentRequired:
		return failure.Exhausted
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusProxyAuthRequired:
		return failure.RefusedKey
	case status == http.StatusNotFound, status == http.StatusGone:
		return failure.NotFound
	case status == http.StatusRequestEntityTooLarge:
		return failure.TooLong
	case status == http.StatusTooManyRequests:
		return failure.Limited
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status >= 500:
		return failure.Unavailable
	default:
		return failure.Parameter
	}
}

// Refused is the fault of a response with another status than 2xx.
func Refused(status int, header http.Header, body []byte) *Fault {
	r := readRefusal(body)
	f := &Fault{Class: r.classOf(status, false), Status: status, RetryAfter: r.RetryDelay, body: body}
	f.heed(header)
	return f
}

// ErrorInBody is the fault of a response with the status 200 that is an error: the error with its code as the status, else with 502.
func ErrorInBody(body []byte) *Fault {
	r := readRefusal(body)
	status := cmp.Or(r.Status, http.StatusBadGateway)
	return &Fault{Class: r.classOf(status, true), Status: status, Cause: InBody, RetryAfter: r.RetryDelay, body: body}
}

// heed adds the pause that a response asks for: that of Retry-After, else for a limit Google's, else when it is reset
// (spec: retry-after).
func (f *Fault) heed(header http.Header) {
	own := f.RetryAfter
	if f.RetryAfter = retryAfter(header, time.Now()); f.RetryAfter == 0 && f.Class == failure.Limited {
		f.RetryAfter = cmp.Or(own, reset(header))
	}
}

// quoted are texts in quotation marks, names the words of a text.
var (
	quoted = regexp.MustCompile("['\"`]([A-Za-z_.]+)['\"`]")
	names  = regexp.MustCompile(`[a-z]+(?:_[a-z]+)*`)
)

// plain are parameters that are usual words too: a message names one of them only in quotation marks.
var plain = []string{"model", "messages", "input", "questions", "state", "system", "n"}

// Parameters that bound the tokens of a reply, and what hosts call them that ask another host, or another API of their own.
var (
	limits      = []string{"max_tokens", "max_completion_tokens"}
	otherLimits = []string{"max_output_tokens", "max_new_tokens"}
)

// parameter is the parameter of a request that a refusal names, or "". Only a parameter that was sent is one.
func (r refusal) parameter(request Body) string {
	body := map[string]strictjson.Value{}
	if !decode(bytes.Join(request, nil), &body) {
		return ""
	}
	sent := func(name string) string {
		names := []string{name}
		if slices.Contains(otherLimits, name) {
			names = append(names, limits...)
		}
		for _, name := range names {
			if body[name] != nil {
				return name
			}
		}
		return ""
	}
	param, _, _ := strings.Cut(r.Param, ".")
	param, _, _ = strings.Cut(param, "[")
	if name := sent(param); name != "" {
		return name
	}
	for _, match := range quoted.FindAllStringSubmatch(r.Message, -1) {
		if name := sent(match[1]); name != "" {
			return name
		}
	}
	for _, word := range names.FindAllString(r.Message, -1) {
		if name := sent(word); name != "" && !slices.Contains(plain, name) {
			return name
		}
	}
	return ""
}
