package apidoc

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

//go:embed page.html.tmpl
var pageTemplate string

//go:embed page.css
var pageStyle string

//go:embed page.js
var pageScript string

// view is the page's content in the order in which it is read.
type view struct {
	Title, Version, Summary, License string
	Intro                            []section
	Groups                           []group
	Schemas                          []schemaView
	Style                            template.CSS
	Script                           template.JS
}

type group struct {
	ID, Name    string
	Description template.HTML
	Operations  []operationView
}

type operationView struct {
	ID, Method, Summary string
	Path                []pathPart
	Description         template.HTML
	Parameters          []row
	Body                []row
	Curl                string
	Requests            []sample
	Responses           []responseView
	Errors              []errorView
	Try                 try
}

// pathPart is a piece of a path: text, or a parameter in braces.
type pathPart struct {
	Text  string
	Param bool
}

// row is a parameter of a call or a member of a schema.
type row struct {
	Name        string
	In          string
	Required    bool
	Type        template.HTML
	Limits      []string
	Description template.HTML
}

type responseView struct {
	Status      string
	Description template.HTML
	Samples     []sample
}

// sample is an example body.
type sample struct {
	Summary   template.HTML
	MediaType string
	Body      template.HTML
	Open      bool // shown without a click
}

type errorView struct {
	Status, Code, Message string
	When                  template.HTML
}

type schemaView struct {
	ID, Name    string
	Description template.HTML
	Type        template.HTML
	Limits      []string
	Members     []row
}

func render(d *document) ([]byte, error) {
	v := view{
		Title: d.Info.Title, Version: d.Info.Version, Summary: d.Info.Summary, License: d.Info.License.Name,
		Intro:  sections(d.Info.Description),
		Style:  template.CSS(pageStyle), //nolint:gosec // embedded
		Script: template.JS(pageScript), //nolint:gosec // embedded
	}
	for _, t := range d.Tags {
		g := group{ID: slug(t.Name), Name: t.Name, Description: markdown(t.Description)}
		for _, path := range d.Paths {
			for _, op := range path.Value {
				if !slices.Contains(op.Value.Tags, t.Name) {
					continue
				}
				o, err := viewOperation(d, op.Name, path.Name, op.Value)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", op.Value.OperationID, err)
				}
				g.Operations = append(g.Operations, o)
			}
		}
		v.Groups = append(v.Groups, g)
	}
	for _, s := range d.Components.Schemas {
		v.Schemas = append(v.Schemas, viewSchema(s.Name, s.Value))
	}
	t, err := template.New("page").Parse(pageTemplate)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, v)
	return b.Bytes(), err
}

func viewOperation(d *document, method, path string, op operation) (operationView, error) {
	o := operationView{
		ID: op.OperationID, Method: strings.ToUpper(method), Summary: op.Summary,
		Path: splitPath(path), Description: markdown(op.Description),
	}
	for _, p := range op.Parameters {
		o.Parameters = append(o.Parameters, row{
			Name: p.Name, In: p.In, Required: p.Required, Type: typeOf(p.Schema), Limits: limits(d.deref(p.Schema)),
			Description: markdown(p.Description),
		})
	}
	var body json.RawMessage
	if op.RequestBody != nil {
		media := op.RequestBody.Content[0].Value
		o.Body = d.rows(d.deref(media.Schema))
		body = media.Examples[0].Value.Value
		for _, e := range media.Examples {
			s, err := viewSample(op.RequestBody.Content[0].Name, e.Value)
			if err != nil {
				return o, err
			}
			o.Requests = append(o.Requests, s)
		}
	}
	var err error
	if o.Curl, err = curl(o.Method, path, op.Parameters, body); err != nil {
		return o, err
	}
	if o.Try, err = d.viewTry(o.Method, path, op); err != nil {
		return o, err
	}
	return o, o.addResponses(op.Responses)
}

// addResponses puts results among the responses, and everything with an error's body in the table of errors.
func (o *operationView) addResponses(responses members[response]) error {
	for _, r := range responses {
		first := r.Value.Content[0].Value
		if name := first.Schema.Ref; name == "#/components/schemas/Error" || name == "#/components/schemas/Unavailable" {
			for _, e := range first.Examples {
				row, err := viewError(r.Name, e.Value)
				if err != nil {
					return err
				}
				o.Errors = append(o.Errors, row)
			}
			continue
		}
		v := responseView{Status: r.Name, Description: markdown(r.Value.Description)}
		for _, m := range r.Value.Content {
			for _, e := range m.Value.Examples {
				s, err := viewSample(m.Name, e.Value)
				if err != nil {
					return err
				}
				s.Open = len(v.Samples) == 0 && r.Name < "300"
				v.Samples = append(v.Samples, s)
			}
		}
		o.Responses = append(o.Responses, v)
	}
	return nil
}

func viewError(status string, e example) (errorView, error) {
	var body struct {
		Error   json.RawMessage
		Message string
	}
	if err := json.Unmarshal(e.Value, &body); err != nil {
		return errorView{}, err
	}
	v := errorView{Status: status, Message: body.Message, When: markdown(e.Summary)}
	if body.Message == "" {
		var inner struct{ Code, Message string }
		if err := json.Unmarshal(body.Error, &inner); err != nil {
			return v, err
		}
		v.Code, v.Message = inner.Code, inner.Message
	}
	return v, nil
}

func viewSample(mediaType string, e example) (sample, error) {
	s := sample{Summary: template.HTML(inline(e.Summary)), MediaType: mediaType} //nolint:gosec // inline escapes
	if mediaType != "application/json" {
		var text string
		err := json.Unmarshal(e.Value, &text)
		s.Body = template.HTML(template.HTMLEscapeString(text)) //nolint:gosec // escaped
		return s, err
	}
	text, err := layout(e.Value, "")
	s.Body = paint(text)
	return s, err
}

func viewSchema(name string, s schema) schemaView {
	v := schemaView{
		ID: "schema-" + name, Name: name, Description: markdown(s.Description),
		Type: typeOf(s), Limits: limits(s),
	}
	v.Members = (&document{}).rows(s)
	return v
}

// rows are the members of an object.
func (d *document) rows(s schema) []row {
	rows := make([]row, 0, len(s.Properties))
	for _, p := range s.Properties {
		text := p.Value.Description
		if text == "" {
			text = d.deref(p.Value).Description
		}
		rows = append(rows, row{
			Name: p.Name, Required: slices.Contains(s.Required, p.Name), Type: typeOf(p.Value),
			Limits: limits(p.Value), Description: markdown(text),
		})
	}
	return rows
}

func (d *document) deref(s schema) schema {
	if found, ok := d.Components.Schemas.find(schemaName(s.Ref)); ok {
		return found
	}
	return s
}

func schemaName(ref string) string { return strings.TrimPrefix(ref, "#/components/schemas/") }

// typeOf names a schema's type in words, with links to the schemas that it names.
func typeOf(s schema) template.HTML {
	var text string
	switch {
	case s.Ref != "":
		name := template.HTMLEscapeString(schemaName(s.Ref))
		text = `<a href="#schema-` + name + `">` + name + `</a>`
	case s.Const != nil:
		text = template.HTMLEscapeString(fmt.Sprint(s.Const))
	case len(s.OneOf) > 0 && len(s.Properties) == 0:
		text = eitherOf(s.OneOf)
	case len(s.AnyOf) > 0:
		text = eitherOf(s.AnyOf)
	default:
		text = template.HTMLEscapeString(strings.Join(s.Type, " or "))
		if s.Format != "" {
			text = strings.Replace(text, "string", template.HTMLEscapeString(s.Format), 1)
		}
		if s.Items != nil {
			text += " of " + string(typeOf(*s.Items))
		}
		if s.AdditionalProperties != nil {
			text += " of " + string(typeOf(*s.AdditionalProperties))
		}
	}
	return template.HTML(text) //nolint:gosec // escaped above
}

func eitherOf(all []schema) string {
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = string(typeOf(s))
	}
	return strings.Join(names, " or ")
}

// limits are what a value must keep to, each in a few characters.
func limits(s schema) []string {
	var all []string
	all = append(all, s.Enum...)
	span := func(low, high *int, unit string) {
		switch {
		case low != nil && high != nil:
			all = append(all, grouped(*low)+"–"+grouped(*high)+" "+unit)
		case high != nil:
			all = append(all, "≤ "+grouped(*high)+" "+unit)
		case low != nil:
			all = append(all, "≥ "+grouped(*low)+" "+unit)
		}
	}
	span(s.MinLength, s.MaxLength, "characters")
	span(s.MinItems, s.MaxItems, "items")
	if s.Minimum != nil {
		all = append(all, "≥ "+s.Minimum.String())
	}
	if s.Maximum != nil {
		all = append(all, "≤ "+s.Maximum.String())
	}
	if s.Pattern != "" {
		all = append(all, s.Pattern)
	}
	if s.Default != nil {
		all = append(all, fmt.Sprintf("default %v", s.Default))
	}
	return all
}

// grouped writes a count with commas between its thousands.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func splitPath(path string) []pathPart {
	var parts []pathPart
	for path != "" {
		before, rest, found := strings.Cut(path, "{")
		parts = append(parts, pathPart{Text: before})
		if !found {
			break
		}
		name, after, _ := strings.Cut(rest, "}")
		parts = append(parts, pathPart{Text: "{" + name + "}", Param: true})
		path = after
	}
	return parts
}

// curl is a command line for the operation that works when the address and the key are set.
func curl(method, path string, params []parameter, body json.RawMessage) (string, error) {
	query := url.Values{}
	for _, p := range params {
		value := fmt.Sprint(p.Example)
		switch {
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(value))
		case p.Example != nil:
			query.Set(p.Name, value)
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	lines := []string{`curl "$PRISM_URL` + path + `"`, `  -H "Authorization: Bearer $PRISM_API_KEY"`}
	if method != "GET" && (method != "POST" || body == nil) {
		lines[0] = "curl -X " + method + strings.TrimPrefix(lines[0], "curl")
	}
	if body != nil {
		text, err := layout(body, "  ")
		if err != nil {
			return "", err
		}
		quoted := strings.ReplaceAll(text, `'`, `'\''`)
		lines = append(lines, `  -H "Content-Type: application/json"`, `  -d '`+quoted+`'`)
	}
	return strings.Join(lines, " \\\n"), nil
}
