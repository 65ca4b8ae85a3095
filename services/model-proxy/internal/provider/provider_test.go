package provider

import (
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

func TestAFieldCalledContextKeepsItsName(t *testing.T) {
	t.Parallel()
	a := contract.Ask{Context: "c", Fields: []prism.FieldValue{{Key: "context_", Value: "1"}, {Key: "context", Value: "2"}}}
	if got := string(appendInput(nil, a)); got != `{"context__":"c","context_":"1","context":"2"}` {
		t.Error(got)
	}
}

func TestALenientValueOfAnotherShapeSpoilsNothingElse(t *testing.T) {
	t.Parallel()
	type inner struct {
		A int            `json:"a"`
		B map[string]int `json:"b"`
	}
	for raw, ok := range map[string]bool{
		`{"a":1,"b":{"x":2}}`:                   true,
		`{"a":1,"b":{"x":{"y":[1,{}]}},"c":[]}`: false,
		`{"b":{"x":2,"y":"z","w":3},"a":1}`:     false,
		`{"a":"1"}`:                             false,
		`{"a":[[1],{"a":2}],"b":{"x":2}}`:       false,
		`[{"a":1}]`:                             false,
		`"text"`:                                false,
		`7`:                                     false,
		`true`:                                  false,
		`null`:                                  true,
		`{"a":99999999999999999999,"b":{"x":[1,2]}}`:  false,
		`{"b":[1,2,{"x":1}],"a":{"b":{"x":[[[1]]]}}}`: false,
	} {
		var v struct {
			Before int            `json:"before"`
			Value  Lenient[inner] `json:"value"`
			List   []Lenient[int] `json:"list"`
			After  int            `json:"after"`
		}
		text := `{"before":1,"value":` + raw + `,"list":[1,` + raw + `,3],"after":2}`
		if !Decode([]byte(text), &v) || v.Before != 1 || v.After != 2 || len(v.List) != 3 || !v.List[0].OK || v.List[2].Value != 3 {
			t.Errorf("%s: %+v", raw, v)
		}
		if v.Value.OK != ok || !ok && (v.Value.Value.A != 0 || v.Value.Value.B != nil) {
			t.Errorf("%s: %+v", raw, v.Value)
		}
		for _, broken := range []string{text[:len(text)-1], text + "x", strings.Replace(text, `"after"`, `"before"`, 1)} {
			if Decode([]byte(broken), &v) {
				t.Errorf("%s was read", broken)
			}
		}
	}
}

func TestNumbersAreReadWithoutWhatIsNone(t *testing.T) {
	t.Parallel()
	var v struct {
		N     Numbers `json:"n"`
		After int     `json:"after"`
	}
	if !Decode([]byte(`{"n":{"a":0.5,"b":"1","c":null,"d":{"a":[1]},"e":-1e2,"\u0066":1},"after":2}`), &v) ||
		len(v.N) != 3 || v.N["a"] != 0.5 || v.N["e"] != -100 || v.N["f"] != 1 || v.After != 2 {
		t.Errorf("got %+v", v)
	}
	for _, broken := range []string{`{"n":{"a":1,"a":2}}`, `{"n":{"a":1}`, `{"n":{"a"}}`, `{"n":{"a":}}`, `{"n":{1:2}}`, `{"n":{"a":01}}`} {
		if Decode([]byte(broken), &v) {
			t.Errorf("%s was read", broken)
		}
	}
}

// spec: call-of-a-model
func TestACountIsAWholeNumberInWhateverForm(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]Count{
		"90": {90, true}, "90.0": {90, true}, "9e1": {90, true}, "0": {0, true}, "-0": {0, true}, "1e12": {1e12, true},
		"null": {}, "-1": {}, "90.5": {}, "1000000000001": {}, "1e999": {}, `"90"`: {}, "true": {}, "[90]": {}, "{}": {},
	} {
		v := struct {
			N Count `json:"n"`
		}{Count{7, true}}
		if !Decode([]byte(`{"n":`+raw+`}`), &v) || v.N != want {
			t.Errorf("%s is %+v, want %+v", raw, v.N, want)
		}
	}
}

func TestTemplatesAreKeptByHashWithinABound(t *testing.T) {
	t.Parallel()
	encoded := 0
	of := func(text string) func() []template {
		return func() []template { encoded++; return []template{{before: []byte(text)}} }
	}
	kept := templates{of: map[prism.DefinitionHash][]template{}}
	get := func(hash byte, text string) {
		t.Helper()
		if got := kept.get(prism.DefinitionHash{hash}, of(text)); string(got[0].before) != text {
			t.Errorf("hash %d has %q", hash, got[0].before)
		}
	}
	for range 2 {
		get(1, "one")
		get(2, "two")
	}
	if encoded != 2 {
		t.Errorf("two definitions were encoded %d times", encoded)
	}
	get(0, "of no hash")
	get(0, "of none either")
	get(3, strings.Repeat("x", maxKept))
	get(4, "four")
	if len(kept.of) != 1 || kept.bytes > 1000 {
		t.Errorf("%d definitions, %d bytes are kept", len(kept.of), kept.bytes)
	}
}
