package apidoc

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/services/gateway/internal/request"
)

// TestTheLimitsOfBodiesAreTheGateways walks through a body of each operation beside the schema that describes it. Whatever
// the schema says of a value, the parser must take what is just inside, and refuse what is just outside.
// spec: definition-text-limits
func TestTheLimitsOfBodiesAreTheGateways(t *testing.T) {
	t.Parallel()
	const definition = `"fields":[{"key":"f","label":"F"}],"questions":[
		{"key":"c","type":"choice","text":"?","options":[{"key":"a","label":"A","description":"d"},{"key":"b","label":"B","description":"d"}],
			"insufficient_information":false},
		{"key":"y","type":"yes_no","text":"?"},
		{"key":"s","type":"scale","text":"?","levels":[{"key":"l","label":"L","value":1},{"key":"h","label":"H","value":2}]}]`
	// Its columns name questions, so questions may not go while it is there.
	const lens = `"lens":{"columns":[{"name":"p","question":"c","show":"probability","option":"a"},
		{"name":"y","question":"y","show":"answer","yes_at":0.6,"no_at":0.4,"calibrated":true}]}`
	create := func(b request.Body) error { return parseDeclared(api.CreateResult, "", "", b) }
	newPrism := func(b request.Body) error { return parseDeclared(api.CreatePrism, "", "", b) }
	newVersion := func(b request.Body) error { return parseDeclared(api.CreateVersion, "", "", b) }
	newMember := func(b request.Body) error { return parseDeclared(api.AddMember, "", "", b) }
	newTry := func(b request.Body) error { return parseDeclared(api.TryDefinition, "", "", b) }
	newName := func(b request.Body) error { return parseDeclared(api.RenamePrism, "", "", b) }
	newKey := func(b request.Body) error { return parseDeclared(api.CreateKey, "", "", b) }
	for _, c := range []struct {
		schema, body string
		only         string // the one member to look at; "" for all
		parse        func(request.Body) error
	}{
		{"CreateResult", `{"fields":{"f":"v"},"version":1,"idempotency_key":"k","ref":"r","context":"c"}`, "", create},
		{"CreateResult", `{"text":"t"}`, "", create},
		{"NewPrism", `{"slug":"s","name":"n","instructions":"i","model":"m",` + definition + `}`, "", newPrism},
		{"NewPrism", `{"slug":"s",` + definition + `,` + lens + `}`, "lens", newPrism},
		{"NewVersion", `{"if_latest":1,"instructions":"i","model":"m",` + definition + `}`, "", newVersion},
		{"NewVersion", `{` + definition + `,` + lens + `}`, "lens", newVersion},
		{
			"LensPreview", `{"columns":[{"name":"p","question":"c","show":"probability"}],"result_ids":["` + anID + `"]}`, "result_ids",
			func(b request.Body) error { return parseDeclared(api.PreviewLens, "", "", b) },
		},
		{"NewTry", `{"definition":{"instructions":"i","model":"m",` + definition + `},"fields":{"f":"v"},"context":"c"}`, "", newTry},
		{"NewTry", `{"definition":{` + definition + `},"text":"t"}`, "text", newTry},
		{"NewTry", `{"definition":{` + definition + `},"text":"t",` + lens + `}`, "lens", newTry},
		{"NewName", `{"name":"n"}`, "", newName},
		{"NewKey", `{"name":"n"}`, "", newKey},
		{"NewMember", `{"name":"n","email":"a@b","role":"reader"}`, "", newMember},
		{"NewMember", `{"name":"n","role":"reader","claim":{"name":"groups","value":"a"}}`, "claim", newMember},
		{
			"MemberChange", `{"name":"n","role":"reader"}`, "",
			func(b request.Body) error { return parseDeclared(api.ChangeMember, "", "", b) },
		},
		{
			"NewLabels", `{"labels":{"q":true},"sample":"random","annotator":"a"}`, "annotator",
			func(b request.Body) error { return parseDeclared(api.PutLabels, "", "", b) },
		},
		{
			"ManyLabels", `{"labels":[{"ref":"r","question":"q","value":"v"}],"sample":"random","annotator":"a","version":1}`, "version",
			func(b request.Body) error { return parseDeclared(api.AddLabels, "", "", b) },
		},
		{
			"NewCalibration", `{"question":"q","method":"auto"}`, "method",
			func(b request.Body) error { return parseDeclared(api.CreateCalibration, "", "", b) },
		},
		{
			"CalibrationPins", `{"questions":{"q":"` + anID + `"}}`, "",
			func(b request.Body) error { return parseDeclared(api.PinCalibrations, "", "", b) },
		},
		{"NewFile", `{"name":"n","format":"csv","bytes":1}`, "", func(b request.Body) error { return parseDeclared(api.CreateFile, "", "", b) }},
		{
			"NewRun", `{"file_id":"` + anID + `","fields":{"f":"c"},"version":1,"pause_at_failures":1,"concurrency":1}`, "",
			func(b request.Body) error { return parseDeclared(api.CreateRun, "", "", b) },
		},
		{"FileOptions", `{"encoding":"shift_jis","header_row":2,"sheet":"a","delimiter":";","on_bad_row":"refuse"}`, "", func(b request.Body) error { return parseDeclared(api.ReadFileAgain, "", "", b) }},
		{"RunLimits", `{"concurrency":1}`, "", func(b request.Body) error { return parseDeclared(api.SetRunLimits, "", "", b) }},
		{"ResultDeletion", `{"ref":"r","status":"ok","dry_run":true}`, "", func(b request.Body) error { return parseDeclared(api.DeleteResults, "", "", b) }},
		{
			"ResultRetry", `{"prism":"p","status":"failed","expect":1,"dry_run":true}`, "",
			func(b request.Body) error { return parseDeclared(api.RetryResults, "", "", b) },
		},
		{
			"DriftChange", `{"watched":true,"version":1}`, "",
			func(b request.Body) error { return parseDeclared(api.SetDrift, "", "", b) },
		},
		{"Retention", `{"days":1}`, "", func(b request.Body) error { return parseDeclared(api.SetRetention, "", "", b) }},
	} {
		t.Run(c.schema+" "+c.only, func(t *testing.T) {
			t.Parallel()
			p := prober{T: t, schemas: raw(t)["components"].(map[string]any)["schemas"].(map[string]any)}
			var body any
			if err := json.Unmarshal([]byte(c.body), &body); err != nil {
				t.Fatal(err)
			}
			p.send = func() error {
				b, err := json.Marshal(body)
				if err != nil {
					t.Fatal(err)
				}
				return c.parse(request.Body{Kind: httpkit.JSON, Bytes: b})
			}
			if err := p.send(); err != nil {
				t.Fatal(err)
			}
			s, set := p.schema(c.schema), func(v any) { body = v }
			if c.only != "" {
				whole := body.(map[string]any)
				s, set = p.follow(s)["properties"].(map[string]any)[c.only].(map[string]any), func(v any) { whole[c.only] = v }
				p.value(c.only, s, whole[c.only], set)
				return
			}
			p.value("body", s, body, set)
		})
	}
}

// prober changes one value of a body at a time.
type prober struct {
	*testing.T
	schemas map[string]any
	send    func() error
}

func (p prober) schema(name string) map[string]any { return p.schemas[name].(map[string]any) }

// follow puts what a schema refers to in its place.
func (p prober) follow(s map[string]any) map[string]any {
	ref, ok := s["$ref"].(string)
	if !ok {
		return s
	}
	all := maps.Clone(p.schema(schemaName(ref)))
	maps.Copy(all, s)
	delete(all, "$ref")
	return p.follow(all)
}

// of is the schema of a value that has one of several, and whether null is another.
func (p prober) of(s map[string]any, v any) (one map[string]any, null bool) {
	s = p.follow(s)
	one = s
	for _, variant := range schemasAt(s, "anyOf") {
		if null = variant["type"] == "null"; !null {
			one = p.follow(variant)
		}
	}
	for _, variant := range schemasAt(s, "oneOf") {
		variant = p.follow(variant)
		kind := within(within(variant, "properties"), "type")
		if sent, _ := v.(map[string]any); kind != nil && kind["const"] == sent["type"] {
			one = variant
		}
	}
	types, _ := one["type"].([]any)
	return one, null || slices.Contains(types, any("null"))
}

func within(of map[string]any, name string) map[string]any {
	m, _ := of[name].(map[string]any)
	return m
}

func schemasAt(s map[string]any, name string) (all []map[string]any) {
	list, _ := s[name].([]any)
	for _, x := range list {
		all = append(all, x.(map[string]any))
	}
	return all
}

// value probes a value and what is in it, and leaves it as it was.
func (p prober) value(at string, s map[string]any, v any, set func(any)) {
	p.Helper()
	s, null := p.of(s, v)
	try := func(v any, refusal string) { p.Helper(); p.try(at, v, set, refusal) }
	if null {
		try(nil, "")
	} else {
		try(nil, anyRefusal)
	}
	switch v := v.(type) {
	case string:
		try(1, "Expected string, received number")
		p.text(at, s, try)
	case float64:
		try("1", "Expected number, received string")
		for _, n := range numbersAt(s, "minimum") {
			try(n, "")
			try(n-1, "Number must be greater than or equal to "+fmt.Sprint(n))
		}
		for _, n := range numbersAt(s, "maximum") {
			try(n, "")
			try(n+1, "Number must be less than or equal to "+strconv.Itoa(int(n)))
		}
		if s["type"] == "integer" {
			try(1.5, "Expected integer, received float")
		}
	case bool:
		try(!v, "")
		try("true", "Expected boolean, received string")
	case []any:
		try(map[string]any{}, "Expected array, received object")
		p.list(at, s, v, try)
		set(v)
		for i := range v {
			p.value(fmt.Sprint(at, ".", i), within(s, "items"), v[i], func(x any) { v[i] = x })
		}
	case map[string]any:
		try([]any{}, "Expected object, received array")
		set(v)
		p.members(at, s, v)
	default:
		p.Fatalf("%s is %v", at, v)
	}
	set(v)
}

func numbersAt(s map[string]any, name string) []float64 {
	n, ok := s[name].(json.Number)
	if !ok {
		return nil
	}
	f, _ := n.Float64()
	return []float64{f}
}

// text probes a string, which must have a limit of some kind.
func (p prober) text(at string, s map[string]any, try func(v any, refusal string)) {
	p.Helper()
	pattern, _ := s["pattern"].(string)
	most := numbersAt(s, "maxLength")
	enum, _ := s["enum"].([]any)
	enum = slices.DeleteFunc(slices.Clone(enum), func(v any) bool { return v == nil })
	for _, n := range most {
		try(strings.Repeat("é", int(n)), "")
		try(strings.Repeat("é", int(n)+1), "String must contain at most "+strconv.Itoa(int(n))+" character(s)")
		if least := numbersAt(s, "minLength"); least == nil {
			try("", "")
		} else {
			try("é", "")
			try("", "String must contain at least "+fmt.Sprint(least[0])+" character(s)")
		}
	}
	switch {
	case strings.HasSuffix(at, ".question") || strings.HasSuffix(at, ".option"):
		try("é", anyRefusal) // the key of another part of the body
	case pattern != "":
		try("é", "must match "+pattern)
	case len(enum) > 0:
		try("é", "Expected '"+strings.Trim(strings.ReplaceAll(fmt.Sprint(enum), " ", "' | '"), "[]")+"'")
	case s["format"] == "uuid":
		try("é", "Invalid uuid")
	case s["const"] != nil:
		try("é", "Expected 'choice' | 'yes_no' | 'scale' | 'tags'")
	case most == nil:
		p.Errorf("%s: the document has no limit for this text", at)
	}
	not := within(s, "not")
	reserved, _ := not["enum"].([]any)
	for _, name := range reserved {
		try(name, "must be unique in a row")
	}
	if not["pattern"] != nil {
		try("0199f3a2-6c1e-7b54-9d0a-3f2b8c7e5a10", "must not be a UUID")
		try("adhoc-1", "must not begin with adhoc-")
	}
}

// list probes how many elements a list has. Copies of the last one, under names of their own, make it longer.
func (p prober) list(at string, s map[string]any, v []any, try func(v any, refusal string)) {
	p.Helper()
	resized := func(n float64) []any {
		list := slices.Clone(v[:min(len(v), int(n))])
		for i := len(list); i < int(n); i++ {
			last, ok := v[len(v)-1].(map[string]any)
			if !ok {
				list = append(list, v[len(v)-1])
				continue
			}
			another := maps.Clone(last)
			for _, name := range []string{"key", "name"} {
				if another[name] != nil {
					another[name] = fmt.Sprint("x", i)
				}
			}
			delete(another, "value") // which must rise: left out, it does
			list = append(list, another)
		}
		return list
	}
	least, most := numbersAt(s, "minItems"), numbersAt(s, "maxItems")
	if least == nil || most == nil {
		p.Fatalf("%s: the document does not say how many", at)
	}
	try(resized(least[0]), "")
	if least[0] > 0 {
		try(resized(least[0]-1), fmt.Sprintf("Array must contain at least %v element(s)", least[0]))
	}
	try(resized(most[0]), "")
	try(resized(most[0]+1), fmt.Sprintf("Array must contain at most %v element(s)", most[0]))
}

// members probes which members an object needs, and each of them.
func (p prober) members(at string, s map[string]any, v map[string]any) {
	p.Helper()
	required, _ := s["required"].([]any)
	not := within(within(s, "if"), "not")
	others := append(schemasAt(not, "anyOf"), not) // each of which makes the members of "then" needless
	if not != nil && !slices.ContainsFunc(others, func(one map[string]any) bool {
		names, ok := one["required"].([]any)
		return ok && v[names[0].(string)] != nil
	}) {
		required, _ = within(s, "then")["required"].([]any)
	}
	for _, one := range schemasAt(s, "oneOf") {
		required = append(required, one["required"].([]any)...)
	}
	all := within(s, "properties")
	for _, name := range slices.Sorted(maps.Keys(v)) {
		of := within(all, name)
		if of == nil {
			if of = within(s, "additionalProperties"); of == nil {
				p.Fatalf("%s.%s is not described", at, name)
			}
		} else {
			old := v[name]
			refusal := ""
			if slices.Contains(required, any(name)) {
				refusal = anyRefusal
			}
			p.try(at+" without "+name, nil, func(any) { delete(v, name) }, refusal)
			v[name] = old
		}
		p.value(at+"."+name, of, v[name], func(x any) { v[name] = x })
	}
}

// try sends the body with another value, which is refused with words unless they are "".
func (p prober) try(at string, v any, set func(any), refusal string) {
	p.Helper()
	set(v)
	err := p.send()
	shown := fmt.Sprint(v)
	if len(shown) > 60 {
		shown = fmt.Sprintf("%.60s… of %d", shown, len(shown))
	}
	switch {
	case refusal == "" && err != nil:
		p.Errorf("%s: the document allows %s, the gateway says %.300s", at, shown, err)
	case refusal != "" && !refused(err, refusal):
		p.Errorf("%s: the document refuses %s, the gateway says %.300v, and not %s", at, shown, err, refusal)
	}
}

// refused says whether the words are one of the problems, to the end.
func refused(err error, words string) bool {
	return err != nil && (words == anyRefusal || strings.Contains(err.Error()+";", words+";"))
}

const anyRefusal = "any refusal"
