package contract_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

var lists = []contract.List{contract.ListOfPrisms, contract.ListOfResults, contract.ListOfKeys, contract.ListOfAudit}

// FuzzParseCursor: a cursor names one row of one list, and has one spelling.
func FuzzParseCursor(f *testing.F) {
	given := contract.ListOfResults.Cursor(prism.UUID{1, 2, 15: 3})
	for _, s := range []string{
		given, "", given[:len(given)-1], given + "=", given + "\n", strings.ToUpper(given), "!", strings.Repeat("A", 32), strings.Repeat("_", 32),
		base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\xff", 24))),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		accepted := 0
		for _, l := range lists {
			id, ok := l.ParseCursor(s)
			switch {
			case !ok && !id.IsZero():
				t.Fatalf("%q is refused, and yet %v", s, id)
			case ok:
				accepted++
				if l.Cursor(id) != s {
					t.Fatalf("%q is also written as %q", s, l.Cursor(id))
				}
			}
		}
		if accepted > 1 {
			t.Fatalf("%q belongs to %d lists", s, accepted)
		}
	})
}

// spec: page-cursor
func TestACursorBelongsToItsList(t *testing.T) {
	t.Parallel()
	want := prism.UUID{0: 0xff, 15: 1}
	for _, l := range lists {
		for _, of := range lists {
			if got, ok := of.ParseCursor(l.Cursor(want)); ok != (of == l) || ok && got != want {
				t.Errorf("a cursor of list %d in list %d: %v, %v", l, of, got, ok)
			}
		}
		if _, ok := contract.List(99).ParseCursor(l.Cursor(want)); ok {
			t.Errorf("an unknown list takes a cursor of list %d", l)
		}
	}
}

// spec: page-cursor
func TestACursorOfVersionsNamesAVersion(t *testing.T) {
	t.Parallel()
	for _, number := range []int32{1, 2, 1<<31 - 1} {
		id, ok := contract.ListOfVersions.ParseCursor(contract.ListOfVersions.Cursor(contract.VersionRow(number)))
		if !ok || contract.VersionAt(id) != number {
			t.Errorf("version %d: %d, %v", number, contract.VersionAt(id), ok)
		}
	}
	for _, id := range []prism.UUID{{}, {0: 1, 15: 1}, {12: 0x80}} {
		if _, ok := contract.ListOfVersions.ParseCursor(contract.ListOfVersions.Cursor(id)); ok {
			t.Errorf("%v is the row of a version", id)
		}
	}
}
