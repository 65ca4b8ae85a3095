package page

import "testing"

func TestSectionsAreReplacedAndTheRestOfThePageStays(t *testing.T) {
	t.Parallel()
	page := "a\n<!-- x -->\nold\n<!-- end -->\nb\n<!-- y: z -->\n<!-- end -->\nc\n"
	got, err := Replace(page, map[string]string{"x": "new\n", "y: z": "also\n"})
	want := "a\n<!-- x -->\nnew\n<!-- end -->\nb\n<!-- y: z -->\nalso\n<!-- end -->\nc\n"
	if err != nil || got != want {
		t.Errorf("got %q, %v", got, err)
	}
	for _, broken := range []string{"", "<!-- x -->\n", "<!-- end -->"} {
		if got, err := Replace(broken, map[string]string{"x": "new\n"}); err == nil {
			t.Errorf("%q became %q", broken, got)
		}
	}
}
