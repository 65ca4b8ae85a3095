package client

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// helpers are the methods that make several calls, or one call again until it succeeds.
var helpers = []string{
	"Results", "Prisms", "Versions", "Keys", "Members", "Audit", "Runs", "Files", "Labels", "LabelQueue", "Calibrations", "Changes", "Views", "Comments", "Assignees", "Webhooks", "Deliveries", // the pages of a list
	"CreateResults", "UploadFile", "RunFile", "WatchRun",
}

// TestAnOperationHasOneMethod holds that an operation is called by the method of its name alone, and that options are what each
// method takes.
func TestAnOperationHasOneMethod(t *testing.T) {
	t.Parallel()
	typ := reflect.TypeFor[*Client]()
	for method := range typ.Methods() {
		_, operation := everything[strings.ToLower(method.Name[:1])+method.Name[1:]]
		if operation == slices.Contains(helpers, method.Name) {
			t.Errorf("%s is neither the method of an operation nor a helper, or both", method.Name)
		}
		takes := method.Type.NumIn() > 0 && method.Type.In(method.Type.NumIn()-1) == reflect.TypeFor[[]CallOption]()
		if operation && !takes {
			t.Errorf("%s takes no options", method.Name)
		}
	}
	var source []byte
	for _, name := range sources(t) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		source = append(source, text...)
	}
	for operation := range everything {
		declared := "declared(api." + strings.ToUpper(operation[:1]) + operation[1:]
		if n := bytes.Count(source, []byte(declared+",")) + bytes.Count(source, []byte(declared+")")); n != 1 {
			t.Errorf("%s is requested in %d places", operation, n)
		}
	}
}

// sources are the files of the package without its tests.
func sources(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
}
