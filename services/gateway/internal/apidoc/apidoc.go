// Package apidoc holds the OpenAPI 3.1 document of all of /v1, which is served without a key (spec: openapi-document). The page
// that shows the document to people is the entry docs of web.
//
// openapi.json is generated, by make api: from the declarations of package api, and from base.json, which has the prose of each
// operation, the examples, and what no Go type says.
package apidoc

import _ "embed"

//go:embed openapi.json
var document []byte

// Document is the OpenAPI document. The caller must not change the document.
func Document() []byte { return document }
