package apikey_test

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/prism-results/prism/pkg/apikey"
	"pgregory.net/rapid"
)

func newKey(t testing.TB, random io.Reader) apikey.Key {
	t.Helper()
	k, err := apikey.New(random)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// spec: api-key-form
func TestAKeyHasTheDecidedShape(t *testing.T) {
	t.Parallel()
	shape := regexp.MustCompile(`^prism_[0-9A-Za-z]{38}$`)
	for range 1000 {
		k := newKey(t, rand.Reader)
		if !shape.MatchString(k.Reveal()) {
			t.Fatalf("shape of %s", k.Reveal())
		}
		if back, ok := apikey.Parse(k.Reveal()); !ok || back != k {
			t.Fatalf("%s does not read back", k.Reveal())
		}
	}
}

func TestTheKeyOfKnownBytesIsKnown(t *testing.T) {
	t.Parallel()
	// 0x00 is '0', 61 is 'z', 62 is '0' again; 248 and above are drawn again.
	random := append(bytes.Repeat([]byte{0, 9, 10, 61, 62, 247, 248, 255}, 4), bytes.Repeat([]byte{35, 36}, 4)...)
	k := newKey(t, bytes.NewReader(random))
	body := "prism_" + strings.Repeat("09Az0z", 4) + "ZaZaZaZa"
	if got := k.Reveal()[:38]; got != body {
		t.Fatalf("got %s, want %s", got, body)
	}
	if got, want := k.Reveal()[38:], slowBase62(crc32.ChecksumIEEE([]byte(body))); got != want {
		t.Fatalf("checksum %s, want %s", got, want)
	}
}

func slowBase62(n uint32) string {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	s := ""
	for len(s) < 6 {
		s = string(digits[n%62]) + s
		n /= 62
	}
	return s
}

func TestASmallChecksumIsZeroPadded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		k, err := apikey.New(bytes.NewReader(rapid.SliceOfN(rapid.ByteMax(247), 32, 32).Draw(t, "random")))
		if err != nil {
			t.Fatal(err)
		}
		if got := k.Reveal()[38:]; got != slowBase62(crc32.ChecksumIEEE([]byte(k.Reveal()[:38]))) {
			t.Fatalf("checksum %s of %s", got, k.Reveal()[:38])
		}
	})
}

func TestEveryCharacterIsEquallyLikely(t *testing.T) {
	t.Parallel()
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	// 31 rounds of every byte give 31 * 248 accepted ones: 124 of each character, and 240 keys and a bit.
	random := bytes.NewReader(bytes.Repeat(every, 32))
	seen := map[rune]int{}
	for range 31 * 248 / 32 {
		for _, c := range newKey(t, random).Reveal()[6:38] {
			seen[c]++
		}
	}
	for c, n := range seen {
		if n < 120 || n > 128 {
			t.Errorf("%c came %d times of 124", c, n)
		}
	}
	if len(seen) != 62 {
		t.Errorf("%d characters, want 62", len(seen))
	}
}

func TestAFailingSourceMakesNoKey(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	if k, err := apikey.New(iotest.ErrReader(boom)); !errors.Is(err, boom) || k.Reveal() != "" {
		t.Fatalf("got %v", err)
	}
	if _, err := apikey.New(strings.NewReader("short")); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatalf("got %v", err)
	}
}

func TestWhatIsNotAKeyIsRefused(t *testing.T) {
	t.Parallel()
	key := newKey(t, rand.Reader).Reveal()
	for name, s := range map[string]string{
		"nothing":                 "",
		"the scheme alone":        "prism_",
		"one character short":     key[:43],
		"one character long":      key + "0",
		"white space before":      " " + key,
		"another scheme":          "prysm_" + key[6:],
		"an upper-case scheme":    "PRISM_" + key[6:],
		"a foreign character":     key[:10] + "-" + key[11:],
		"a letter beyond ASCII":   key[:10] + "é" + key[12:],
		"a NUL":                   key[:10] + "\x00" + key[11:],
		"a checksum of zeros":     key[:38] + "000000",
		"a key without checksum":  key[:38],
		"another service's token": "ghp_" + key[6:] + "00",
	} {
		if name == "a checksum of zeros" && strings.HasSuffix(key, "000000") {
			continue
		}
		if _, ok := apikey.Parse(s); ok {
			t.Errorf("%s: accepted", name)
		}
	}
}

// CRC-32 finds every change of up to 32 bits in a row, so no single mistyped character or swapped pair gets through.
func TestAMistypedCharacterIsRefused(t *testing.T) {
	t.Parallel()
	const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	key := newKey(t, rand.Reader).Reveal()
	for i := 6; i < len(key); i++ {
		for _, c := range []byte(alphabet) {
			typed := []byte(key)
			typed[i] = c
			if _, ok := apikey.Parse(string(typed)); ok != (key[i] == c) {
				t.Fatalf("%c at %d: %t", c, i, ok)
			}
		}
		if i+1 < len(key) && key[i] != key[i+1] {
			typed := []byte(key)
			typed[i], typed[i+1] = typed[i+1], typed[i]
			if _, ok := apikey.Parse(string(typed)); ok {
				t.Fatalf("swapped at %d", i)
			}
		}
	}
}

// spec: key-digest
func TestDigestIsOfTheWholeTextAndPrefixIsTwelveCharacters(t *testing.T) {
	t.Parallel()
	k := newKey(t, rand.Reader)
	if k.Digest() != sha256.Sum256([]byte(k.Reveal())) {
		t.Error("digest")
	}
	if got := k.Prefix(); got != k.Reveal()[:12] {
		t.Errorf("prefix %q", got)
	}
	if got := (apikey.Key{}).Prefix(); got != "" {
		t.Errorf("prefix of no key %q", got)
	}
}

func TestNoWayOfPrintingShowsTheKey(t *testing.T) {
	t.Parallel()
	k := newKey(t, rand.Reader)
	secret := k.Reveal()[6:]
	in := struct {
		Key  apikey.Key
		Keys []apikey.Key
	}{k, []apikey.Key{k}}

	var printed []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%40s", "%T"} {
		printed = append(printed, fmt.Sprintf(verb, k), fmt.Sprintf(verb, &k), fmt.Sprintf(verb, in))
	}
	printed = append(printed, k.String(), fmt.Sprint(k), fmt.Errorf("failed: %v", in).Error())
	if b, err := json.Marshal(in); err != nil {
		t.Fatal(err)
	} else {
		printed = append(printed, string(b))
	}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("made", "key", k, "in", in, "pointer", &k)
	slog.New(slog.NewTextHandler(&log, nil)).Info("made", "key", k, "in", in, "pointer", &k)
	printed = append(printed, log.String())

	hex := fmt.Sprintf("%x", secret)
	for _, s := range printed {
		if strings.Contains(s, secret) || strings.Contains(strings.ToLower(s), hex) {
			t.Errorf("leaks: %s", s)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("prism_00000000000000000000000000000000000000")
	f.Add(newKey(f, rand.Reader).Reveal())
	f.Fuzz(func(t *testing.T, s string) {
		k, ok := apikey.Parse(s)
		if ok != (k.Reveal() == s && len(s) == 44 && s[38:] == slowBase62(crc32.ChecksumIEEE([]byte(s[:38])))) {
			t.Fatalf("%q: %t", s, ok)
		}
	})
}

// spec: sign-in-link, session
func TestATokenHas32RandomCharacters(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	used := map[rune]bool{}
	for range 100 {
		token, err := apikey.NewToken(rand.Reader)
		if err != nil || len(token) != 32 || !apikey.IsToken(token) || seen[token] {
			t.Fatalf("%q, %v", token, err)
		}
		seen[token] = true
		for _, c := range token {
			used[c] = true
		}
	}
	if len(used) != 62 {
		t.Errorf("%d characters are used", len(used))
	}
	long := strings.Repeat("a", 33)
	for _, bad := range []string{"", long, long[:31], long[:31] + "-", strings.Repeat("é", 16)} {
		if apikey.IsToken(bad) {
			t.Errorf("%q is a token", bad)
		}
	}
	if _, err := apikey.NewToken(strings.NewReader("short")); err == nil {
		t.Error("a token of too little randomness")
	}
}
