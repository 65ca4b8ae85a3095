package prism_test

import (
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
)

// spec: adhoc-call
func TestSlugsOfAdHocPrisms(t *testing.T) {
	t.Parallel()
	slug := prism.AdHocSlug(prism.DefinitionHash{0: 255, 19: 1, 20: 9})
	if slug != "adhoc-74aaaaaaaaaaaaaaaaaaaaaaaaaaaaab" {
		t.Error(slug)
	}
	for _, s := range []string{"", "adhoc-", slug[1:], slug + "a", slug[:len(slug)-1], strings.ToUpper(slug), strings.Replace(slug, "7", "1", 1)} {
		if prism.IsAdHocSlug(s) {
			t.Errorf("%s is one", s)
		}
	}
	if !prism.IsAdHocSlug(slug) {
		t.Errorf("%s is none", slug)
	}
}
