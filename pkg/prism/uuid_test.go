package prism_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"pgregory.net/rapid"

	"github.com/prism-results/prism/pkg/prism"
)

const canonical = "0190b5a8-7c00-7abc-8def-00000000002a"

func TestOnlyTheHyphenatedFormIsAUUID(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		ok         bool
	}{
		{"lower case", canonical, true},
		{"upper case", strings.ToUpper(canonical), true},
		{"mixed case", "0190B5a8-7c00-7AbC-8dEf-00000000002A", true},
		{"nil", "00000000-0000-0000-0000-000000000000", true},
		{"another version", "f47ac10b-58cc-4372-a567-0e02b2c3d479", true},
		{"empty", "", false},
		{"no hyphens", strings.ReplaceAll(canonical, "-", ""), false},
		{"braces", "{" + canonical + "}", false},
		{"URN", "urn:uuid:" + canonical, false},
		{"space before", " " + canonical, false},
		{"line end after", canonical + "\n", false},
		{"one digit short", canonical[:35], false},
		{"one digit more", canonical + "0", false},
		{"hyphens elsewhere", "0190b5a87-c00-7abc-8def-00000000002a", false},
		{"hyphen for a digit", "0190b5a8-7c00-7abc-8def-0000000000-a", false},
		{"digit for a hyphen", "0190b5a807c00-7abc-8def-00000000002a", false},
		{"not hexadecimal", "0190b5a8-7c00-7abc-8def-00000000002g", false},
		{"full-width digit", "0190b5a8-7c00-7abc-8def-000000000\uff12", false},
		{"NUL", "0190b5a8-7c00-7abc-8def-00000000002\x00", false},
		{"braces of the right length", "{190b5a8-7c00-7abc-8def-00000000002}", false},
	} {
		id, err := prism.ParseUUID(c.text)
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
		if err != nil && (!id.IsZero() || (c.text != "" && strings.Contains(err.Error(), c.text))) {
			t.Errorf("%s: %v, %v", c.name, id, err)
		}
		if err == nil && id.String() != strings.ToLower(c.text) {
			t.Errorf("%s: reads back as %s", c.name, id)
		}
	}
}

func TestAUUIDIsWrittenInLowerCaseEverywhere(t *testing.T) {
	t.Parallel()
	id, err := prism.ParseUUID(strings.ToUpper(canonical))
	if err != nil {
		t.Fatal(err)
	}
	appended, err := id.AppendText([]byte("x"))
	if err != nil || string(appended) != "x"+canonical {
		t.Errorf("AppendText: %s, %v", appended, err)
	}
	if marshalled, err := json.Marshal(prism.ResultID{UUID: id}); err != nil || string(marshalled) != `"`+canonical+`"` {
		t.Errorf("MarshalText: %s, %v", marshalled, err)
	}
	var back prism.ResultID
	if err := json.Unmarshal([]byte(`"`+canonical+`"`), &back); err != nil || back.UUID != id {
		t.Errorf("UnmarshalText: %s, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`"urn:uuid:`+canonical+`"`), &back); err == nil {
		t.Error("UnmarshalText took a URN")
	}
}

func TestUUIDsReadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		id := prism.UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
		if back, err := prism.ParseUUID(id.String()); err != nil || back != id {
			t.Fatalf("%v, %v", back, err)
		}
	})
}

func TestANewUUIDIsVersion7OfRFC9562(t *testing.T) {
	t.Parallel()
	for _, random := range []byte{0x00, 0x55, 0xff} {
		at := time.UnixMilli(0x0190b5a87c00)
		id, err := prism.NewUUID(at, bytes.NewReader(bytes.Repeat([]byte{random}, 16)))
		if err != nil {
			t.Fatal(err)
		}
		if version, variant := id[6]>>4, id[8]>>6; version != 7 || variant != 0b10 {
			t.Errorf("version %d, variant %b of %s", version, variant, id)
		}
		if !strings.HasPrefix(id.String(), "0190b5a8-7c00-7") {
			t.Errorf("%s does not begin with the time", id)
		}
		if id[7] != random || id[9] != random || id[15] != random || id[6]&0x0f != random&0x0f || id[8]&0x3f != random&0x3f {
			t.Errorf("%s does not hold 74 random bits", id)
		}
	}
}

func TestUUIDsMadeLaterSortLater(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		millis := rapid.Int64Range(0, 1<<48-2)
		at := millis.Draw(t, "at")
		later := rapid.Int64Range(at+1, 1<<48-1).Draw(t, "later")
		first, err1 := prism.NewUUID(time.UnixMilli(at), bytes.NewReader(bytes.Repeat([]byte{0xff}, 16)))
		second, err2 := prism.NewUUID(time.UnixMilli(later), bytes.NewReader(make([]byte, 16)))
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		if bytes.Compare(first[:], second[:]) >= 0 || first.String() >= second.String() {
			t.Fatalf("%s of %d, %s of %d", first, at, second, later)
		}
	})
}

func TestWithoutRandomThereIsNoUUID(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	if id, err := prism.NewUUID(time.Unix(1, 0), iotest.ErrReader(broken)); !errors.Is(err, broken) || !id.IsZero() {
		t.Errorf("%v, %v", id, err)
	}
	if id, err := prism.NewUUID(time.Unix(1, 0), bytes.NewReader(make([]byte, 9))); err == nil || !id.IsZero() {
		t.Errorf("9 random bytes: %v, %v", id, err)
	}
}

func TestAPathNamesAPrismBySlugOrByID(t *testing.T) {
	t.Parallel()
	if ref := prism.ParseRef(strings.ToUpper(canonical)); ref.Slug != "" || ref.ID.String() != canonical {
		t.Errorf("%+v", ref)
	}
	if ref := prism.ParseRef("ticket"); ref.Slug != "ticket" || !ref.ID.IsZero() {
		t.Errorf("%+v", ref)
	}
}

func TestTheFirstUUIDOfATimeIsBeforeAllOthersOfItAndAfterThoseBefore(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1_795_000_000_123)
	first := prism.FirstUUID(at)
	least, err := prism.NewUUID(at, bytes.NewReader(make([]byte, 16)))
	if err != nil || first != least {
		t.Errorf("the first is %s, the least that can be created is %s, %v", first, least, err)
	}
	last, err := prism.NewUUID(at.Add(-time.Millisecond), bytes.NewReader(bytes.Repeat([]byte{0xff}, 16)))
	if err != nil || bytes.Compare(last[:], first[:]) >= 0 {
		t.Errorf("%s is not before %s, %v", last, first, err)
	}
	if early := prism.FirstUUID(time.UnixMilli(-1)); !early.IsZero() {
		t.Errorf("before 1970: %s", early)
	}
}

// spec: row-result-id
func TestTheIDOfARowsResultIsDecidedByRunRowAndAttempt(t *testing.T) {
	t.Parallel()
	begun := time.UnixMilli(1_800_000_000_123)
	run := prism.RunID{UUID: prism.UUID{0: 1, 15: 2}}
	id := prism.RowResultID(begun, run, 7, 1)
	if want := "01a3185c-507b-7573-9772-8ef9e4f51bd8"; id.String() != want {
		t.Errorf("the id is %s, want %s: a row that is under way would be saved twice", id, want)
	}
	if first := prism.FirstUUID(begun); string(id.UUID[:6]) != string(first[:6]) || id.UUID[6]>>4 != 7 || id.UUID[8]>>6 != 2 {
		t.Errorf("%s is no UUIDv7 of its time", id)
	}
	seen := map[prism.ResultID]bool{}
	for row := range int64(300) {
		for attempt := range int32(3) {
			for _, of := range []prism.RunID{run, {UUID: prism.UUID{0: 1, 15: 3}}} {
				seen[prism.RowResultID(begun, of, row, attempt)] = true
			}
		}
	}
	if want := 300 * 3 * 2; len(seen) != want {
		t.Errorf("%d rows and attempts have %d ids", want, len(seen))
	}
}
