package main

import (
	"fmt"
	"slices"

	"github.com/prism-results/prism/pkg/api"
)

// withoutForeign is a document without the operations in formats of others, of which Prism's clients have no method, and without the
// schemas that they alone refer to.
func withoutForeign(document object) object {
	foreign := func(operation object) bool {
		op, ok := api.Find(fmt.Sprint(operation.get("operationId")))
		return ok && op.Declared().Foreign
	}
	schemas := document.object("components").object("schemas")
	used := map[bool]map[string]bool{false: {}, true: {}} // by whether the operations are foreign
	var reach func(used map[string]bool, part any)
	reach = func(used map[string]bool, part any) {
		references(part, func(name string) {
			if !used[name] {
				used[name] = true
				reach(used, schemas.get(name))
			}
		})
	}
	for _, operation := range operationsIn(document) {
		reach(used[foreign(operation)], operation)
	}
	paths := document.object("paths")
	paths = slices.DeleteFunc(slices.Clone(paths), func(at member) bool {
		return slices.ContainsFunc(operationsIn(object{{"paths", object{at}}}), foreign)
	})
	left := slices.DeleteFunc(slices.Clone(schemas), func(s member) bool { return used[true][s.name] && !used[false][s.name] })
	return document.with("paths", paths).with("components", document.object("components").with("schemas", left))
}
