package prism

// Claim is a claim of a provider of OpenID Connect, and a value that it has or that is one of its values.
type Claim struct {
	// The claim, such as `groups`.
	Name string `json:"name" min:"1" max:"200"`
	// The value.
	Value string `json:"value" min:"1" max:"200"`
}
