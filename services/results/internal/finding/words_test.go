package finding_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/finding"
)

func result(texts ...string) prism.Result {
	var r prism.Result
	for i, text := range texts {
		r.Fields = append(r.Fields, prism.FieldValue{Key: "f" + string(rune('a'+i)), Value: text})
	}
	return r
}

func finds(t testing.TB, q string, r prism.Result) bool {
	t.Helper()
	words, problem := finding.ParseWords(q)
	if problem != "" {
		t.Fatalf("%q: %s", q, problem)
	}
	return words.Match(finding.Tokens(r))
}

func TestAQueryFindsWordsOfEveryScript(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		script, text string
		finds, not   []string
	}{
		{
			"Latin", "Die Straße in Łódź führt zum Café; don't pay №12 ﬁrst, ref A-17",
			[]string{"strasse", "STRASSE", "lodz", "Łódź", "fuhrt", "cafe", "CAFÉ", "cafe\u0301", "don't", `"zum cafe"`, "first", "a-17", "17", "stra*", "ｃａｆｅ"},
			[]string{"stra", "caf", `"cafe zum"`, "a-1", "dont", "7"},
		},
		{
			"Cyrillic", "Ёлка и ещё один ЗАКАЗ не пришёл",
			[]string{"елка", "Ещё", "заказ", "пришел", "зак*", `"один заказ"`},
			[]string{"заказы", "при", `"заказ один"`},
		},
		{
			"Greek", "Ο ΛΟΓΑΡΙΑΣΜΌΣ μου είναι λάθος",
			[]string{"λογαριασμος", "λογαριασμός", "ειναι", "ΛΑΘΟΣ", "λαθ*"},
			[]string{"λογαριασμο", "λαθ"},
		},
		{
			"Arabic", "أُريدُ إلغاء الطلــب اليوم",
			[]string{"اريد", "أريد", "الغاء", "الطلب", `"الطلب اليوم"`, "الط*"},
			[]string{"طلب", "الي"},
		},
		{"Hebrew", "הַחֶשְׁבּוֹן שלי שגוי", []string{"החשבון", "שגוי", `"שלי שגוי"`, "חשבון or שלי"}, []string{"חשבון", "שג"}},
		{"Devanagari", "मेरा बिल गलत है", []string{"बिल", "गलत", `"बिल गलत"`, "गल त or है"}, []string{"बल", "गल", "मर"}},
		{
			"Thai", "ใบเรียกเก็บเงินผิด ขอเงินคืน",
			[]string{"เงิน", "เงินคืน", "ผิด", "เรียกเก็บ", "เก็บเงิน ขอ", "คืน*"},
			[]string{"คืนเงิน", "เงินเก็บ", `"เงินผิดขอ"`},
		},
		{
			"Chinese", "发票金额错误，请退款给我iPhone15手机",
			[]string{"发票", "金额", "退款", "票", "款给", "iphone15", "手机", "我", `"错误 请退款"`, "请退*"},
			[]string{"款退", "错请", "机手", "发金"},
		},
		{
			"Japanese", "請求書のガイドがまちがっています。ｶﾅもデータも",
			[]string{"請求書", "ガイド", "が", "まちがって", "カナ", "データ", "ー"},
			[]string{"カイド", "求請", "まちかって"},
		},
		{"Korean", "청구서가 잘못되었어요", []string{"청구서", "구서가", "잘못", "청", `"가 잘못"`, "요"}, []string{"청서", "가잘"}},
	} {
		t.Run(c.script, func(t *testing.T) {
			t.Parallel()
			for _, q := range c.finds {
				if !finds(t, q, result("x", c.text)) {
					t.Errorf("%q is not found", q)
				}
				if finds(t, "-"+q, result(c.text)) && !strings.Contains(q, " ") {
					t.Errorf("without %q it is found", q)
				}
			}
			for _, q := range c.not {
				if finds(t, q, result(c.text)) {
					t.Errorf("%q is found", q)
				}
			}
		})
	}
}

func TestTheWordsOfAQueryHoldAsItSays(t *testing.T) {
	t.Parallel()
	ref := "order 66"
	r := result("The invoice is wrong", "refund it now")
	r.Ref, r.Error, r.Context = &ref, "The model did not answer.", "gold customer"
	for q, want := range map[string]bool{
		"invoice refund": true, "invoice money": false, "money or invoice": true, "money OR cash": false, "invoice -refund": false,
		"invoice -money": true, "-money": true, "-invoice": false, `"invoice is wrong"`: true, `"invoice wrong"`: false,
		`-"invoice wrong"`: true, `-"is wrong"`: false, "money or invoice refund": true, "invoice money or now gold": true,
		"invoice money or now silver": false, `"wrong refund"`: false, "66": true, `"order 66"`: true, "answer gold": true,
		`the"is wrong"now`: true, "inv* refu*": true, "invoices*": false, "!!! invoice ???": true, `"or" or gold`: true, `"or"`: false,
		"-or": true, "is-wrong": true, "wrong-is": false, "is-wro*": true, `"invo*"`: false,
	} {
		if got := finds(t, q, r); got != want {
			t.Errorf("%q: %t", q, got)
		}
	}
}

func TestWhatIsNoQueryHasAProblemWithoutTheText(t *testing.T) {
	t.Parallel()
	for q, want := range map[string]string{
		"": "Expected a word", " \t": "Expected a word", "!?": "Expected a word", "-": "Expected a word", `""`: "Expected a word", "*": "Expected a word",
		`"a`: "Expected a closing quotation mark", `a "b" c"`: "Expected a closing quotation mark",
		"or": "Expected a word on each side of or", "a or": "Expected a word on each side of or", "or a": "Expected a word on each side of or",
		"a or OR b": "Expected a word on each side of or", "a or !": "Expected a word on each side of or",
		"ab*": "Expected 3 characters or more before *", "-é2*": "Expected 3 characters or more before *",
		strings.Repeat("a ", 51): "Expected at most 50 words",
	} {
		if _, problem := finding.ParseWords(q); problem != want {
			t.Errorf("%q: %q, want %q", q, problem, want)
		}
	}
}

func TestTheFirstTextOfAResultHasTokens(t *testing.T) {
	t.Parallel()
	long := result(strings.Repeat("é", 128<<10-4)+" ok end", "behind")
	if !finds(t, "ok", long) || finds(t, "behind", long) {
		t.Error("the text does not end after 256 KiB")
	}
	for size := range 6 {
		r := result(strings.Repeat("x ", 128<<10-3)+strings.Repeat("y", size)+"猫猫", "z")
		for _, token := range finding.Tokens(r) {
			if !utf8.ValidString(token) {
				t.Errorf("%q is cut inside of a character", token)
			}
		}
	}
	if dense := result("ref", strings.Repeat("猫", 90<<10)); len(finding.Tokens(dense)) < 80<<10 {
		t.Error("a long text without spaces loses more than its end")
	}
	word := strings.Repeat("w", 64)
	if !finds(t, word+"1", result(word+"2")) || finds(t, word[1:], result(word)) || !finds(t, word[1:]+"*", result(word[1:]+"2")) {
		t.Error("long words are not the same if they begin alike")
	}
}

// A part of a run of a script without spaces is found, and nothing else.
func TestPartsOfTextsWithoutSpacesAreFound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("猫犬鳥かナ")), 1, 12, -1).Draw(t, "text")
		q := rapid.StringOfN(rapid.SampledFrom([]rune("猫犬鳥かナ")), 1, 4, -1).Draw(t, "q")
		words, problem := finding.ParseWords(q)
		if problem != "" {
			t.Fatal(problem)
		}
		if got, want := words.Match(finding.Tokens(result(text))), strings.Contains(text, q); got != want {
			t.Errorf("%q in %q: %t", q, text, got)
		}
	})
}

// The texts of a result are found by their words, and tokens are made of tokens again as they are.
func FuzzTokens(f *testing.F) {
	for _, text := range []string{"Straße", "İstanbul", "ﬁ ½ ①", "ガカ゛", "é̂x", "ไทย 12", "한국어 각", "a\u200bb\u00adc", "\xff", "ΐ ŉ ǰ", "ّ"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tokens := finding.Tokens(result(text))
		for _, token := range tokens {
			if strings.ContainsAny(token, " \"*\x00'\\") || token == "" || utf8.RuneCountInString(token) > 64 {
				t.Errorf("%q is a token of %q", token, text)
			}
		}
		if len(tokens) > 0 && utf8.ValidString(text) && !strings.ContainsAny(text, `"`) {
			q := `"` + text + `"`
			if words, problem := finding.ParseWords(q); problem != "" || !words.Match(tokens) {
				t.Errorf("%q does not find itself: %q", text, tokens)
			}
		}
	})
}

func FuzzWords(f *testing.F) {
	for _, q := range []string{`a "b c" -d or e*`, `猫 or -"犬"`, `"`, "or", "-", "a*b*", "\xff*"} {
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, q string) {
		words, problem := finding.ParseWords(q)
		if problem != "" {
			return
		}
		if len(words) == 0 {
			t.Errorf("%q has no words", q)
		}
		for _, group := range words {
			all := []string{"begin"}
			for _, p := range group {
				if len(p.Tokens) == 0 || slices.Contains(p.Tokens, finding.Gap) {
					t.Errorf("%q has the phrase %q", q, p.Tokens)
				}
				if !p.Not {
					all = append(append(all, finding.Gap), p.Tokens...)
				}
			}
			contradicts := false
			for _, p := range group {
				contradicts = contradicts || p.Not && (finding.Words{{{Tokens: p.Tokens, Prefix: p.Prefix}}}).Match(all)
			}
			if !contradicts && !words.Match(all) {
				t.Errorf("%q does not find its own words %q", q, all)
			}
		}
	})
}
