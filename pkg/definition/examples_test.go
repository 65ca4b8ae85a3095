package definition_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/definition"
)

const withExamples = `slug: s
fields:
  - key: message
questions:
  - key: topic
    type: choice
    text: What?
    options:
      - key: a
        label: A
      - key: b
        label: B
  - key: upset
    type: yes_no
    text: Upset?
examples:
  - fields:
      message: "true"
    answers:
      topic: a
      upset: true
    result_id: "0199f3a2-6c1e-7b54-9d0a-3f2b8c7e5a10"
  - fields:
      message: Where is it?
    answers:
      topic: b
`

// spec: version-examples
func TestExamplesOfAFileAreReadAndWritten(t *testing.T) {
	t.Parallel()
	files, err := definition.Decode("f.yaml", []byte(withExamples))
	if err != nil {
		t.Fatal(err)
	}
	p := files[0].Prism
	if len(p.Examples) != 2 || string(p.Examples[0].Answers[1].Value) != "true" || p.Examples[0].Fields[0].Value != "true" ||
		p.Examples[0].Result.IsZero() || string(p.Examples[1].Answers[0].Value) != `"b"` {
		t.Errorf("got %+v", p.Examples)
	}
	again, err := definition.Decode("g.yaml", []byte(definition.YAML(p)))
	if err != nil || !reflect.DeepEqual(again[0].Prism.Examples, p.Examples) {
		t.Errorf("got %+v, %v of\n%s", again, err, definition.YAML(p))
	}
	if err := definition.NewChecker().Check(files[0]); err != nil {
		t.Error(err)
	}
	_, err = definition.Decode("h.yaml", []byte(strings.Replace(withExamples, "0199f3a2-6c1e-7b54-9d0a-3f2b8c7e5a10", "x", 1)))
	if err == nil || !strings.Contains(err.Error(), "h.yaml:22") {
		t.Errorf("no id: %v", err)
	}
	of := definition.FromPrism(api.Prism{Version: api.Version{Examples: []api.Example{{}, p.Examples[1]}}})
	if len(of.Examples) != 1 {
		t.Errorf("an emptied example is kept: %+v", of.Examples)
	}
}
