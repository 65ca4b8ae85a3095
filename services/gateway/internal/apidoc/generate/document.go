package main

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
)

// document builds the OpenAPI document.
type document struct {
	base    object
	prose   object // of the operations, by their names
	schemas *schemas
}

func newDocument(base object, found comments) *document {
	return &document{base, base.object("operations"), &schemas{comments: found, byHand: base.object("components").object("schemas"), beside: base.object("schemas")}}
}

// build adds the operations to the base.
func (d *document) build(operations []api.Operation) (object, error) {
	paths := d.base.object("paths")
	for _, op := range operations {
		declaration := op.Declared()
		prose := d.prose.object(declaration.Name)
		if prose == nil {
			return nil, fmt.Errorf("base.json has no prose of the operation %s", declaration.Name)
		}
		path := paths.object(declaration.Path)
		paths = paths.with(declaration.Path, path.with(strings.ToLower(declaration.Method), d.operation(op, prose)))
	}
	components := d.base.object("components")
	components = components.with("examples", withErrors(components.object("examples")))
	all := append(slices.Clone(d.schemas.byHand), d.schemas.made...)
	built := object{}
	for _, m := range d.base {
		switch m.name {
		case "operations", "schemas": // its prose is in paths, and what it says of schemas in components
		case "paths":
			built = append(built, member{"paths", paths})
		case "components":
			built = append(built, member{"components", components.with("schemas", all)})
		default:
			built = append(built, m)
		}
	}
	return built, nil
}

// withErrors gives the examples that have a code and a message their value.
func withErrors(examples object) object {
	all := make(object, len(examples))
	for i, m := range examples {
		all[i] = m
		if e, _ := m.value.(object); e.get("code") != nil {
			body := object{{"error", object{{"code", e.get("code")}, {"message", e.get("message")}}}}
			all[i].value = object{{"summary", e.get("summary")}, {"value", body}}
		}
	}
	return all
}

func (d *document) operation(op api.Operation, prose object) object {
	declaration := op.Declared()
	request, _ := op.Types()
	o := object{
		{"operationId", declaration.Name},
		{"tags", []string{declaration.Tag}},
		{"summary", prose.get("summary")},
		{"description", prose.get("description")},
	}
	var parameters []any
	body, octets := false, false
	for _, m := range api.Properties(request) {
		if m.OrHeader != "" {
			parameters = append(parameters, object{{"$ref", "#/components/parameters/" + strings.ReplaceAll(m.OrHeader, "-", "")}})
		}
		switch m.Place {
		case api.InBody:
			body = true
		case api.InOctets:
			octets = true
		default:
			parameters = append(parameters, d.parameter(request, m))
		}
	}
	if parameters != nil {
		o = o.with("parameters", parameters)
	}
	if octets {
		media := object{{"schema", reference("Octets")}, {"examples", examples(prose.get("request"))}}
		o = o.with("requestBody", object{{"required", true}, {"content", object{{"application/octet-stream", media}}}})
	}
	if body {
		media := object{{"schema", d.body(request)}, {"examples", examples(prose.get("request"))}}
		o = o.with("requestBody", object{{"required", true}, {"content", object{{"application/json", media}}}})
	}
	return o.with("responses", d.responses(op, prose, len(parameters) > 0, body, octets))
}

// body is the schema of a request's body. It has the name of the embedded struct with the members of the body, also if the request
// adds members such as dry_run.
func (d *document) body(request reflect.Type) object {
	inBody := func(m api.Property) bool { return m.Place == api.InBody }
	for i := range request.NumField() {
		if f := request.Field(i); f.Anonymous && slices.ContainsFunc(api.Properties(f.Type), inBody) {
			return d.schemas.refer(nameOf(f.Type), func() object {
				return d.schemas.structure(request, d.schemas.comments[f.Type.Name()], true)
			})
		}
	}
	return d.schemas.structure(request, "", true)
}

// pageLimit is the most items of a page of a list, which the component Limit has (spec: page-limit).
const pageLimit = 100

// parameter is a reference to a parameter that is written by hand, or else the parameter that the member declares.
func (d *document) parameter(request reflect.Type, m api.Property) object {
	component := m.Field.Tag.Get("parameter")
	if component == "" {
		component = map[api.Place]map[string]string{
			api.InPath:   {"prism": "Prism", "result_id": "ResultId", "version": "VersionNumber", "calibration_id": "CalibrationId", "file_id": "FileId", "run_id": "RunId"},
			api.InQuery:  {"cursor": "Cursor"},
			api.InHeader: {"If-Match": "IfMatch"},
		}[m.Place][m.Name]
		if m.Name == "limit" && *m.Max == pageLimit {
			component = "Limit"
		}
	}
	if component != "" {
		return object{{"$ref", "#/components/parameters/" + component}}
	}
	p := object{{"name", m.Name}, {"in", string(m.Place)}}
	if m.Required {
		p = p.with("required", true)
	}
	p = p.with("description", d.schemas.describe(request, m))
	if _, ok := m.Field.Tag.Lookup("empty"); ok {
		p = p.with("allowEmptyValue", true)
	}
	limits := m.Limits
	t := m.Field.Type
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	p = p.with("schema", d.schemas.parameter(t, limits))
	if example := m.Field.Tag.Get("example"); example != "" {
		p = p.with("example", exampleOf(t, example))
	}
	return p
}

func exampleOf(t reflect.Type, text string) any {
	if n, err := strconv.ParseFloat(text, 64); err == nil && t.Kind() != reflect.String {
		return number(n)
	}
	return text
}

func (d *document) responses(op api.Operation, prose object, parameters, body, octets bool) object {
	declaration := op.Declared()
	all := map[string]object{}
	success := strconv.Itoa(declaration.SuccessStatus())
	all[success] = d.success(success, op, prose, declaration.ETag)
	if request, _ := op.Types(); success != "200" && hasDryRun(request) {
		all["200"] = d.planned(op, prose)
	}
	switch failed := strconv.Itoa(http.StatusBadGateway); {
	case declaration.Failing && prose.object("responses").index(failed) < 0:
		all[failed] = responseReference("FailedResult")
	case declaration.Failing:
		all[failed] = d.success(failed, op, prose, false)
	}
	changes := declaration.Method != http.MethodGet
	if parameters || changes {
		all["400"] = d.invalid(op, prose, body, octets)
	}
	for _, e := range declaration.Errors {
		status := strconv.Itoa(e.Status)
		if all[status] == nil {
			all[status] = d.failure(status, declaration.Errors, prose)
		}
	}
	for status, component := range map[string]string{
		"401": "Unauthorized", "403": "RoleNotAllowed", "500": "InternalError", "503": "ServiceUnavailable",
	} {
		all[status] = responseReference(component)
	}
	if changes {
		all["413"], all["415"] = responseReference("BodyTooLarge"), responseReference("ContentTypeNotParsed")
	}
	if octets {
		all["415"] = responseReference("NotOctets")
	}
	var sorted object
	for status, r := range all {
		sorted = append(sorted, member{status, r})
	}
	slices.SortFunc(sorted, func(a, b member) int { return strings.Compare(a.name, b.name) })
	return sorted
}

func hasDryRun(request reflect.Type) bool {
	return slices.ContainsFunc(api.Properties(request), func(m api.Property) bool { return m.Name == "dry_run" })
}

func (d *document) success(status string, op api.Operation, prose object, etag bool) object {
	declaration := op.Declared()
	written := prose.object("responses").object(status)
	header := headers(etag)
	switch {
	case declaration.Foreign:
		names := [][2]string{{"Prism-Result-Id", "PrismResultId"}, {"Prism-Version", "PrismVersion"}, {"Idempotent-Replayed", "IdempotentReplayed"}}
		if status != "200" {
			names[2] = [2]string{"X-Should-Retry", "ShouldRetry"}
		}
		for _, name := range names {
			header = append(header, member{name[0], object{{"$ref", "#/components/headers/" + name[1]}}})
		}
	case declaration.Name == api.CreateResult.Name:
		header = append(header, member{"Idempotent-Replayed", object{{"$ref", "#/components/headers/IdempotentReplayed"}}})
	case slices.Contains(declaration.Media, api.EventsMedia):
		header = append(header, member{"X-Accel-Buffering", object{{"$ref", "#/components/headers/AccelBuffering"}}})
	case declaration.Class == api.Streamed:
		for _, name := range [][2]string{{"Vary", "Vary"}, {"Content-Encoding", "ContentEncoding"}} {
			header = append(header, member{name[0], object{{"$ref", "#/components/headers/" + name[1]}}})
		}
	}
	r := object{{"description", written.get("description")}, {"headers", header}}
	content := object{}
	add := func(media string, schema object) {
		names := written.get("examples")
		if byMedia, ok := names.(object); ok {
			names = byMedia.get(media)
		}
		content = append(content, member{media, object{{"schema", schema}, {"examples", examples(names)}}})
	}
	if _, t := op.Types(); declaration.Foreign && status != "200" { // a failed result is that of a create call
		add("application/json", d.schemas.response(reflect.TypeFor[api.Result]()))
	} else if t != reflect.TypeFor[api.None]() {
		add("application/json", d.schemas.response(t))
	}
	for _, m := range declaration.Media {
		add(m.Type, reference(m.Schema))
	}
	if len(content) == 0 {
		return r
	}
	return r.with("content", content)
}

// planned is the response of a dry run.
func (d *document) planned(op api.Operation, prose object) object {
	r := d.success("200", op, prose, false)
	if plan := op.Declared().Plan; plan != nil {
		media := r.object("content").object("application/json").with("schema", d.schemas.response(reflect.TypeOf(plan)))
		r = r.with("content", object{{"application/json", media}})
	}
	return r
}

// invalid is the 400 of an operation: the examples of its own, and those that follow from what it reads.
func (d *document) invalid(op api.Operation, prose object, body, octets bool) object {
	names, _ := prose.object("responses").get("400").([]any)
	declaration := op.Declared()
	if body {
		names = append(slices.Clip(names), "BodyNotObject", "BodyRequired")
	}
	if declaration.Method != http.MethodGet && !octets {
		names = append(slices.Clip(names), "MalformedRequest")
	}
	if strings.Contains(declaration.Path, "{prism}") {
		names = append(slices.Clip(names), "InvalidPrismText")
	}
	if strings.Contains(declaration.Path, "{") {
		names = append(slices.Clip(names), "MalformedPath")
	}
	return errorResponse("The request is not valid.", names)
}

// failure is an error response with an example of each error of its status.
func (d *document) failure(status string, errors []*apierr.Error, prose object) object {
	written := prose.object("responses").object(status)
	if written == nil {
		return responseReference(soleComponent(status, errors))
	}
	names, _ := written.get("examples").([]any)
	return errorResponse(fmt.Sprint(written.get("description")), names)
}

// soleComponent is the response that is written by hand for the only error of a status.
func soleComponent(status string, errors []*apierr.Error) string {
	for _, e := range errors {
		if strconv.Itoa(e.Status) != status {
			continue
		}
		if *e == *apierr.PrismNotFound() {
			return "PrismNotFound"
		}
	}
	return ""
}

func errorResponse(description string, names []any) object {
	media := object{{"schema", reference("Error")}, {"examples", examples(names)}}
	return object{{"description", description}, {"headers", headers(false)}, {"content", object{{"application/json", media}}}}
}

func responseReference(component string) object {
	return object{{"$ref", "#/components/responses/" + component}}
}

func headers(etag bool) object {
	h := object{}
	for _, name := range [][2]string{
		{"X-Request-Id", "RequestId"}, {"X-Content-Type-Options", "ContentTypeOptions"}, {"Cache-Control", "CacheControl"},
	} {
		h = append(h, member{name[0], object{{"$ref", "#/components/headers/" + name[1]}}})
	}
	if etag {
		h = append(h, member{"ETag", object{{"$ref", "#/components/headers/ETag"}}})
	}
	return h
}

// examples refers to examples by their names.
func examples(names any) object {
	list, _ := names.([]any)
	o := object{}
	for _, n := range list {
		o = append(o, member{fmt.Sprint(n), object{{"$ref", fmt.Sprint("#/components/examples/", n)}}})
	}
	return o
}
