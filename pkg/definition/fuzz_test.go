package definition

import (
	"testing"
)

// FuzzDecode holds for any file that it is read or refused, and that what is read is written and read back the same.
func FuzzDecode(f *testing.F) {
	f.Add(small)
	f.Add("slug: a\nlens: &l {columns: [{name: x, yes_at: 1e-3}]}\n---\nslug: b\nname: |\n  x\n  y\n")
	f.Add("slug: a\nlens: {columns: [{name: x, yes_at: .1e93}]}\n")
	f.Add("? slug\n: *a\n")
	f.Fuzz(func(t *testing.T, text string) {
		files, err := Decode("f", []byte(text))
		if err != nil {
			return
		}
		for _, file := range files {
			yaml := YAML(file.Prism)
			again, err := Decode("f", []byte(yaml))
			if err != nil || len(again) != 1 || YAML(again[0].Prism) != yaml {
				t.Fatalf("%v\n%s\ngot  %+v\nwant %+v", err, yaml, again, file.Prism)
			}
		}
	})
}
