package client

import (
	"encoding/json"
	"reflect"
	"testing"
)

// TestMeasuresAreWrittenAsTheyAreRead decodes the examples of the document: booleans stay booleans, and null stays null.
func TestMeasuresAreWrittenAsTheyAreRead(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]any{
		"QualityExample": &Quality{}, "ThresholdsExample": &Thresholds{}, "ComparisonExample": &Comparison{},
	} {
		example := openAPI(t).Components.Examples[name].Value
		if err := json.Unmarshal(example, v); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var got, want any
		if json.Unmarshal(text, &got) != nil || json.Unmarshal(example, &want) != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, text, example)
		}
	}
}
