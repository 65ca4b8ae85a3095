package modelsfile

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/trace"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/services/model-proxy/internal/models"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
	"github.com/prism-results/prism/services/model-proxy/internal/provider/anthropic"
	"github.com/prism-results/prism/services/model-proxy/internal/provider/chat"
	"github.com/prism-results/prism/services/model-proxy/internal/provider/offline"
	"github.com/prism-results/prism/services/model-proxy/internal/provider/openaichat"
	"github.com/prism-results/prism/services/model-proxy/internal/provider/openaidecisions"
	"github.com/prism-results/prism/services/model-proxy/internal/provider/sampled"
	"github.com/prism-results/prism/services/model-proxy/internal/provider/stated"
	"github.com/prism-results/prism/services/model-proxy/internal/provider/systemone"
	"github.com/prism-results/prism/services/model-proxy/internal/upstream"
)

// formats are those of models of another kind than chat models.
func formats() []provider.Format {
	return []provider.Format{systemone.Format(), openaidecisions.Format(), anthropic.Format()}
}

// formatOf is the format of a model, or false for an unknown provider.
func formatOf(spec models.Spec) (f provider.Format, ok bool) {
	p := cmp.Or(spec.Profile, new(provider.DefaultProfile()))
	switch {
	case spec.Provider != chat.Name:
		all := formats()
		i := slices.IndexFunc(all, func(f provider.Format) bool { return f.Name == spec.Provider })
		if i < 0 {
			return f, false
		}
		if f = all[i]; spec.Profile != nil {
			f.Path = cmp.Or(p.Path, f.Path)
		}
	case p.Probabilities == api.Stated:
		f = stated.Format(*p)
	case p.Probabilities == api.Sampled:
		f = sampled.Format(*p)
	case spec.Order == models.Cyclic:
		f = openaichat.Cyclic(*p)
	default:
		f = openaichat.Format(*p)
	}
	return f.UpTo(p.MaxOptions), true
}

// names are what the author of a configuration calls the settings of a model.
type names struct {
	provider, baseURL, model, apiKey string
	is                               string // what separates a setting from its value
}

var (
	variables = names{"PRISM_MODEL_PROVIDER", "PRISM_MODEL_BASE_URL", "PRISM_MODEL_NAME", "PRISM_MODEL_API_KEY", "="}
	members   = names{"provider", "base_url", "model", "api_key_env", ": "}
)

// fault is what is wrong with a setting. The only value that it repeats is the name of a provider
// (spec: values-are-never-repeated).
type fault struct{ setting, problem string }

// clients is the configuration that all clients of upstreams share.
type clients struct {
	maxConns int
	tracer   trace.TracerProvider
	answers  *fair.Bound
	explain  func(context.Context) bool
	proxy    func(*url.URL) (*url.URL, error) // nil: none
	identity func(provider.Identity) (upstream.Authorizer, error)
}

// open makes the model of a spec, or lists every wrong setting. It does no I/O.
func open(spec models.Spec, n names, c clients) (*models.Model, []fault) {
	if spec.Provider == offline.Name {
		return models.New(spec, offline.New(), nil), nil
	}
	f, ok := formatOf(spec)
	if !ok {
		return nil, []fault{{n.provider, fmt.Sprintf("unknown provider %q", spec.Provider)}}
	}
	return openFormat(f, spec, n, c)
}

func openFormat(f provider.Format, spec models.Spec, n names, c clients) (*models.Model, []fault) {
	// Secrets that are mounted as files often end in a line break.
	key := strings.TrimSpace(spec.APIKey)
	base, model := strings.TrimSpace(spec.BaseURL), cmp.Or(strings.TrimSpace(spec.Model), f.Model)
	workload := cmp.Or(spec.Profile, new(provider.DefaultProfile())).Identity
	var faults []fault
	switch {
	case base != "":
	case f.BaseURL == "":
		faults = append(faults, fault{n.baseURL, "required: the host has no address of its own"})
	case key == "" && workload == provider.Identity{}:
		faults = append(faults, fault{n.apiKey, fmt.Sprintf("required by %s's own host, unless %s names another "+
			"(for example %s%shttp://127.0.0.1:8000/v1)", f.Name, n.baseURL, n.baseURL, n.is)})
	}
	base = cmp.Or(base, f.BaseURL)
	if err := upstream.CheckKey(key); err != nil {
		faults = append(faults, fault{n.apiKey, err.Error()})
	}
	if model == "" {
		faults = append(faults, fault{n.model, fmt.Sprintf("required by provider %s (for example %s%sgpt-4.1-mini)",
			f.Name, n.model, n.is)})
	}
	var authorizer upstream.Authorizer
	if workload != (provider.Identity{}) {
		var err error
		if authorizer, err = c.identity(workload); err != nil {
			faults = append(faults, fault{"auth", err.Error()})
		}
		if !private(base) {
			faults = append(faults, fault{n.baseURL, "a token of an identity needs https to another machine"})
		}
	}
	own := f.Header(key)
	header := make(http.Header, len(own)+len(spec.Headers))
	maps.Copy(header, spec.Headers)
	maps.Copy(header, own)
	client, err := upstream.New(upstream.Config{
		Provider: f.Name, BaseURL: base, Header: header, MaxConns: c.maxConns, Tracer: c.tracer, Answers: c.answers,
		Explain: c.explain, Proxy: proxyOf(spec.Proxy, base, c.proxy), Roots: rootsOf(spec.Roots),
		Authorizer: authorizer,
	})
	if err != nil && base != "" {
		faults = append(faults, fault{n.baseURL, err.Error()})
	}
	if len(faults) > 0 {
		return nil, faults
	}
	spec.Model = model
	return models.New(spec, f.Open(client, model), client), nil
}

// setByFormat tells whether the format of a model sets a header itself.
func setByFormat(spec models.Spec, header string) bool {
	f, ok := formatOf(spec)
	if !ok {
		return false
	}
	_, set := f.Header("key")[http.CanonicalHeaderKey(header)]
	return set
}
