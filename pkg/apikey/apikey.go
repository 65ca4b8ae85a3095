// Package apikey creates and parses API keys: "prism_", 32 random base62 characters, and 6 base62 characters of the CRC-32
// of everything before (spec: api-key-form). With the checksum a mistyped key is refused without a look-up, and secret
// scanners recognise a leaked key.
package apikey

import (
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"strings"

	"github.com/prism-results/prism/pkg/contract"
)

const (
	scheme   = "prism_"
	alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	base     = len(alphabet)

	randomLen = 32
	crcLen    = 6 // 62^6 > 2^32
	bodyLen   = len(scheme) + randomLen
	textLen   = bodyLen + crcLen
	prefixLen = 12

	// unbiased is the largest multiple of the base that a byte can hold. Bytes from there on are drawn again: their
	// remainder would favour the first characters of the alphabet.
	unbiased = 256 / base * base

	redacted = "prism_[redacted]"
)

// Key is a well-formed API key. Printing, logging or encoding it writes a placeholder; only Reveal returns its text.
type Key struct{ text string }

// New creates a key from random, which is crypto/rand.Reader outside tests. It fails only if random does.
func New(random io.Reader) (Key, error) {
	text := make([]byte, 0, textLen)
	text, err := appendRandom(append(text, scheme...), random)
	if err != nil {
		return Key{}, err
	}
	return Key{string(appendChecksum(text))}, nil
}

// NewToken creates the text of a sign-in link or a session: 32 random base62 characters, which are 190 bits. random is as in New.
func NewToken(random io.Reader) (string, error) {
	text, err := appendRandom(make([]byte, 0, randomLen), random)
	return string(text), err
}

// IsToken tells whether NewToken can have created a text.
func IsToken(s string) bool { return len(s) == randomLen && base62([]byte(s)) }

// appendRandom appends random characters.
func appendRandom(text []byte, random io.Reader) ([]byte, error) {
	var drawn [randomLen]byte
	for end := len(text) + randomLen; len(text) < end; {
		need := drawn[:end-len(text)]
		if _, err := io.ReadFull(random, need); err != nil {
			return nil, fmt.Errorf("apikey: %w", err)
		}
		for _, b := range need {
			if int(b) < unbiased {
				text = append(text, alphabet[int(b)%base])
			}
		}
	}
	return text, nil
}

// base62 tells whether all characters are of the alphabet.
func base62(text []byte) bool {
	for _, c := range text {
		switch {
		case '0' <= c && c <= '9', 'A' <= c && c <= 'Z', 'a' <= c && c <= 'z':
		default:
			return false
		}
	}
	return true
}

// Parse reads the text of a key. It returns false for a text that New can't have created: another length, other
// characters, or a wrong checksum.
func Parse(s string) (Key, bool) {
	if len(s) != textLen || !strings.HasPrefix(s, scheme) {
		return Key{}, false
	}
	var want [textLen]byte
	copy(want[:], s[:bodyLen])
	if !base62(want[len(scheme):bodyLen]) || string(appendChecksum(want[:bodyLen])) != s {
		return Key{}, false
	}
	return Key{s}, true
}

// appendChecksum appends the CRC-32 (IEEE) of text in base62, zero padded, most significant digit first.
func appendChecksum(text []byte) []byte {
	crc := crc32.ChecksumIEEE(text)
	var digits [crcLen]byte
	for i := crcLen - 1; i >= 0; i-- {
		digits[i] = alphabet[crc%uint32(base)]
		crc /= uint32(base)
	}
	return append(text, digits[:]...)
}

// Reveal is the text of the key. It is shown once, when the key is created, and never stored or logged.
func (k Key) Reveal() string { return k.text }

// Prefix is the first 12 characters: enough for people to tell their keys apart, too few to use the key.
func (k Key) Prefix() string { return k.text[:min(prefixLen, len(k.text))] }

// Digest is the SHA-256 of the text, which is stored and looked up (spec: key-digest).
func (k Key) Digest() contract.KeyDigest { return sha256.Sum256([]byte(k.text)) }

// String is a placeholder.
func (k Key) String() string { return redacted }

// Format writes the placeholder for every verb, also those that would print the fields of the struct.
func (k Key) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue is the placeholder.
func (k Key) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText is the placeholder, so that no encoder writes the key by accident.
func (k Key) MarshalText() ([]byte, error) { return []byte(redacted), nil }
