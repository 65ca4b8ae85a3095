package size

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/tiktoken-go/tokenizer/codec"
	"pgregory.net/rapid"
)

// shared loads the vocabulary once for all tests.
var shared = sync.OnceValue(loadVocabulary)

func repeat(s string, n int) string { return strings.Repeat(s, n) }

// words is a text of n tokens.
func words(n int) string { return repeat(" hello", n) }

func value(s string) []prism.FieldValue { return []prism.FieldValue{{Key: "body", Value: s}} }

func yesNo(text string) prism.Question { return prism.Question{Type: prism.YesNo, Text: text} }

// spec: size-estimate
func TestTheEstimateAddsFieldsContextInstructionsAndTheLongestQuestion(t *testing.T) {
	t.Parallel()
	choice := prism.Question{Type: prism.Choice, Text: words(10), InsufficientInformation: true, Options: []prism.Option{
		{Key: "ignored", Label: words(20), Description: words(30)}, {Key: "ignored_too", Label: words(40)},
	}}
	scale := prism.Question{Type: prism.Scale, Text: words(10), Levels: []prism.Level{{Label: words(50)}, {Label: words(60)}}}
	const insufficient = 3 // "Insufficient information"
	e := &Estimator{load: shared}
	for _, c := range []struct {
		name    string
		d       prism.Definition
		fields  []prism.FieldValue
		context string
		want    int
	}{
		{name: "one field", fields: value(words(26_001)), want: 26_001},
		{name: "two fields", fields: append(value(words(13_000)), value(words(13_001))...), want: 26_001},
		{name: "context", fields: value(words(1)), context: words(26_000), want: 26_001},
		{name: "instructions", d: prism.Definition{Instructions: words(26_000)}, fields: value(words(1)), want: 26_001},
		{
			name: "examples", fields: value(words(1)), want: 26_003,
			d: prism.Definition{Questions: []prism.Question{yesNo("")}, Examples: []prism.Example{
				{Fields: prism.ExampleFields(value(words(13_000))), Answers: prism.ExampleAnswers{{Question: "q", Value: []byte("true")}}},
				{Fields: prism.ExampleFields(value(words(13_000))), Answers: prism.ExampleAnswers{{Question: "q", Value: []byte(`"hello"`)}}},
			}},
		},
		{name: "a question's text", d: prism.Definition{Questions: []prism.Question{yesNo(words(26_000))}}, fields: value(words(1)), want: 26_001},
		{
			name: "options with the one that is added", d: prism.Definition{Questions: []prism.Question{choice}},
			fields: value(words(26_000)), want: 26_100 + insufficient,
		},
		{
			name: "options of which any number is right", d: prism.Definition{Questions: []prism.Question{{Type: prism.Tags, Text: words(10), Options: choice.Options}}},
			fields: value(words(26_000)), want: 26_100,
		},
		{name: "levels", d: prism.Definition{Questions: []prism.Question{scale}}, fields: value(words(26_000)), want: 26_120},
		{
			name:   "only the longest question",
			d:      prism.Definition{Questions: []prism.Question{yesNo(words(5)), scale, choice, yesNo(words(7))}},
			fields: value(words(26_000)), want: 26_120,
		},
		{
			name:   "the longest in tokens, not in bytes",
			d:      prism.Definition{Questions: []prism.Question{yesNo(repeat(" ", 500)), yesNo(repeat("!a", 200))}},
			fields: value(words(26_000)), want: 26_400,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, over := e.Estimate(c.d, c.fields, c.context)
			if got != c.want || !over {
				t.Errorf("got %d %t, want %d", got, over, c.want)
			}
			if err := e.SizerForCall(t.Context()).Check(c.d, c.fields, c.context); !errors.Is(err, apierr.TooLarge(c.want)) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// spec: size-estimate
func TestExactlyTheLimitPasses(t *testing.T) {
	t.Parallel()
	e := &Estimator{load: shared}
	d := prism.Definition{Questions: []prism.Question{yesNo(words(1000))}}
	for n, want := range map[int]bool{24_999: false, 25_000: false, 25_001: true} {
		if tokens, over := e.Estimate(d, value(words(n)), ""); over != want || over && tokens != n+1000 {
			t.Errorf("%d: %d %t", n+1000, tokens, over)
		}
		if err := e.SizerForCall(t.Context()).Check(d, value(words(n)), ""); (err != nil) != want {
			t.Errorf("%d: %v", n+1000, err)
		}
	}
}

func TestQuestionsAreNotCountedWhereTheirBytesDecide(t *testing.T) {
	t.Parallel()
	d := prism.Definition{Questions: []prism.Question{yesNo(words(10))}} // 60 bytes
	e := &Estimator{load: shared}
	if tokens, over := e.Estimate(d, value(words(25_940)), ""); over || tokens != 26_000 {
		t.Errorf("got %d %t", tokens, over)
	}
	if tokens, over := e.Estimate(d, value(words(25_941)), ""); over || tokens != 25_951 {
		t.Errorf("got %d %t", tokens, over)
	}
}

// spec: size-estimate-is-linear
func TestNothingIsCountedWhereBytesDecide(t *testing.T) {
	t.Parallel()
	e := &Estimator{load: func() *vocabulary { t.Error("loaded"); return &vocabulary{} }}
	d := prism.Definition{Instructions: repeat("i", 1000), Questions: []prism.Question{yesNo(repeat("q", 1000)), yesNo(repeat("q", 999))}}
	if tokens, over := e.Estimate(d, value(repeat("語", 7000)), repeat("c", 3000)); over || tokens != 26_000 {
		t.Errorf("got %d %t", tokens, over)
	}
	if tokens, over := e.Estimate(prism.Definition{}, nil, ""); over || tokens != 0 {
		t.Errorf("got %d %t", tokens, over)
	}
}

func TestTheVocabularyIsWhole(t *testing.T) {
	t.Parallel()
	v := shared()
	if len(v.ranks) != 199_998 {
		t.Errorf("%d tokens", len(v.ranks))
	}
	for b := range 256 {
		if _, ok := v.ranks[string([]byte{byte(b)})]; !ok {
			t.Errorf("byte %d is no token", b)
		}
	}
}

func TestSpecialTokensAreText(t *testing.T) {
	t.Parallel()
	v := shared()
	for text, want := range map[string]int{"<|endoftext|>": 7, "<|endofprompt|>": 7, "hello world": 2, "": 0} {
		if got := v.countAll([]string{text}); got != want {
			t.Errorf("%q is %d tokens, want %d", text, got, want)
		}
	}
}

// The library is right wherever a text has no line breaks in a row with other white space, and no DEL, which it drops.
// spec: size-estimate
func TestCountsAreThoseOfTheLibrary(t *testing.T) {
	t.Parallel()
	v, library := shared(), codec.NewO200kBase()
	parts := []string{
		" the", "ing", "tokenization", "ANTIDISESTABLISHMENT", "x1y2", " ", "  ", "\t", "é", "語", "日本", "😀", "👩‍👧", "1234567", "!?", "--", "'s", "'", "\"",
		"a\u0301", "Ünïcode", "aaaaaaaaaaaaaaa", "qzxjkvw", "<|", "|>", "\u00a0", "ﷺ", "กขค", "\x00",
	}
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 40).Draw(t, "text"), "")
		if rapid.Bool().Draw(t, "any") {
			s = strings.Map(func(r rune) rune {
				if r == '\n' || r == '\r' || r == 0x7f {
					return ' '
				}
				return r
			}, rapid.StringN(0, 200, -1).Draw(t, "string"))
		}
		want, err := library.Count(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := v.countAll([]string{s}); got != want {
			t.Fatalf("%q: got %d, want %d", s, got, want)
		}
		if got := v.countAll([]string{s}); got > len(s) {
			t.Fatalf("%q: %d tokens of %d bytes", s, got, len(s))
		}
	})
}

// hostile are texts of n characters that are slow to split or merge for tokenizers that are not careful.
func hostile(n int) map[string]string {
	random := rand.New(rand.NewPCG(1, 2))
	runes, letters, bytes := make([]rune, n), make([]byte, n), make([]byte, n)
	for i := range n {
		runes[i] = rune(random.IntN(0xd000) + 1)
		letters[i] = 'a' + byte(random.IntN(26))
		bytes[i] = byte(random.IntN(256))
	}
	texts := map[string]string{"any characters": string(runes), "any letters": string(letters), "any bytes": string(bytes)}
	for _, unit := range []string{
		" ", "\n", "\t", " \n", "\n ", "\r\n", " \r", "a", "A", "aA", "Aa", "A'", "'", "1", " 1", "!", "/", "/\n", "é", "語", "ก", "ǅ",
		"\u0301", "!\u0301", "\u00a0", "\u2028", "😀", "👩‍👧", "<|endoftext|>", "_", "=", "\x01",
	} {
		texts[fmt.Sprintf("%q", unit)] = repeat(unit, n)[:n/len(unit)*len(unit)]
	}
	return texts
}

// Merging reads some hundred parts for each byte at most, however long the text. A text that repeats itself is merged once.
// spec: size-estimate-is-linear
func TestMergingTakesLinearlyManySteps(t *testing.T) {
	t.Parallel()
	const n = 100_000
	for name, text := range hostile(n) {
		perByte := 5
		if strings.HasPrefix(name, "any") {
			perByte = 2 * windowSize
		}
		m := merger{ranks: shared().ranks}
		m.count(text) // as one piece
		if m.steps > perByte*len(text) {
			t.Errorf("%s: %d steps for %d bytes", name, m.steps, len(text))
		}
	}
}

// The windows of a long piece must not show in its tokens.
func TestWindowsEncodeAsTheWholePiece(t *testing.T) {
	t.Parallel()
	v := shared()
	longest := 0
	for token := range v.ranks {
		longest = max(longest, len(token))
	}
	if longest > keepSize {
		t.Errorf("a token has %d bytes, more than a window keeps", longest)
	}
	alphabets := []string{"ab", "aA", "the ing", "=-_", "abcdefghijklmnopqrstuvwxyz", "กขค", "語日本", "\xff\x00\x80"}
	rapid.Check(t, func(t *rapid.T) {
		letters := []byte(rapid.SampledFrom(alphabets).Draw(t, "alphabet"))
		unit := string(rapid.SliceOfN(rapid.SampledFrom(letters), 1, 400).Draw(t, "unit"))
		text := repeat(unit, rapid.IntRange(1, 1+2000/len(unit)).Draw(t, "times"))
		windows, whole := merger{ranks: v.ranks}, merger{ranks: v.ranks}
		if got, want := windows.count(text), len(whole.merge(text))-1; got != want {
			t.Fatalf("%q: %d tokens, want %d", text, got, want)
		}
	})
}

func BenchmarkCount(b *testing.B) {
	v := shared()
	for name, text := range hostile(100_000) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				v.countAll([]string{text})
			}
		})
	}
	prose := repeat("The quick brown fox doesn't jump over 12 lazy dogs.\n", 2000)
	b.Run("prose", func(b *testing.B) {
		b.SetBytes(int64(len(prose)))
		for b.Loop() {
			v.countAll([]string{prose})
		}
	})
}

func BenchmarkEstimateByBytes(b *testing.B) {
	e := &Estimator{load: shared}
	d := prism.Definition{Instructions: "Be fair.", Questions: []prism.Question{yesNo("Urgent?"), yesNo("Is it about a card?")}}
	fields := value(repeat("x", 2000))
	b.ReportAllocs()
	for b.Loop() {
		e.Estimate(d, fields, "")
	}
}

func BenchmarkLoad(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		loadVocabulary()
	}
}

func TestANewEstimatorLoadsByItselfAndOnce(t *testing.T) {
	t.Parallel()
	e := New(nil)
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			if tokens, over := e.Estimate(prism.Definition{}, value(words(26_001)), ""); tokens != 26_001 || !over {
				t.Errorf("got %d %t", tokens, over)
			}
		})
	}
	wait.Wait()
	if first := e.load(); first != e.load() {
		t.Error("loaded twice")
	}
}
