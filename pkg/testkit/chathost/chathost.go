// Package chathost is a chat host for tests: each of the hosts that Prism has a profile for, with what it demands of a request, the form
// of its replies and its errors, as its documents and the reports of its users have them. It knows one thing: what is asked first (an
// option, a level, yes) has the probability Certain, and the others share the rest.
package chathost

import (
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
)

// Key is the key that every host accepts, and Model the model that it knows.
const (
	Key   = "sk-of-the-host"
	Model = "vendor/model-1"
)

// Certain is the probability of what is asked first. It is that of 4 of 5 samples too.
const Certain = 0.8

// Fault is a way in which a host fails.
type Fault string

// The faults. No fault is that a host answers.
const (
	Works        Fault = ""
	DeadKey      Fault = "refused_key"
	EmptyBalance Fault = "exhausted"
	FilteredText Fault = "content"
	TooLongText  Fault = "too_long"
	UnknownModel Fault = "not_found"
	BrokenFrame  Fault = "unreadable"
	TooManyCalls Fault = "limited"
	OutOfOrder   Fault = "unavailable"
	BadParameter Fault = "parameter"
	NoAnswer     Fault = "no_answer"
)

// Faults are all faults. Each has the name of the class that it is of (spec: failure-classes).
func Faults() []Fault {
	return []Fault{DeadKey, EmptyBalance, FilteredText, TooLongText, UnknownModel, BrokenFrame, TooManyCalls, OutOfOrder, BadParameter, NoAnswer}
}

// marks are the texts that Always and Once make.
var marks = regexp.MustCompile(`fault ([a-z_]+) (always|once) [A-Z2-7]{26}`)

// Always is a text about which each call fails in this way, and no other call: one that may pass is said to last for a minute.
func Always(f Fault) string { return "fault " + string(f) + " always " + rand.Text() }

// Once is a text about which the first call fails in this way.
func Once(f Fault) string { return "fault " + string(f) + " once " + rand.Text() }

// refusal is the response to a request that is not answered.
type refusal struct {
	status int
	body   string
}

// Host is what a host demands and how it replies.
type Host struct {
	Name string
	// path is where it is served, behind its base URL.
	path string
	// check returns why a request is refused, or nil.
	check func(request) *refusal
	// wrap adds what the host has in its replies to a choice, a text in JSON.
	wrap func(message string, logProbs []token) (choice string)
	// faults are the errors of the host, for those that are not OpenAI's.
	faults map[Fault]refusal
}

// Server is a running host. It is safe for concurrent use.
type Server struct {
	Host
	server *httptest.Server

	mu     sync.Mutex
	fault  Fault
	times  int // how many further calls fail
	asked  int
	drawn  int            // samples
	byMark map[string]int // how many calls came, by the mark in their text
}

// New starts a host on a loopback address.
func New(h Host) *Server {
	s := &Server{Host: h, byMark: map[string]int{}}
	s.server = httptest.NewServer(s)
	return s
}

// BaseURL is what the base_url of the host's models is.
func (s *Server) BaseURL() string {
	return s.server.URL + strings.TrimSuffix(s.path, "/chat/completions")
}

// Close stops the host.
func (s *Server) Close() { s.server.Close() }

// Fail has the next calls fail in a way, so many times.
func (s *Server) Fail(f Fault, times int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault, s.times = f, times
}

// Asked is how many calls came.
func (s *Server) Asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// AskedAbout is how many calls came about a text of Always or Once.
func (s *Server) AskedAbout(mark string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byMark[mark]
}

// faultOf is how a call fails. mark is the text of Always or Once in it with its parts, or nil.
func (s *Server) faultOf(mark []string) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	switch {
	case mark != nil:
		s.byMark[mark[0]]++
		if mark[2] == "always" || s.byMark[mark[0]] == 1 {
			return Fault(mark[1])
		}
	case s.times > 0:
		s.times--
		return s.fault
	}
	return Works
}

// request is a call as it came.
type request struct {
	header http.Header
	query  func(name string) string
	body   map[string]json.RawMessage
}

func (r request) has(member string) bool { _, ok := r.body[member]; return ok }

// number is a member that is a number, or 0.
func (r request) number(member string) (n int) {
	if json.Unmarshal(r.body[member], &n) != nil {
		return 0
	}
	return n
}

// is tells whether a member has a value, as compact JSON.
func (r request) is(member, value string) bool { return string(r.body[member]) == value }

// limit is the bound of the reply's tokens.
func (r request) limit() int { return max(r.number("max_tokens"), r.number("max_completion_tokens")) }

// ServeHTTP answers a call.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	in := request{header: r.Header, query: r.URL.Query().Get}
	raw, err := io.ReadAll(r.Body)
	mark := marks.FindStringSubmatch(string(raw))
	fault := s.faultOf(mark)
	if mark != nil && mark[2] == "always" && (fault == TooManyCalls || fault == OutOfOrder) {
		w.Header().Set("Retry-After", "60")
	}
	if err != nil || json.Unmarshal(raw, &in.body) != nil {
		reply(w, refusal{http.StatusBadRequest, `{"error":{"message":"Could not parse the body","type":"invalid_request_error"}}`})
		return
	}
	switch refused := s.check(in); {
	case r.URL.Path != s.path || r.Method != http.MethodPost:
		reply(w, refusal{http.StatusNotFound, `{"error":{"message":"Invalid URL","type":"invalid_request_error"}}`})
	case fault == Works && !in.is("model", `"`+Model+`"`):
		reply(w, s.refusal(UnknownModel))
	case fault != Works:
		reply(w, s.refusal(fault))
	case s.Name != "azure" && in.header.Get("Authorization") != "Bearer "+Key:
		reply(w, s.refusal(DeadKey))
	case refused != nil:
		reply(w, *refused)
	default:
		reply(w, refusal{http.StatusOK, s.answer(in)})
	}
}

func reply(w http.ResponseWriter, r refusal) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(r.status)
	_, _ = io.WriteString(w, r.body) // a caller that is gone needs no answer
}

func (s *Server) refusal(f Fault) refusal {
	if own, ok := s.faults[f]; ok {
		return own
	}
	return map[Fault]refusal{
		DeadKey:      {401, `{"error":{"message":"Incorrect API key provided: sk-x.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`},
		EmptyBalance: {429, `{"error":{"message":"You exceeded your current quota.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`},
		FilteredText: {200, `{"choices":[{"index":0,"finish_reason":"content_filter","message":{"role":"assistant","content":""}}],"usage":{"prompt_tokens":9,"completion_tokens":0}}`},
		TooLongText:  {400, `{"error":{"message":"This model's maximum context length is 8192 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`},
		UnknownModel: {404, `{"error":{"message":"The model does not exist.","type":"invalid_request_error","param":null,"code":"model_not_found"}}`},
		BrokenFrame:  {200, `data: {"choices":[{"delta":{}}]}` + "\n\n"},
		TooManyCalls: {429, `{"error":{"message":"Rate limit reached","type":"requests","param":null,"code":"rate_limit_exceeded"}}`},
		OutOfOrder:   {503, `upstream connect error`},
		BadParameter: {400, `{"error":{"message":"Unsupported value: 'messages[0].role' does not support 'system' with this model.","type":"invalid_request_error","param":"messages[0].role","code":"unsupported_value"}}`},
		NoAnswer:     {200, `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Sure"},"logprobs":{"content":[{"token":"Sure","logprob":-0.1,"top_logprobs":[]}]}}],"usage":{"prompt_tokens":9,"completion_tokens":1}}`},
	}[f]
}
