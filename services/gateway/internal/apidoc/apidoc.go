// Package apidoc holds the OpenAPI 3.1 document of all of /v1, and the page that shows the document to people. The page's
// script fetches the document and makes the page in the browser. Both are served without a key, and the page loads nothing
// from another server (spec: openapi-document, docs-page).
//
// openapi.json is kept by hand. The document is the one place that describes a route: the page, and the gateway's test that
// every route is described, follow the document.
package apidoc

import _ "embed"

// PageCSP is the Content-Security-Policy of the page's files. The policy allows the style, the script and the calls of the
// server that the page comes from, and nothing else: no other address, no inline script or style, no frame, and no form
// that the browser sends by itself.
const PageCSP = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

var (
	//go:embed openapi.json
	document []byte
	//go:embed page.html
	page []byte
	//go:embed page.css
	style []byte
	//go:embed page.js
	script []byte
)

// File is a file of the page, with the path and the media type that the file is served with.
type File struct {
	Path, MediaType string
	Content         []byte
}

// Document is the OpenAPI document. The caller must not change the document.
func Document() []byte { return document }

// Page is the page: its HTML, its style and its script. The caller must not change their contents.
func Page() []File {
	return []File{
		{"/docs", "text/html; charset=utf-8", page},
		{"/docs/page.css", "text/css; charset=utf-8", style},
		{"/docs/page.js", "text/javascript; charset=utf-8", script},
	}
}
