package provider

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

func TestAFieldCalledContextKeepsItsName(t *testing.T) {
	t.Parallel()
	a := contract.Ask{Context: "c", Fields: []prism.FieldValue{{Key: "context_", Value: "1"}, {Key: "context", Value: "2"}}}
	if got := string(appendInput(nil, a, nil)); got != `{"context__":"c","context_":"1","context":"2"}` {
		t.Error(got)
	}
}

// spec: lenient-replies
func TestAValueOfAnotherShapeSpoilsNothingElse(t *testing.T) {
	t.Parallel()
	type inner struct {
		A Number       `json:"a"`
		B Dict[Number] `json:"b"`
		C Text         `json:"c"`
	}
	for raw, want := range map[string]inner{
		`{"a":1,"b":{"x":2},"c":"d"}`:           {A: Number{1, true, false}, B: Dict[Number]{"x": {2, true, false}}, C: "d"},
		`{"a":1,"a":{"y":0},"b":{"x":2,"x":3}}`: {B: Dict[Number]{"x": {3, true, false}}},
		`{"b":{"x":2},"b":{},"c":"d","c":7}`:    {B: Dict[Number]{}},
		`{"a":null,"b":[{"x":2}],"c":{}}`:       {A: Number{Null: true}, B: Dict[Number]{}},
		`{"a":"1","c":["d"]}`:                   {},
		`[{"a":1}]`:                             {},
		`"text"`:                                {},
		`7`:                                     {},
		`null`:                                  {},
		`{"a":-1e999}`:                          {A: Number{math.Inf(-1), true, false}},
		`{"a":NaN,"c":"NaN,\"-Infinity"}`:       {A: Number{math.Inf(1), true, false}, C: `NaN,"-Infinity`},
		`{"a":-Infinity}`:                       {A: Number{math.Inf(-1), true, false}},
	} {
		var v struct {
			Before Number               `json:"before"`
			Value  Members[inner]       `json:"value"`
			List   List[Members[inner]] `json:"list"`
			First  First[Number]        `json:"first"`
			After  Number               `json:"after"`
		}
		text := `{"before":1,"value":` + raw + `,"list":[7,` + raw + `,3],"first":[1,` + raw + `],"after":2}`
		if !Decode([]byte(text), &v) || v.Before.Value != 1 || v.After.Value != 2 || len(v.List) != 3 || v.First.Value.Value != 1 {
			t.Errorf("%s: %+v", raw, v)
		}
		if !reflect.DeepEqual(v.Value.Value, want) || !reflect.DeepEqual(v.List[1].Value, want) {
			t.Errorf("%s: %+v", raw, v.Value)
		}
		for _, broken := range []string{text[:len(text)-1], text + "x", strings.Replace(text, `"after":2`, `"after":nan`, 1)} {
			if Decode([]byte(broken), &v) {
				t.Errorf("%s was read", broken)
			}
		}
	}
}

func TestOnlyTheFirstPartsAreKept(t *testing.T) {
	t.Parallel()
	var v struct {
		D Dict[Number] `json:"d"`
		N Numbers      `json:"n"`
		L List[Number] `json:"l"`
	}
	var members, elements []string
	for i := range 10 * maxParts {
		members, elements = append(members, fmt.Sprintf(`"%d":%d`, i, i)), append(elements, strconv.Itoa(i))
	}
	object := `{` + strings.Join(members, ",") + `}`
	if !Decode([]byte(`{"d":`+object+`,"n":`+object+`,"l":[`+strings.Join(elements, ",")+`]}`), &v) ||
		len(v.D) != maxParts || len(v.N) != maxParts || len(v.L) != maxParts || v.L[255].Value != 255 || v.N["255"] != 255 {
		t.Errorf("%d, %d and %d parts", len(v.D), len(v.N), len(v.L))
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
	for _, broken := range []string{`{"n":{"a":1}`, `{"n":{"a"}}`, `{"n":{"a":}}`, `{"n":{1:2}}`, `{"n":{"a":01}}`} {
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

// spec: price-of-a-call
func TestACostIsExactToTwelveDecimals(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]Cost{
		"0.00014": {140_000_000, true}, "1.4e-05": {14_000_000, true}, "0.000000000001": {1, true}, "0": {0, true}, "1000": {1e15, true},
		"0.30000000000000004": {300_000_000_000, true}, "1e-999": {0, true},
		"null": {}, "-1": {}, "1000.1": {}, "1e999": {}, `"0.1"`: {}, "true": {}, "[1]": {}, "{}": {},
	} {
		v := struct {
			C Cost `json:"cost"`
		}{Cost{7, true}}
		if !Decode([]byte(`{"cost":`+raw+`}`), &v) || v.C != want {
			t.Errorf("%s is %+v, want %+v", raw, v.C, want)
		}
	}
}

func TestTemplatesAreKeptByHashWithinABound(t *testing.T) {
	t.Parallel()
	encoded := 0
	of := func(text string) func() []template {
		return func() []template { encoded++; return []template{{before: []byte(text)}} }
	}
	kept := templates{byDefinition: map[prism.DefinitionHash][]template{}}
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
	if len(kept.byDefinition) != 1 || kept.bytes > 1000 {
		t.Errorf("%d definitions, %d bytes are kept", len(kept.byDefinition), kept.bytes)
	}
}
