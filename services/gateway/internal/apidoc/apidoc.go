// Package apidoc describes the API: the OpenAPI 3.1 document of all of /v1, and a readable page made from it. Both are
// served without a key, and neither loads anything from elsewhere
// (spec: openapi-document, docs-page).
//
// openapi.json is kept by hand. It is the one place that describes a route: the page, and the gateway's test that every
// route is described, follow it.
package apidoc

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed openapi.json
var source []byte

// PageCSP is the Content-Security-Policy that Page is sent with. It allows the page's own style and script, by their
// hashes, and calls of that script to the server that the page comes from, to try operations. It allows nothing else: no
// other address, no frame, and no form that the browser sends by itself.
const PageCSP = "default-src 'none'; " +
	"style-src 'sha256-wqCt7KhuzTq7rXHJQRUjZQ/Z5nbGApUilz2UT1x0PMs='; " +
	"script-src 'sha256-dFr+GP/HVsdcuIYzvFEgaCTigCFxoOuV6USW7NcKPUM='; " +
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Document is the OpenAPI document. The caller must not change it.
func Document() []byte { return source }

// Page is the document as a page for people, in HTML. It is made at first use. The caller must not change it.
func Page() []byte { return page() }

var page = sync.OnceValue(func() []byte {
	// Both come from embedded files that the tests have read.
	html, err := render(mustParse(source))
	if err != nil {
		panic("apidoc: " + err.Error())
	}
	return html
})

// Operation is a route that the document describes. Path holds its parameters in braces.
type Operation struct {
	Method string
	Path   string
	ID     string
}

// Operations are all described routes in the order of the document.
func Operations() []Operation {
	var ops []Operation
	for _, path := range mustParse(source).Paths {
		for _, op := range path.Value {
			ops = append(ops, Operation{strings.ToUpper(op.Name), path.Name, op.Value.OperationID})
		}
	}
	return ops
}

func mustParse(b []byte) *document {
	d, err := parse(b)
	if err != nil {
		panic("apidoc: " + err.Error())
	}
	return d
}
