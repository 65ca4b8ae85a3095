// Package api declares each operation of /v1 once: its name, method and path, the least role that may call it, the class of its place,
// its status and time limit, the errors that it can return, and the types of its request and response, whose members have their documentation and
// their limits beside them.
//
// The declaration is all that the plumbing needs to know of an operation. The gateway mounts and parses it, results checks its role
// and finds its handler by it, the wire carries it, the OpenAPI document, the tables of the specification and the models of the
// Python client are generated from it, the Go client uses its types, and tests iterate over it (see Operations).
//
// # Members
//
// A request type is a struct. Each field is a member of the path, the query, a header or the JSON body, in the order in which
// problems are listed (spec: validation-order):
//
//	type SetRetentionRequest struct {
//		Prism prism.Ref `path:"prism"`
//		Retention
//	}
//
//	// Retention is how long results are kept.
//	type Retention struct {
//		// The days, or null to keep results.
//		Days *int32 `json:"days" min:"1" max:"365"`
//	}
//
// The embedded struct is the body; its name is that of the schema. A body member is required, unless its tag has omitzero: then an
// absent member and null are the zero value. A pointer without omitzero is a required member that may be null. Parameters of the
// query are optional, unless they have the tag required.
//
// The limits of a member are tags:
//
//	min, max   of a number its value, of a string its code points, of a list its elements, of a list of lists its values
//	each       of a list of strings the code points of each at most
//	above      of a number what it must be greater than
//	enum       the values of a string, separated by commas; a type with the method Values has them there
//	except     a value of a type that the member never has
//	form       the pattern of a string: see Forms
//	default    the value of an absent parameter of the query or member
//	reserved   of a name: it is none of prism.ReservedNames
//	unique     of a list: no element is there twice
//	list       of a cursor: the list that it belongs to (spec: page-cursor)
//	null       of a member of a response: it may be null, though its type is no pointer or it has omitzero
//	           zero, of an optional pointer of a request: null points to zero, and what is not sent is nil
//	empty      of a parameter of the query: it may be sent empty, which means something
//	parameter  of a parameter: its component of the OpenAPI document, which is kept by hand
//	notnull    of an optional member of a request: it must not be null
//	without    of a member: it must not be sent beside this one, and a required one must be sent without it
//	of         in a type with variants: a member that only objects with this value of the member type have
//	unless     of an optional member: it is required unless this boolean member is true
//
// Members whose rules a tag cannot say are read together, by a reader of their struct in the gateway's package request. Definitions
// are: their types are those of package prism.
//
// A rule over several members is the method Problems of the struct. It runs after the members were read. One whose problem comes
// before those of the members is the method Missing, which is told which members were sent. A type that is sent with exactly one of some
// members has them in the method OneOf.
package api
