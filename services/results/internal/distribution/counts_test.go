package distribution

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/prism-results/prism/pkg/prism"
)

func anyHour() *rapid.Generator[hour] {
	return rapid.Custom(func(t *rapid.T) (h hour) {
		count := rapid.Int64Range(1, 1<<50)
		for i := range h {
			h[i].Values = rapid.MapOfN(rapid.StringN(0, 9, 9), count, 0, 3).Draw(t, "values")
			for bin, n := range rapid.MapOfN(rapid.IntRange(0, Bins-1), count, 0, 3).Draw(t, "bins") {
				if h[i].Bins == nil {
					h[i].Bins = make([]int64, Bins)
				}
				h[i].Bins[bin] = n
			}
			h[i].Probability, h[i].Labelled, h[i].Right = count.Draw(t, "p"), count.Draw(t, "labelled"), count.Draw(t, "right")
		}
		return h
	})
}

func TestStoredCountsReadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h := anyHour().Draw(t, "hour")
		b := h.encode()
		var got hour
		if err := got.decode(b); err != nil || !reflect.DeepEqual(got, h) {
			t.Fatalf("%v\ngot  %v\nwant %v", err, got, h)
		}
		if err := (&hour{}).decode(b[:rapid.IntRange(0, len(b)-1).Draw(t, "cut")]); err == nil {
			t.Fatal("counts that are cut off are read")
		}
		if err := (&hour{}).decode(append(b, 0)); err == nil {
			t.Fatal("more than counts is read")
		}
	})
}

func TestWhatIsNoStoredCountsIsRefused(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		_ = (&hour{}).decode(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) // and does not panic
	})
	for name, b := range map[string][]byte{
		"nothing": nil, "too many bins": {0, 102}, "a bin behind the last": {0, 1, 101, 1}, "a value that is longer": {1, 9, 'a'},
	} {
		if err := (&hour{}).decode(b); err == nil {
			t.Errorf("%s is read", name)
		}
	}
}

// spec: distribution-row
func TestARowHasTheSumsOfItsQuarters(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	begins := []time.Time{begin, begin.Add(24 * time.Hour), begin.Add(48 * time.Hour), begin.Add(72 * time.Hour)}
	q := prism.Question{Key: "topic", Type: prism.Choice, Options: []prism.Option{{Key: "b"}, {Key: "a"}}}
	of := func(at time.Duration, value string, n int64) Quarter {
		return Quarter{begin.Add(at), Counts{Values: map[string]int64{value: n}, Probability: n * Unit / 3, Labelled: n, Right: 1}}
	}
	got := rows(q, begins, []Quarter{of(0, "a", 2), of(23*time.Hour+45*time.Minute, "gone", 1), of(48*time.Hour, "b", 3)})
	if len(got) != 2 {
		t.Fatalf("there are %d rows: %+v", len(got), got)
	}
	first := got[0]
	if !first.At.Equal(begin) || first.Answers != 3 || first.Labelled != 3 || first.Right != 2 || first.Probability != 0.333333 || first.Bins != nil {
		t.Errorf("got %+v", first)
	}
	values := map[any]int64{}
	for _, v := range first.Values {
		values[v.Value] = v.Count
	}
	if len(first.Values) != 3 || first.Values[0].Value != "b" || !reflect.DeepEqual(values, map[any]int64{"b": 0, "a": 2, "gone": 1}) {
		t.Errorf("the values are %v", first.Values)
	}
	if !got[1].At.Equal(begins[2]) || got[1].Answers != 3 {
		t.Errorf("got %+v", got[1])
	}
}
