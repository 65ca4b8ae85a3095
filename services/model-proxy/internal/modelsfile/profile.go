package modelsfile

import (
	_ "embed" // of hosts.yaml
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/goccy/go-yaml/ast"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/yamlfile"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
	"github.com/prism-results/prism/services/model-proxy/internal/provider/chat"
)

//go:embed hosts.yaml
var hostsFile []byte

// host is a built-in host (spec: model-hosts).
type host struct {
	name, note, source, date string
	provider.Profile
}

// hosts are the built-in hosts.
var hosts = sync.OnceValue(func() (all []host) {
	var r reader
	for _, n := range r.list(r.root(hostsFile), "") {
		h := host{Profile: provider.DefaultProfile()}
		h.BaseURL = ""
		for _, m := range r.object(n, "") {
			own := map[string]*string{"host": &h.name, "base_url": &h.BaseURL, "note": &h.note, "source": &h.source, "date": &h.date}[m.name]
			if own != nil {
				*own = r.text(m.value, m.name)
			} else if !r.profile(m, m.name, &h.Profile) {
				r.Add(m.line, "", "has no member "+strconv.Quote(m.name))
			}
		}
		all = append(all, h)
	}
	if len(r.Problems) > 0 { // a bug in hosts.yaml, which the tests find
		panic((&yamlfile.Problems{Of: "models", Path: "hosts.yaml", List: r.Problems}).Error())
	}
	return all
})

// hostNamed is the profile of a built-in host.
func (r *reader) hostNamed(m member, where string) *provider.Profile {
	name := r.text(m.value, where)
	var names []string
	for _, h := range hosts() {
		if names = append(names, h.name); h.name == name {
			return &h.Profile
		}
	}
	if m.value != nil && yamlfile.IsText(m.value) {
		r.Add(m.line, where, "must be one of "+strings.Join(names, ", "))
	}
	return nil
}

// most bounds the numbers of a profile.
const (
	mostSamples = 32
	mostTokens  = 1 << 17
	mostOptions = 255
)

// profile reads a member of a profile, or returns false for another member.
func (r *reader) profile(m member, where string, p *provider.Profile) bool {
	switch m.name {
	case "path":
		if p.Path = r.text(m.value, where); p.Path != "" && !strings.HasPrefix(p.Path, "/") || strings.ContainsAny(p.Path, "?# ") {
			r.Add(m.line, where, "must begin with a slash, and have no query")
		}
	case "query":
		p.Query = r.query(m, where)
	case "auth":
		p.Auth, p.Identity = r.auth(m, where)
	case "probabilities":
		p.Probabilities = api.ProbabilitySource(r.oneOf(m, where, string(api.Logprobs), string(api.Stated), string(api.Sampled)))
	case "limit_parameter":
		p.LimitParameter = r.oneOf(m, where, "max_tokens", "max_completion_tokens", provider.None)
	case "limit":
		p.Limit = r.upTo(m, where, mostTokens)
	case "logprobs_parameter":
		p.LogProbs = r.oneOf(m, where, provider.TopLogProbs, provider.LogProbs)
	case "top_logprobs":
		p.TopLogProbs = r.upTo(m, where, 20)
	case "temperature":
		p.OmitTemperature = r.temperature(m, where)
	case "response_format":
		p.ResponseFormat = r.oneOf(m, where, provider.JSONSchema, provider.JSONObject)
	case "samples":
		p.Samples = r.upTo(m, where, mostSamples)
	case "max_n":
		p.MaxN = r.upTo(m, where, 128)
	case "extra":
		p.Extra = r.extra(m, where, p.Extra)
	case "max_options":
		p.MaxOptions = r.upTo(m, where, mostOptions)
	default:
		return false
	}
	return true
}

// ofDecisions are the members of a profile that decision models have too.
var ofDecisions = []string{"path", "max_options"}

// checkProfile checks that the members of a profile fit the provider and each other.
func (r *reader) checkProfile(e entry, where string) {
	f, _ := formatOf(e.Spec)
	for _, m := range e.profiled {
		switch {
		case e.Provider == "" || e.Provider == chat.Name:
		case slices.Contains(ofDecisions, m) && f.Probabilities == api.Native:
		default:
			r.Add(e.lines[m], where+"."+m, "the provider "+e.Provider+" has no such member")
		}
	}
	if e.Provider != chat.Name {
		return
	}
	for m, source := range map[string]api.ProbabilitySource{
		"order": api.Logprobs, "min_label_mass": api.Logprobs, "top_logprobs": api.Logprobs, "logprobs_parameter": api.Logprobs, "samples": api.Sampled,
	} {
		if e.lines[m] > 0 && e.Profile.Probabilities != source && e.Profile.Probabilities != "" {
			r.Add(e.lines[m], where+"."+m, "only with probabilities: "+string(source))
		}
	}
	if e.Profile.Auth == provider.NoAuth && e.APIKey != "" {
		r.Add(e.at("auth"), where+".auth", "none sends no key")
	}
	if e.Profile.Identity.Kind != "" && e.APIKey != "" {
		r.Add(e.at("auth"), where+".auth", "the identity "+e.Profile.Identity.Kind+" sends no key")
	}
	for _, name := range repeated(f) {
		r.Add(e.at("extra"), where+".extra."+name, "is set by Prism")
	}
}

// repeated are the members of a profile's Extra that the body has anyway, or that would change the form of the reply.
func repeated(f provider.Format) (names []string) {
	q := prism.Question{Key: "q", Type: prism.YesNo}
	seen := map[string]bool{"stream": true, "n": true}
	body, _ := f.Body("", "", nil, []prism.Question{q}).(provider.Object)
	for _, m := range body {
		if seen[m.Name] {
			names = append(names, m.Name)
		}
		seen[m.Name] = true
	}
	return names
}

// oneOf reads one of several texts.
func (r *reader) oneOf(m member, where string, values ...string) string {
	text := r.text(m.value, where)
	if !slices.Contains(values, text) && (m.value == nil || yamlfile.IsText(m.value)) {
		r.Add(m.line, where, "must be "+strings.Join(values[:len(values)-1], ", ")+" or "+values[len(values)-1])
		return values[0]
	}
	return text
}

// upTo reads a whole number from 1 to the bound.
func (r *reader) upTo(m member, where string, bound int) int {
	if number, ok := m.value.(*ast.IntegerNode); ok {
		if v, err := strconv.Atoi(number.GetToken().Value); err == nil && v >= 1 && v <= bound {
			return v
		}
	}
	r.Add(m.line, where, fmt.Sprintf("must be a whole number from 1 to %d", bound))
	return 1
}

// temperature tells whether the temperature is left out.
func (r *reader) temperature(m member, where string) (omit bool) {
	if number, ok := m.value.(*ast.IntegerNode); ok && number.GetToken().Value == "0" {
		return false
	}
	if m.value == nil || !yamlfile.IsText(m.value) || r.text(m.value, where) != "omit" {
		r.Add(m.line, where, "must be 0 or omit")
	}
	return true
}

// query reads the query of the address: texts and numbers by name.
func (r *reader) query(m member, where string) string {
	values := url.Values{}
	for _, param := range r.object(m.value, where) {
		switch n := param.value.(type) {
		case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode:
			values.Set(param.name, n.GetToken().Value)
		default:
			r.Add(param.line, where+"."+param.name, "must be a text")
		}
	}
	return values.Encode()
}

// auth reads where the key goes: bearer, none, or {header: NAME}; or the identity that has no key: {kind: google}.
func (r *reader) auth(m member, where string) (header string, workload provider.Identity) {
	if m.value != nil && yamlfile.IsText(m.value) {
		switch r.text(m.value, where) {
		case "bearer":
			return "", workload
		case "none":
			return provider.NoAuth, workload
		}
	} else if list := r.object(m.value, where); len(list) == 1 && list[0].name == "header" {
		name := r.text(list[0].value, where+".header")
		if problem := checkHeaderName(name); problem != "" {
			r.Add(m.line, where+".header", problem)
		}
		return http.CanonicalHeaderKey(name), workload
	} else if slices.ContainsFunc(list, func(m member) bool { return m.name == "kind" }) {
		return "", r.identity(list, where)
	}
	r.Add(m.line, where, "must be bearer, none, {header: NAME} or {kind: google}")
	return "", workload
}

// extra reads members that are added to the body, over those that the host adds.
func (r *reader) extra(m member, where string, hosts provider.Object) (extra provider.Object) {
	own := r.object(m.value, where)
	for _, h := range hosts {
		if !slices.ContainsFunc(own, func(m member) bool { return m.name == h.Name }) {
			extra = append(extra, h)
		}
	}
	for _, o := range own {
		extra = append(extra, provider.Member{Name: o.name, Value: r.json(o.value, o.line, where+"."+o.name)})
	}
	return extra
}

// json is a plain node as a value of JSON.
func (r *reader) json(n ast.Node, line int, where string) any {
	switch v := n.(type) {
	case nil:
		return nil
	case *ast.MappingNode, *ast.MappingValueNode:
		object := provider.Object{}
		for _, m := range r.object(n, where) {
			object = append(object, provider.Member{Name: m.name, Value: r.json(m.value, m.line, where+"."+m.name)})
		}
		return object
	case *ast.SequenceNode:
		list := []any{}
		for i, item := range r.list(n, where) {
			list = append(list, r.json(item, line, yamlfile.Item(where, i)))
		}
		return list
	case *ast.BoolNode:
		return v.Value
	case *ast.IntegerNode:
		return v.Value
	case *ast.FloatNode:
		return v.Value
	case *ast.StringNode, *ast.LiteralNode:
		return r.text(n, where)
	}
	r.Add(line, where, "has no form in JSON")
	return nil
}
