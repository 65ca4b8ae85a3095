package provider

import (
	"net/http"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

// Profile is what a host wants of a request, and what it can do (spec: model-profiles). A host of OpenAI's form uses all members;
// decision models use Path and MaxOptions.
type Profile struct {
	BaseURL string // "" if every user has an address of its own
	Path    string // below the base URL
	Query   string // encoded
	// Auth is the header that has the key: "" is a bearer token, NoAuth is none.
	Auth string
	// Identity is the workload's own identity, whose tokens or signatures requests have instead of a key (spec: model-identity).
	Identity      Identity
	Probabilities api.ProbabilitySource
	// LimitParameter is the parameter that bounds the tokens of a reply, or None. Limit is at least what it says.
	LimitParameter string
	Limit          int
	// LogProbs is the parameter that has the number of log-probabilities, which is TopLogProbs: TopLogProbs beside `logprobs: true`, or
	// LogProbs itself.
	LogProbs    string
	TopLogProbs int
	// OmitTemperature: the host refuses temperatures.
	OmitTemperature bool
	// ResponseFormat is how the host takes a JSON schema: JSONSchema, or JSONObject with the schema in the prompt.
	ResponseFormat string
	// Samples is how many answers are drawn, and MaxN how many of them a request may ask for.
	Samples, MaxN int
	// Extra is added to the body.
	Extra Object
	// MaxOptions is the most options that a question may have; 0 is no bound.
	MaxOptions int
}

// Identity is an identity that the workload has. The zero value is none.
type Identity struct {
	Kind            string // as package identity names it
	Region, Service string // of AWS, that requests are signed for
}

// Values of members of a Profile.
const (
	None        = "none"
	NoAuth      = "none"
	TopLogProbs = "top_logprobs"
	LogProbs    = "logprobs"
	JSONSchema  = "json_schema"
	JSONObject  = "json_object"
)

// DefaultProfile is that of a host that does what OpenAI's API has always done.
func DefaultProfile() Profile {
	return Profile{
		BaseURL: "https://api.openai.com/v1", Path: "/chat/completions", Probabilities: api.Logprobs,
		LimitParameter: "max_tokens", Limit: 1, LogProbs: TopLogProbs, TopLogProbs: 20, ResponseFormat: JSONSchema, Samples: 5, MaxN: 1,
	}
}

// Header are the credentials of a request.
func (p Profile) Header(key string) http.Header {
	switch {
	case p.Identity != Identity{}:
		return nil
	case p.Auth == "":
		return upstream.Bearer(key)
	case p.Auth == NoAuth, key == "":
		return nil
	}
	return http.Header{http.CanonicalHeaderKey(p.Auth): {key}}
}

// Target is the path with the query.
func (p Profile) Target() string {
	if p.Query == "" {
		return p.Path
	}
	return p.Path + "?" + p.Query
}
