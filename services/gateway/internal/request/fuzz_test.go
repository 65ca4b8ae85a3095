package request_test

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/gateway/internal/request"
)

// FuzzParseCreate compares parseCreate with a slow implementation of the rules that uses the standard library and
// nothing of this package: the same answer to every request, and the same values.
func FuzzParseCreate(f *testing.F) {
	for _, body := range []string{
		`{"fields":{"a":"x","b":"\u0000","a":1},"version":1.5}`,
		`{"text":"\ud83d\ude00\ud800","ref":null,"idempotency_key":"","context":"c"}`,
		"\ufeff" + ` {"te\u0078t":"x" , "version" : 1e0, "z":[{},[1e999,-0]]} `,
		`{"fields":{"\ud800":1,"a":null},"text":"x","version":-1.5}`,
		`{"fields":[],"text":false,"version":"1","ref":1,"context":null}`,
		`[[[[`, `{"a":`, `nul`, ``, ` 1e400 `, `"\ud800"`, "{\"text\":\"\xff\"}", `{"text":"x"}x`,
		`{"fields":{"1":"","2":"","3":"","4":"","5":"","6":"","7":"","8":"","9":"","a":"","b":"","c":"","d":"","e":"","f":"","g":"","h":"","a":2,"h":3}}`,
	} {
		f.Add([]byte(body), uint8(httpkit.JSON), "triage", "json")
	}
	f.Add([]byte("x"), uint8(httpkit.Text), "a\x00", "yaml")
	f.Add([]byte(nil), uint8(httpkit.Absent), anID, "")
	f.Fuzz(func(t *testing.T, body []byte, kind uint8, prismParam, format string) {
		b := request.Body{Kind: httpkit.Kind(kind % 3), Bytes: body}
		got, err := parsedCreate(prismParam, []string{format}, b)
		want, list := slowCreate(b, prismParam, format)
		if p := problems(t, err); p != list {
			t.Fatalf("body %q\ngot  %q\nwant %q", body, p, list)
		}
		if err == nil && !reflect.DeepEqual(got, want) {
			t.Fatalf("body %q\ngot  %+v\nwant %+v", body, got, want)
		}
	})
}

// slowCreate is the request, or the problems of it.
func slowCreate(b request.Body, prismParam, format string) (api.CreateResultRequest, string) {
	var list []string
	add := func(path, text string) { list = append(list, path+": "+text) }

	body := bytes.TrimPrefix(b.Bytes, []byte("\xef\xbb\xbf"))
	if b.Kind == httpkit.JSON && (!json.Valid(body) || !utf8.Valid(body) || slowDepth(body) > 512) ||
		!utf8.ValidString(prismParam) {
		return api.CreateResultRequest{}, malformed
	}
	if strings.Contains(prismParam, "\x00") {
		add("prism", unclean)
	}
	c := api.CreateResultRequest{PrismRequest: api.PrismRequest{Prism: prism.ParseRef(prismParam)}, Format: contract.JSON}
	switch format {
	case "json", "raw", "csv", "tsv", "jsonl":
		c.Format = contract.Format(format)
	case "":
	default:
		add("format", "Expected 'json' | 'raw' | 'csv' | 'tsv' | 'jsonl'")
	}

	str := func(path string, raw json.RawMessage, least, most int) string {
		if t := slowType(raw); t != "string" {
			add(path, "Expected string, received "+t)
			return ""
		}
		s, clean := slowString(raw)
		if len([]rune(s)) > most {
			add(path, "String must contain at most "+strconv.Itoa(most)+" character(s)")
		}
		if len([]rune(s)) < least {
			add(path, "String must contain at least 1 character(s)")
		}
		if !clean {
			add(path, unclean)
		}
		return s
	}

	switch {
	case b.Kind == httpkit.Absent:
		add("body", "Required")
	case b.Kind == httpkit.Text:
		add("body", "Expected object, received string")
	case slowType(body) != "object":
		add("body", "Expected object, received "+slowType(body))
	default:
		sent := map[string]json.RawMessage{}
		for _, m := range slowMembers(body) {
			sent[m.name] = m.raw
		}
		fields, text := sent["fields"], sent["text"]
		if (fields == nil) == (text == nil) &&
			(fields == nil || slowType(fields) == "object") && (text == nil || slowType(text) == "string") {
			add("fields", "send either fields or text")
		}
		if fields != nil && slowType(fields) != "object" {
			add("fields", "Expected object, received "+slowType(fields))
		} else if fields != nil {
			c.Fields = []prism.FieldValue{}
			members := slowMembers(fields)
			told := false
			for i, m := range members {
				if !m.clean {
					if !told {
						add("fields", unclean)
					}
					told = true
					continue
				}
				first, last := i, m
				for j, other := range members {
					if other.clean && other.name == m.name {
						first, last = min(first, j), other
					}
				}
				if first == i {
					value := str("fields."+m.name, last.raw, 0, 100_000)
					c.Fields = append(c.Fields, prism.FieldValue{Key: m.name, Value: value})
				}
			}
		}
		if text != nil {
			s := str("text", text, 0, 100_000)
			c.Text = &s
		}
		if raw := sent["version"]; raw != nil {
			if t := slowType(raw); t != "number" {
				add("version", "Expected number, received "+t)
			} else {
				n, _ := strconv.ParseFloat(string(raw), 64)
				if n != math.Floor(n) || math.Abs(n) > math.MaxFloat64 {
					add("version", "Expected integer, received float")
				}
				if n < 1 {
					add("version", "Number must be greater than or equal to 1")
				}
				if n > 2147483647 {
					add("version", "Number must be less than or equal to 2147483647")
				} else {
					c.Version = int32(n)
				}
			}
		}
		if raw := sent["idempotency_key"]; raw != nil {
			c.IdempotencyKey = str("idempotency_key", raw, 1, 200)
		}
		if raw := sent["ref"]; raw != nil && slowType(raw) != "null" {
			s := str("ref", raw, 0, 200)
			c.Ref = &s
		}
		if raw := sent["context"]; raw != nil {
			c.Context = str("context", raw, 0, 100_000)
		}
	}
	return c, strings.Join(list, "; ")
}

type slowMember struct {
	name  string
	clean bool
	raw   json.RawMessage
}

// slowMembers are the members of an object in the order sent, duplicates too.
func slowMembers(object []byte) []slowMember {
	d := json.NewDecoder(bytes.NewReader(object))
	d.UseNumber()
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	_, err := d.Token()
	must(err)
	var members []slowMember
	for d.More() {
		var m slowMember
		before := d.InputOffset()
		_, err = d.Token()
		must(err)
		name := object[before:d.InputOffset()]
		m.name, m.clean = slowString(name[bytes.IndexByte(name, '"'):])
		must(d.Decode(&m.raw))
		members = append(members, m)
	}
	return members
}

func slowDepth(body []byte) (deepest int) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	depth := 0
	for {
		t, err := d.Token()
		if err != nil {
			return deepest
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
			deepest = max(deepest, depth)
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
}

func slowType(raw []byte) string {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		panic(err)
	}
	switch v.(type) {
	case string:
		return "string"
	case json.Number:
		return "number"
	case bool:
		return "boolean"
	case nil:
		return "null"
	case []any:
		return "array"
	default:
		return "object"
	}
}

// slowString reads a JSON string as the UTF-16 that JavaScript would hold.
func slowString(raw []byte) (s string, clean bool) {
	var units []uint16
	in := []rune(string(raw[1 : len(raw)-1]))
	for i := 0; i < len(in); i++ {
		switch {
		case in[i] != '\\':
			units = append(units, utf16.Encode(in[i:i+1])...)
		case in[i+1] == 'u':
			n, err := strconv.ParseUint(string(in[i+2:i+6]), 16, 16)
			if err != nil {
				panic(err)
			}
			units = append(units, uint16(n))
			i += 5
		default:
			units = append(units, uint16(map[rune]rune{
				'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
			}[in[i+1]]))
			i++
		}
	}
	clean = true
	for i := 0; i < len(units); i++ {
		high, low := units[i] >= 0xd800 && units[i] < 0xdc00, units[i] >= 0xdc00 && units[i] < 0xe000
		switch {
		case units[i] == 0, low:
			clean = false
		case high && i+1 < len(units) && units[i+1] >= 0xdc00 && units[i+1] < 0xe000:
			i++
		case high:
			clean = false
		}
	}
	return string(utf16.Decode(units)), clean
}

// FuzzParseNewPrism looks for panics, and for definitions that are accepted and not valid.
func FuzzParseNewPrism(f *testing.F) {
	f.Add([]byte(edit()))
	f.Add([]byte(edit("lens", nil)))
	f.Add([]byte(`{"slug":"a","fields":[{"key":"x"}],"questions":[{"key":"q","type":"scale","text":"t","levels":[{},{"value":1e400}]}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		p, err := parsed(api.CreatePrism, request.Source{Body: request.Body{Kind: httpkit.JSON, Bytes: body}})
		if problems(t, err) != "" {
			return
		}
		if n := len(p.Fields); n < 1 || n > 50 {
			t.Fatalf("%d fields", n)
		}
		if n := len(p.Questions); n < 1 || n > 64 {
			t.Fatalf("%d questions", n)
		}
		if n := prism.CountMembers(p.Questions); n > 2000 {
			t.Fatalf("%d options and levels", n)
		}
		for _, q := range p.Questions {
			keys := q.AnswerKeys()
			switch n := len(keys); {
			case q.Key == "", q.Text == "",
				q.Type == prism.Choice && (n < 2 || n > 255 || len(q.Levels) > 0),
				q.Type == prism.Scale && (n < 2 || n > 10 || len(q.Options) > 0),
				q.Type == prism.YesNo && (len(q.Options) > 0 || len(q.Levels) > 0):
				t.Fatalf("question %+v", q)
			}
			unique := map[string]bool{}
			for _, k := range keys {
				unique[k] = true
			}
			groups := map[string]bool{}
			for _, o := range q.Options {
				groups[o.Group] = true
			}
			if delete(groups, ""); len(groups) > 32 {
				t.Fatalf("groups %v", groups)
			}
			if len(unique) != len(keys) {
				t.Fatalf("keys %q", keys)
			}
			for i := 1; i < len(q.Levels); i++ {
				if !(*q.Levels[i].Value > *q.Levels[i-1].Value) {
					t.Fatalf("levels %v", q.Levels)
				}
			}
		}
	})
}
