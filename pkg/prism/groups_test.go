package prism_test

import (
	"reflect"
	"strconv"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
)

// spec: question-choice
func TestTheMostOptionsAreThoseOfTheDeclaration(t *testing.T) {
	t.Parallel()
	options, _ := reflect.TypeFor[prism.Question]().FieldByName("Options")
	if options.Tag.Get("max") != strconv.Itoa(prism.MaxOptions) {
		t.Errorf("%s options are declared, and %d are the most", options.Tag.Get("max"), prism.MaxOptions)
	}
}
