package provider

import (
	"math"
	"strconv"

	"github.com/prism-results/prism/pkg/strictjson"
)

// Tokens counts the tokens of a call.
type Tokens struct {
	Input  Count
	Output Count
	Cached Count // those of Input that the upstream read from a cache
}

// Count is a number of tokens. It is not known when the upstream does not report it, or reports something else.
type Count struct {
	N     int64
	Known bool
}

// maxCount is more tokens than a call can have. Sums of counts up to it do not overflow.
const maxCount = 1e12

// UnmarshalJSONFrom implements the JSON library's UnmarshalerFrom. It accepts every value. Some hosts write 90.0 for 90.
func (c *Count) UnmarshalJSONFrom(d *strictjson.Decoder) error {
	raw, err := d.ReadValue()
	if err != nil {
		return err
	}
	*c = Count{}
	if n, err := strconv.ParseFloat(string(raw), 64); err == nil && n >= 0 && n <= maxCount && n == math.Trunc(n) {
		*c = Count{int64(n), true}
	}
	return nil
}

// Add is the sum of two counts. If only one is known, the sum is that one.
func (c Count) Add(other Count) Count { return Count{c.N + other.N, c.Known || other.Known} }
