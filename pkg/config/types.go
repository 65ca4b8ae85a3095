package config

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Address is host:port to listen on. The host may be empty: every interface. Port 0 is any free one.
type Address string

// UnmarshalText implements encoding.TextUnmarshaler.
func (a *Address) UnmarshalText(b []byte) error {
	_, port, err := net.SplitHostPort(string(b))
	if err != nil {
		return errors.New("must be host:port")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return errors.New("must have a port from 0 to 65535")
	}
	*a = Address(b)
	return nil
}

// URL is an absolute URL. The zero value is an unset URL.
type URL struct{ text string }

// String is the whole URL, with its password.
func (u URL) String() string { return u.text }

// Scheme is what is before "://", in lower case; "" for an unset URL.
func (u URL) Scheme() string {
	scheme, _, _ := strings.Cut(u.text, "://")
	return strings.ToLower(scheme)
}

// IsZero tells whether the URL is unset.
func (u URL) IsZero() bool { return u.text == "" }

// Redacted is the URL without its password and its parameters, for people. Postgres takes passwords as parameters too.
func (u URL) Redacted() string {
	parsed, err := url.Parse(u.text)
	if err != nil {
		return ""
	}
	if parsed.RawQuery != "" {
		parsed.RawQuery = "xxxxx"
	}
	return parsed.Redacted()
}

// Format prints the redacted URL with every verb, so that printing all settings shows no password.
func (u URL) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, u.Redacted()) }

// LogValue implements slog.LogValuer.
func (u URL) LogValue() slog.Value { return slog.StringValue(u.Redacted()) }

// set parses text. It returns the problem without repeating text, which may hold a password.
func (u *URL) set(text string, schemes []string) (problem string) {
	if len(schemes) == 0 {
		schemes = []string{"http", "https"}
	}
	parsed, err := url.Parse(text)
	if err != nil || !slices.Contains(schemes, parsed.Scheme) || !strings.HasPrefix(text[len(parsed.Scheme):], "://") ||
		(parsed.Host == "" && parsed.Path == "" && parsed.RawQuery == "") {
		return "must be a URL that begins with " + strings.Join(schemes, ":// or ") + "://"
	}
	u.text = text
	return ""
}

// Secret is a text that is printed nowhere.
type Secret string

// Reveal is the text itself.
func (s Secret) Reveal() string { return string(s) }

// Format hides the text from every verb.
func (Secret) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, "[secret]") }

// MarshalText hides the text from JSON and slog.
func (Secret) MarshalText() ([]byte, error) { return []byte("[secret]"), nil }

// leastToken is the smallest number of characters of a token.
const leastToken = 32

// Tokens is a list of texts that authenticate a service, printed nowhere (spec: token-length).
type Tokens []string

// UnmarshalText implements encoding.TextUnmarshaler: commas or line ends separate tokens. The error repeats no token.
func (t *Tokens) UnmarshalText(text []byte) error {
	*t = nil
	for part := range strings.FieldsFuncSeq(string(text), func(r rune) bool { return r == ',' || r == '\n' }) {
		token := strings.TrimSpace(part)
		if token == "" {
			continue
		}
		if len(token) < leastToken || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return fmt.Errorf("must be tokens of %d or more ASCII characters without spaces, separated by commas", leastToken)
		}
		*t = append(*t, token)
	}
	if len(*t) == 0 {
		return errors.New("must have a token")
	}
	return nil
}

// Format hides the tokens from every verb.
func (Tokens) Format(s fmt.State, verb rune) { Secret("").Format(s, verb) }

// MarshalText hides the tokens from JSON and slog.
func (Tokens) MarshalText() ([]byte, error) { return Secret("").MarshalText() }

// Bytes is a size: a whole number of bytes, KiB, MiB or GiB.
type Bytes int64

// UnmarshalText implements encoding.TextUnmarshaler.
func (b *Bytes) UnmarshalText(text []byte) error {
	number, unit := string(text), int64(1)
	for i, suffix := range []string{"KiB", "MiB", "GiB"} {
		if rest, ok := strings.CutSuffix(number, suffix); ok {
			number, unit = strings.TrimSpace(rest), 1<<(10*(i+1))
			break
		}
	}
	n, err := strconv.ParseUint(number, 10, 63)
	if err != nil || int64(n) > math.MaxInt64/unit {
		return errors.New("must be a size such as 512, 64KiB or 10MiB")
	}
	*b = Bytes(int64(n) * unit)
	return nil
}
