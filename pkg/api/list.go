package api

import "encoding/json"

// PageRequest is which part of a list to read. Each list declares the member cursor beside it, with its own tag list.
type PageRequest struct {
	Limit int `query:"limit" min:"1" max:"100" default:"50"`
}

// Page is a part of a list.
type Page[T any] struct {
	// The items of this page.
	Data []T `json:"data"`
	// Send it as `cursor` to read the next page. Null on the last page.
	NextCursor *string `json:"next_cursor"`
}

// Nullable is a list that is null in JSON when it is nil.
type Nullable[T any] []T

// MarshalJSON writes the list or null.
func (n Nullable[T]) MarshalJSON() ([]byte, error) { return json.Marshal([]T(n)) }
