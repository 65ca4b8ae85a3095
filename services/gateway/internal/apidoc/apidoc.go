// Package apidoc holds the OpenAPI 3.1 document of all of /v1, which is served without a key (spec: openapi-document). The page
// that shows the document to people is the entry docs of web.
//
// openapi.json is kept by hand. The document is the one place that describes a route: the page, and the gateway's test that
// every route is described, follow the document.
package apidoc

import _ "embed"

//go:embed openapi.json
var document []byte

// Document is the OpenAPI document. The caller must not change the document.
func Document() []byte { return document }
