package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/prism-results/prism/client"
)

// The client repeats the other calls, or their repeat changes nothing.
func TestALostResponseOfACallThatIsNotRepeatedMayHaveChangedSomething(t *testing.T) {
	t.Parallel()
	for operation, want := range map[string]bool{
		"createKey": true, "addMember": true, "linkMember": true, "createCalibration": true, "retryResults": true, "deleteResults": true, "assignResults": true,
		"readPrism": false, "revokeKey": false,
	} {
		text := explain(&client.ConnectionError{Operation: operation, Sent: true, Err: errors.New("EOF")})
		if got := strings.Contains(text, "Prism may have done it all the same"); got != want {
			t.Errorf("%s: %s", operation, text)
		}
	}
}
