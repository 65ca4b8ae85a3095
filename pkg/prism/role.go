package prism

import "slices"

// Role says what an API key or a member may do (spec: roles).
type Role string

// The roles.
const (
	Owner    Role = "owner"
	Editor   Role = "editor"
	Caller   Role = "caller"
	Labeller Role = "labeller"
	Reader   Role = "reader"
)

// Roles are all roles.
func Roles() []Role { return []Role{Owner, Editor, Caller, Labeller, Reader} }

// Values are all roles as texts.
func (Role) Values() []string { return texts(Roles()) }

func texts[S ~string](values []S) (all []string) {
	for _, v := range values {
		all = append(all, string(v))
	}
	return all
}

// Includes tells whether r may do all that other may. A caller and a labeller do not include each other. A role that this
// release does not know may do nothing.
func (r Role) Includes(other Role) bool {
	switch r {
	case Owner:
		return other.known()
	case Editor:
		return other.known() && other != Owner
	case Caller, Labeller, Reader:
		return other == r || other == Reader
	}
	return false
}

func (r Role) known() bool { return slices.Contains(Roles(), r) }
