package storetest

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/prism-results/prism/pkg/prism"
)

// short prints a value and cuts it to a readable length.
func short(v any) string {
	s := fmt.Sprintf("%+v", v)
	if r := reflect.ValueOf(v); r.Kind() == reflect.Pointer && !r.IsNil() {
		s = fmt.Sprintf("&%+v", r.Elem().Interface())
	}
	if len(s) > 1000 {
		s = s[:1000] + "…"
	}
	return s
}

// differs is same for goroutines, which can't end a test.
func differs(got, want prism.Result) error {
	if reflect.DeepEqual(got, want) {
		return nil
	}
	return errors.New("got " + short(got) + ", want " + short(want))
}
