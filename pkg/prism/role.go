package prism

import "slices"

// Role says what an API key may do (spec: roles).
type Role string

// The roles.
const (
	Owner  Role = "owner"
	Editor Role = "editor"
	Caller Role = "caller"
	Reader Role = "reader"
)

// Roles are all roles. Each of them may do all that the next one may.
func Roles() []Role { return []Role{Owner, Editor, Caller, Reader} }

// Includes tells whether r may do all that other may. A role that this release does not know may do nothing.
func (r Role) Includes(other Role) bool {
	i := slices.Index(Roles(), r)
	return i >= 0 && i <= slices.Index(Roles(), other)
}
