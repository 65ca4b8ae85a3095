package contract

import (
	"crypto/sha256"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
)

// HashDefinition is the hash that names a definition between the services, and the length of the definition's JSON in bytes.
// It is computed once, when a definition is loaded. The hash of a definition that has no JSON is zero.
func HashDefinition(d prism.Definition) (hash prism.DefinitionHash, size int) {
	encoded, err := strictjson.Marshal(d)
	if err != nil {
		return prism.DefinitionHash{}, 0
	}
	return sha256.Sum256(encoded), len(encoded)
}
