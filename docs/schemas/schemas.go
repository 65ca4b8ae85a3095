// Package schemas has the schemas of the files that people write.
package schemas

import _ "embed"

// Prism is the JSON schema of a prism as a file defines it.
//
//go:embed prism.schema.json
var Prism []byte
