package main

import "testing"

// A flag that is given nothing, as by a variable that is not set, is not the same as no flag.
func TestAFlagThatIsGivenNothingIsRefused(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"call", "demo", "--text", "a", "--idempotency-key", ""}, "--idempotency-key is empty: leave it out"},
		{[]string{"call", "demo", "--text", "a", "--ref", ""}, "--ref is empty: leave it out"},
		{[]string{"call", "demo", "--text", "a", "--version", "0"}, "--version is at least 1"},
		{[]string{"call", "demo", "--text", ""}, "--field KEY="},
		{[]string{"prisms", "get", "demo", "--version", "0"}, "--version is at least 1"},
		{[]string{"runs", "create", "-f", "a.csv", "--prism", "demo", "--idempotency-key", ""}, "--idempotency-key is empty: leave it out"},
		{[]string{"runs", "create", "--from-labels-of", "0", "--prism", "demo"}, "--from-labels-of is at least 1"},
		{[]string{"keys", "create", "ci", "--role", ""}, "--role is empty: leave it out"},
		{[]string{"keys", "create", "ci", "--expires", ""}, "--expires is empty: leave it out"},
		{[]string{"retry", "--all-failed", "--prism", "", "--yes"}, "--prism is empty: leave it out"},
		{[]string{"results", "delete", "--prism", "demo", "--ref", "a", "--before", "", "--yes"}, "--before is empty: leave it out"},
	} {
		u.run(test.args...).want(exitUsage, test.want)
	}
	u.run("results", "list", "--ref", "").want(exitOK, "")
}

func TestAnInputIsReadOnce(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.run("call", "demo", "--field-file", "a=-", "--field-file", "b=-").want(exitUsage, "standard input can be read only once")
}

func TestFieldsAreTexts(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	for _, fields := range []string{`{"a":null}`, "null", `{"a":"\ud800"}`, "{\"a\":\"\xff\"}", `{"a":1}`, `[]`} {
		u.run("call", "demo", "--fields", u.file("fields.json", fields)).want(exitInvalid, "is not a JSON object of texts")
	}
}

func TestADefinitionIsUTF8(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.run("prisms", "apply", "--yes", "-f", u.file("p.yaml", "slug: a\nname: caf\xe9\n")).want(exitInvalid, "p.yaml:2: not UTF-8")
}

func TestADeletionGoesOnBehindAResultThatIsGone(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	const gone, here = "01990000-0000-7000-8000-000000000000", "01990000-0000-7000-8000-000000000001"
	u.run("results", "delete", gone, here, "--yes").want(exitNotFound, gone+": Result not found").want(exitNotFound, here+": Result not found")
}
