package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// spec: token-length, token-lists
func TestTokensAreAListOfLongTexts(t *testing.T) {
	t.Parallel()
	a, b := strings.Repeat("a", 32), strings.Repeat("b", 33)
	for text, want := range map[string][]string{
		a: {a}, a + "," + b: {a, b}, a + "\r\n" + b + "\n": {a, b}, " " + a + " ,, ": {a},
		"": nil, " , ": nil, a[1:]: nil, a + "," + a[1:]: nil, a + " " + b: nil, a + "é": nil, a + "\x00": nil,
	} {
		var got Tokens
		err := got.UnmarshalText([]byte(text))
		if (err == nil) != (want != nil) || err == nil && !slices.Equal(got, want) {
			t.Errorf("%q: got %d tokens, %v", text, len(got), err)
		}
		if err != nil && strings.Contains(err.Error(), "aaa") {
			t.Errorf("%q is repeated: %v", text, err)
		}
	}
	printed, err := json.Marshal(Tokens{a})
	if shown := fmt.Sprintf("%v %+v %#v %s %s", Tokens{a}, Tokens{a}, Tokens{a}, Tokens{a}, printed); err != nil || strings.Contains(shown, a) {
		t.Errorf("shown: %s", shown)
	}
}

func TestASettingIsRequiredUnlessAnotherIsSet(t *testing.T) {
	t.Parallel()
	type settings struct {
		Tokens Tokens `env:"X_TOKENS" unless:"X_FILE X_OLD" help:"the tokens"`
		File   string `env:"X_FILE" help:"the file"`
		Old    Secret `env:"X_OLD" help:"the old one"`
	}
	token := strings.Repeat("a", 32)
	for _, row := range []struct {
		name, value string
		ok          bool
	}{{"X_TOKENS", token, true}, {"X_TOKENS", "short", false}, {"X_FILE", "f", true}, {"X_OLD", "short", true}, {"X_OTHER", "x", false}} {
		f := &fake{values: map[string]string{row.name: row.value}}
		_, err := Parse[settings](nil, f.environment(), io.Discard)
		var invalid Invalid
		if (err == nil) != row.ok || err != nil && (!errors.As(err, &invalid) || invalid[0].Variable != "X_TOKENS") {
			t.Errorf("%s: %v", row.name, err)
		}
		if strings.HasPrefix(row.name, "X_TOKENS") && !slices.Contains(f.unset, "X_TOKENS") {
			t.Error("the tokens stay in the environment")
		}
	}
}
