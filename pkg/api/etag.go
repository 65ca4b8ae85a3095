package api

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"
)

// ETag is the strong entity tag of a response body (RFC 9110, 8.8.3): 128 bits of its SHA-256.
func ETag(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`
}

// IfMatch is the condition of a change: the entity tags of an If-Match header as they were sent, or AnyTag. Nil is no condition.
type IfMatch []string

// AnyTag matches whatever exists.
const AnyTag = "*"

// Holds tells whether a prism with this body is one that the caller has seen. Weak tags match nothing (RFC 9110, 13.1.1).
func (m IfMatch) Holds(body []byte) bool {
	return m == nil || slices.Contains(m, AnyTag) || slices.Contains(m, ETag(body))
}
