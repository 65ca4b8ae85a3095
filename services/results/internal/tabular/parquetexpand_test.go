package tabular_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/klauspost/compress/snappy"
	"pgregory.net/rapid"

	"github.com/prism-results/prism/services/results/internal/tabular"
)

// sequence is bytes as they are, and then a reference to earlier ones.
type sequence struct {
	literal []byte
	back, n int
}

func sequences() *rapid.Generator[[]sequence] {
	return rapid.Custom(func(t *rapid.T) []sequence {
		var all []sequence
		size := 0
		for range rapid.IntRange(1, 30).Draw(t, "sequences") {
			literal := bytes.Repeat(rapid.SliceOfN(rapid.Byte(), 1, 100).Draw(t, "literal"), rapid.SampledFrom([]int{1, 3, 3000}).Draw(t, "times"))
			size += len(literal)
			s := sequence{literal, rapid.IntRange(1, min(size, 65_535)).Draw(t, "back"), rapid.SampledFrom([]int{4, 18, 19, 64, 300, 200_000}).Draw(t, "n")}
			size += s.n
			all = append(all, s)
		}
		return append(all, sequence{literal: []byte("the end")})
	})
}

func expanded(all []sequence) (b []byte) {
	for _, s := range all {
		b = append(b, s.literal...)
		for range s.n {
			b = append(b, b[len(b)-s.back])
		}
	}
	return b
}

func asSnappy(all []sequence) []byte {
	b := binary.AppendUvarint(nil, uint64(len(expanded(all))))
	for _, s := range all {
		for rest := s.literal; len(rest) > 0; {
			part := rest[:min(len(rest), 1<<16)]
			if rest = rest[len(part):]; len(part) <= 60 {
				b = append(b, byte(len(part)-1)<<2)
			} else {
				b = append(b, 61<<2, byte(len(part)-1), byte((len(part)-1)>>8))
			}
			b = append(b, part...)
		}
		for n := s.n; n > 0; n -= min(n, 64) {
			switch part := min(n, 64); {
			case part >= 4 && part <= 11 && s.back < 1<<11:
				b = append(b, byte(s.back>>8)<<5|byte(part-4)<<2|1, byte(s.back))
			case part%2 == 0:
				b = append(b, byte(part-1)<<2|2, byte(s.back), byte(s.back>>8))
			default:
				b = binary.LittleEndian.AppendUint32(append(b, byte(part-1)<<2|3), uint32(s.back))
			}
		}
	}
	return b
}

func asLZ4(all []sequence) (b []byte) {
	more := func(b []byte, n int) []byte {
		for ; n >= 0xff; n -= 0xff {
			b = append(b, 0xff)
		}
		return append(b, byte(n))
	}
	for _, s := range all {
		b = append(b, byte(min(len(s.literal), 15))<<4|byte(min(max(s.n-4, 0), 15)))
		if len(s.literal) >= 15 {
			b = more(b, len(s.literal)-15)
		}
		if b = append(b, s.literal...); s.n == 0 {
			break
		}
		if b = append(b, byte(s.back), byte(s.back>>8)); s.n-4 >= 15 {
			b = more(b, s.n-4-15)
		}
	}
	return b
}

// spec: file-parquet
func TestBlocksExpandToWhatTheySay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := sequences().Draw(t, "sequences")
		want := expanded(all)
		most := int64(len(want))
		lz4 := asLZ4(all)
		hadoop := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(len(want))), uint32(len(lz4)))
		memory := rapid.SampledFrom([]int64{0, 1 << 30}).Draw(t, "memory")
		for name, c := range map[string]struct {
			codec int64
			data  []byte
		}{
			"Snappy": {tabular.Snappy, asSnappy(all)}, "LZ4_RAW": {tabular.LZ4Raw, lz4},
			"LZ4": {tabular.LZ4, lz4}, "LZ4 of Hadoop": {tabular.LZ4, append(hadoop, lz4...)},
		} {
			if got, err := tabular.Expand(c.codec, most, memory, c.data); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%s: %d bytes of %d: %v", name, len(got), len(want), err)
			}
			if _, err := tabular.Expand(c.codec, most-1, memory, c.data); err == nil {
				t.Fatalf("%s: a byte more than the page says", name)
			}
		}
	})
}

// References of Snappy may go back farther than any that usual programs write.
//
// spec: file-parquet
func TestReferencesGoBackToAnyByte(t *testing.T) {
	t.Parallel()
	const distance = 400_000
	literal := make([]byte, distance)
	for i := range literal {
		literal[i] = byte(i * i >> 7)
	}
	data := binary.AppendUvarint(nil, distance+100)
	data = append(append(data, 62<<2, byte((distance-1)&0xff), byte((distance-1)>>8&0xff), byte((distance-1)>>16)), literal...)
	for range 2 {
		data = binary.LittleEndian.AppendUint32(append(data, 49<<2|3), distance)
	}
	for _, memory := range []int64{0, 1 << 30} {
		got, err := tabular.Expand(tabular.Snappy, distance+100, memory, data)
		if err != nil || !bytes.Equal(got, slices.Concat(literal, literal[:100])) {
			t.Errorf("%d bytes: %v", len(got), err)
		}
	}
}

// FuzzSnappy compares with the library, and the two places where a page can be.
//
// spec: file-parquet
func FuzzSnappy(f *testing.F) {
	f.Add(snappy.Encode(nil, bytes.Repeat([]byte("Where is my card? "), 50)))
	f.Add([]byte{3, 8, 'a', 'b', 'c'})
	f.Add([]byte{8, 0, 'a', 1<<2 | 1, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		const most = 1 << 20
		if n, err := snappy.DecodedLen(data); err != nil || n > most {
			t.Skip()
		}
		want, wantErr := snappy.Decode(nil, data)
		for _, memory := range []int64{0, most} {
			got, err := tabular.Expand(tabular.Snappy, most, memory, data)
			if (err == nil) != (wantErr == nil) || err == nil && !bytes.Equal(got, want) {
				t.Fatalf("%q, %v; the library has %q, %v", got, err, want, wantErr)
			}
		}
	})
}
