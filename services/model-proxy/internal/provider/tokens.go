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
	Cost   Cost  // as the upstream reports it
}

// Known reports whether the upstream said anything of the call.
func (t Tokens) Known() bool { return t.Input.Known || t.Output.Known || t.Cost.Known }

// Cost is what an upstream says that a call cost, in 10⁻¹² of its currency. It is not known when the upstream does not report it, or
// reports something else.
type Cost struct {
	N     int64
	Known bool
}

const (
	// costUnit is how many units of a Cost are one of the currency.
	costUnit = 1e12
	// maxCost is more than a call costs. Up to it a float64 is exact to the unit.
	maxCost = 1000
)

// UnmarshalJSONFrom implements the JSON library's UnmarshalerFrom. It accepts every value.
func (c *Cost) UnmarshalJSONFrom(d *strictjson.Decoder) error {
	raw, err := d.ReadValue()
	if err != nil {
		return err
	}
	*c = Cost{}
	if n, err := strconv.ParseFloat(string(raw), 64); err == nil && n >= 0 && n <= maxCost {
		*c = Cost{int64(math.Round(n * costUnit)), true}
	}
	return nil
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
