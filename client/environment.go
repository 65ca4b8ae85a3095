package client

import (
	"cmp"
	"errors"
	"fmt"
	"os"
)

// DefaultURL is the address of a Prism with default settings on this machine.
const DefaultURL = "http://127.0.0.1:8080"

// FromEnvironment makes a client of the Prism at PRISM_URL, or at [DefaultURL] if the variable is not set, with the API key
// PRISM_API_KEY. prismctl reads the same variables. It makes no request. An error names the variable, and does not repeat its
// value.
func FromEnvironment() (*Client, error) {
	c := Config{URL: cmp.Or(os.Getenv("PRISM_URL"), DefaultURL), Key: os.Getenv("PRISM_API_KEY")}
	if c.Key == "" {
		return nil, errors.New("client: PRISM_API_KEY is not set: set it to an API key")
	}
	if err := checkKey(c.Key); err != nil {
		return nil, fmt.Errorf("client: PRISM_API_KEY %w", err)
	}
	if _, err := parseBase(c.URL); err != nil {
		return nil, fmt.Errorf("client: PRISM_URL %w", err)
	}
	return New(c)
}
