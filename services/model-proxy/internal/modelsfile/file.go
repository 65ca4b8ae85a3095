package modelsfile

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/prism-results/prism/pkg/yamlfile"
	"github.com/prism-results/prism/services/model-proxy/internal/models"
	"github.com/prism-results/prism/services/model-proxy/internal/provider"
	"github.com/prism-results/prism/services/model-proxy/internal/provider/chat"
	"github.com/prism-results/prism/services/model-proxy/internal/provider/offline"
)

// file is the content of a file of models.
type file struct {
	defaultModel string // its name
	entries      []entry
}

// entry is a model of the file with the lines of its members.
type entry struct {
	models.Spec
	line  int
	lines map[string]int
	// profiled are its members that a profile has.
	profiled []string
}

// secrets reads what a file of models names: variables of the environment, and files.
type secrets struct {
	env  func(name string) string
	file func(path string) (string, error)
}

// reader reads a file of models.
type reader struct {
	decoder
	secrets secrets
}

// read reads the text of a file. It returns what can be read, and leaves every problem in r.Problems.
func (r *reader) read(text []byte) (f file) {
	root := r.root(text)
	if root == nil {
		return f
	}
	var defaultLine int
	for _, m := range r.object(r.Plain(root, ""), "") {
		switch m.name {
		case "default":
			defaultLine, f.defaultModel = m.line, r.text(m.value, "default")
		case "models":
			for i, item := range r.list(m.value, "models") {
				f.entries = append(f.entries, r.entry(item, i, m.line))
			}
		default:
			r.Add(m.line, "", "has no member "+strconv.Quote(m.name))
		}
	}
	r.checkNames(f, defaultLine)
	return f
}

// entry reads the i-th model of the list, which begins at listLine.
func (r *reader) entry(n ast.Node, i, listLine int) entry {
	e := entry{line: listLine, lines: map[string]int{}}
	where := "models." + strconv.Itoa(i)
	if n == nil {
		r.Add(listLine, where, "must have members")
		return e
	}
	e.line = yamlfile.Line(n)
	list := r.object(n, where)
	for _, m := range list {
		if m.name == "name" {
			if name := r.text(m.value, where+".name"); nameForm.MatchString(name) {
				where, e.Name = name, name
			} else if m.value != nil {
				r.Add(m.line, where+".name",
					"must be 1 to 64 lower-case letters, digits and hyphens, and begin and end with a letter or digit")
			}
			e.lines["name"] = m.line
		}
	}
	for _, m := range list {
		switch m.name {
		case "provider":
			e.Provider = r.text(m.value, where+".provider")
		case "host":
			e.Profile = r.hostNamed(m, where+".host")
		}
	}
	profile := provider.Profile{} // of a decision model
	if e.Profile != nil {
		profile = *e.Profile
	} else if e.Provider == chat.Name {
		profile = provider.DefaultProfile()
	}
	var proxy *url.URL
	var password string
	for _, m := range list {
		e.lines[m.name] = m.line
		at := where + "." + m.name
		switch m.name {
		case "name", "provider":
		case "host":
			e.profiled = append(e.profiled, m.name)
		case "base_url":
			e.BaseURL = r.text(m.value, at)
		case "model":
			e.Model = r.text(m.value, at)
		case "api_key_env":
			e.APIKey = r.fromEnv(r.text(m.value, at), m, at)
		case "api_key_file":
			e.APIKey = r.fromFile(r.text(m.value, at), m, at)
		case "headers":
			e.Headers = r.headers(m.value, at)
		case "proxy":
			proxy = r.proxy(m, at)
		case "proxy_password_env":
			password = r.fromEnv(r.text(m.value, at), m, at)
		case "proxy_password_file":
			password = r.fromFile(r.text(m.value, at), m, at)
		case "ca_file":
			e.Roots = r.roots(m, at)
		case "max_in_flight":
			e.MaxInFlight = r.whole(m.value, at)
		case "order":
			e.Order = r.order(m.value, at)
		case "price":
			e.Price = r.price(m, at)
		case "fallback":
			e.Fallback = r.fallback(m, at)
		case "fallback_on":
			e.FallbackOn = r.fallbackOn(m, at)
		case "min_label_mass":
			e.MinLabelMass = r.part(m.value, at)
		case "api_key":
			r.Add(m.line, at, "name the variable or the file that has the key: api_key_env or api_key_file")
		default:
			if r.profile(m, at, &profile) {
				e.profiled = append(e.profiled, m.name)
			} else {
				r.Add(m.line, where, "has no member "+strconv.Quote(m.name))
			}
		}
	}
	if e.Provider == chat.Name || len(e.profiled) > 0 {
		e.Profile = &profile
	}
	e.Proxy = r.withPassword(e, where, proxy, password)
	r.checkEntry(e, where)
	return e
}

// checkEntry checks for required members, and for members that exclude each other.
func (r *reader) checkEntry(e entry, where string) {
	if e.lines["name"] == 0 {
		r.Add(e.line, where, "name is missing")
	}
	if e.Provider == "" {
		r.Add(e.at("provider"), where, "provider is missing")
	}
	if e.lines["api_key_env"] > 0 && e.lines["api_key_file"] > 0 {
		r.Add(e.lines["api_key_file"], where, "only one of api_key_env and api_key_file can be given")
	}
	if e.Provider == offline.Name {
		for _, m := range []string{"base_url", "api_key_env", "api_key_file", "headers", "proxy", "ca_file"} {
			if e.lines[m] > 0 {
				r.Add(e.lines[m], where+"."+m, "the provider offline calls no upstream")
			}
		}
	}
	if e.Order != "" && e.Provider != "" && e.Provider != chat.Name {
		r.Add(e.lines["order"], where+".order", "only the provider "+chat.Name+" asks in several orders")
	}
	if e.MinLabelMass != nil && e.Provider != "" && e.Provider != chat.Name {
		r.Add(e.lines["min_label_mass"], where+".min_label_mass", "only the provider "+chat.Name+" has labels")
	}
	r.checkProfile(e, where)
	for name := range e.Headers {
		if setByFormat(e.Spec, name) && checkHeaderName(name) == "" {
			r.Add(e.lines["headers"], where+".headers."+name, "is set by Prism")
		}
	}
}

// at is the line of a member, or of the model if it has no such member.
func (e entry) at(member string) int {
	if l := e.lines[member]; l > 0 {
		return l
	}
	return e.line
}

// checkNames checks that names are unique, and that the default and the fallbacks are names of models. defaultLine is the line of
// the default.
func (r *reader) checkNames(f file, defaultLine int) {
	if len(f.entries) == 0 {
		r.Add(0, "models", "must have a model")
	}
	known := map[string]int{}
	for _, e := range f.entries {
		if first, twice := known[e.Name]; twice && e.Name != "" {
			r.Add(e.at("name"), e.Name+".name", "is the name of the model of line "+strconv.Itoa(first))
			continue
		}
		known[e.Name] = e.line
	}
	switch _, ok := known[f.defaultModel]; {
	case f.defaultModel == "":
		r.Add(defaultLine, "default", "must be the name of a model")
	case !ok:
		r.Add(defaultLine, "default", "no model has the name "+strconv.Quote(f.defaultModel))
	}
	for _, e := range f.entries {
		for i, name := range e.Fallback {
			problem := ""
			switch _, ok := known[name]; {
			case name == "": // reported by fallback
			case name == e.Name:
				problem = "a model cannot be its own fallback"
			case !ok:
				problem = "no model has the name " + strconv.Quote(name)
			case slices.Contains(e.Fallback[:i], name):
				problem = strconv.Quote(name) + " is given twice"
			}
			if problem != "" {
				r.Add(e.at("fallback"), yamlfile.Join(e.Name, "fallback"), problem)
			}
		}
	}
}

func (r *reader) order(n ast.Node, where string) string {
	if n == nil {
		return ""
	}
	if order := r.text(n, where); order == models.Cyclic || !yamlfile.IsText(n) {
		return order
	}
	r.Wrong(n, where, "must be "+models.Cyclic)
	return ""
}

func (r *reader) price(m member, where string) *models.Price {
	switch m.value.(type) {
	case nil:
		return nil
	case *ast.StringNode:
		if r.text(m.value, where) == reported {
			return &models.Price{Currency: models.ReportedCurrency, Reported: true}
		}
		r.Add(m.line, where, "must have members, or be "+reported)
		return nil
	}
	p, isSet := models.Price{}, map[string]bool{}
	for _, price := range r.object(m.value, where) {
		at := where + "." + price.name
		isSet[price.name] = price.value != nil
		switch {
		case !slices.Contains([]string{"currency", "input", "output", "cached_input", "per_call"}, price.name):
			r.Add(price.line, where, "has no member "+strconv.Quote(price.name))
		case price.value == nil:
		case price.name == "input":
			p.Input = r.amount(price.value, at, perMillion)
		case price.name == "output":
			p.Output = r.amount(price.value, at, perMillion)
		case price.name == "cached_input":
			p.CachedInput = new(r.amount(price.value, at, perMillion))
		case price.name == "per_call":
			p.PerCall = r.amount(price.value, at, perCall)
		default:
			if p.Currency = r.text(price.value, at); !currencyForm.MatchString(p.Currency) {
				r.Add(price.line, at, "must be three capital letters, such as USD")
			}
		}
	}
	required := []string{"currency", "input", "output"}
	if isSet["per_call"] { // tokens may cost nothing
		required = required[:1]
	}
	for _, name := range required {
		if !isSet[name] {
			r.Add(m.line, where, name+" is missing")
		}
	}
	return &p
}

// reported is the price of a model whose upstream says what each call cost.
const reported = "reported"

func (r *reader) headers(n ast.Node, where string) http.Header {
	headers := http.Header{}
	for _, m := range r.object(n, where) {
		at := where + "." + m.name
		if problem := checkHeaderName(m.name); problem != "" {
			r.Add(m.line, at, problem)
			continue
		}
		name := http.CanonicalHeaderKey(m.name)
		if _, twice := headers[name]; twice {
			r.Add(m.line, at, "is given twice: case makes no difference")
			continue
		}
		before := len(r.Problems)
		value := r.headerValue(m, at)
		if problem := checkHeaderValue(value); problem != "" && len(r.Problems) == before {
			r.Add(m.line, at, problem)
		}
		headers[name] = []string{value}
	}
	if len(headers) == 0 {
		return nil
	}
	return headers
}

// headerValue reads a text, {env: NAME} or {file: PATH}.
func (r *reader) headerValue(m member, where string) string {
	switch m.value.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
	default:
		return r.text(m.value, where)
	}
	members := r.object(m.value, where)
	if len(members) == 1 && members[0].name == "env" {
		return r.fromEnv(r.text(members[0].value, where+".env"), members[0], where+".env")
	}
	if len(members) == 1 && members[0].name == "file" {
		return r.fromFile(r.text(members[0].value, where+".file"), members[0], where+".file")
	}
	r.Add(m.line, where, "must be a text, {env: NAME} or {file: PATH}")
	return ""
}

// fromEnv returns the value of a variable, without the white space around it.
func (r *reader) fromEnv(name string, m member, where string) string {
	if name == "" {
		if m.value == nil || yamlfile.IsText(m.value) {
			r.Add(m.line, where, "must be the name of a variable")
		}
		return ""
	}
	value := strings.TrimSpace(r.secrets.env(name))
	if value == "" {
		r.Add(m.line, where, "the variable "+name+" is not set")
	}
	return value
}

// fromFile returns the content of a file, without the white space around it.
func (r *reader) fromFile(path string, m member, where string) string {
	if path == "" {
		if m.value == nil || yamlfile.IsText(m.value) {
			r.Add(m.line, where, "must be the path of a file")
		}
		return ""
	}
	content, err := r.secrets.file(path)
	if err != nil {
		r.Add(m.line, where, err.Error())
		return ""
	}
	if content = strings.TrimSpace(content); content == "" {
		r.Add(m.line, where, path+": is empty")
	}
	return content
}
