package api

import "github.com/prism-results/prism/pkg/prism"

// ReadMembers reads an object in the order of its members; null is a nil list. member is where the name and the value of one go.
func ReadMembers[T any](b []byte, member func(*T) (name *string, value any)) (list []T, err error) {
	return prism.ReadMembers(b, member)
}

// WriteMembers writes an object in the order of the list; a nil list is null.
func WriteMembers[T any](list []T, member func(*T) (name *string, value any)) ([]byte, error) {
	return prism.WriteMembers(list, member)
}
