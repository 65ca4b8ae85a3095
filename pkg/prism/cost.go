package prism

import (
	"bytes"
	"fmt"
	"math/big"
)

// costUnit is one unit of the currency in units of Usage.Cost, and costDigits is how many decimals an amount has.
const (
	costUnit   = 1_000_000_000_000
	costDigits = 12
)

// Cost is an amount of a currency: Whole units and Rest, in 10⁻¹² of a unit. Rest may exceed a whole unit.
type Cost struct{ Whole, Rest int64 }

// Add adds two costs exactly. The Rest of the sum is less than a whole unit.
func (c Cost) Add(other Cost) Cost {
	rest := c.Rest%costUnit + other.Rest%costUnit
	return Cost{c.Whole + other.Whole + c.Rest/costUnit + other.Rest/costUnit + rest/costUnit, rest % costUnit}
}

// Float64 is the number nearest to the cost.
func (c Cost) Float64() float64 {
	f, _ := new(big.Rat).SetFrac(c.rests(), big.NewInt(costUnit)).Float64()
	return f
}

// MarshalJSON writes a number.
func (c Cost) MarshalJSON() ([]byte, error) { return []byte(c.String()), nil }

// String is the exact decimal number without zeros at its end, such as 0.000125.
func (c Cost) String() string {
	whole, rest := c.rests(), new(big.Int)
	whole.QuoRem(whole, big.NewInt(costUnit), rest)
	b := fmt.Appendf(nil, "%d.%0*d", whole, costDigits, rest)
	return string(bytes.TrimRight(bytes.TrimRight(b, "0"), "."))
}

// rests is the whole cost in the unit of Rest.
func (c Cost) rests() *big.Int {
	sum := new(big.Int).Mul(big.NewInt(c.Whole), big.NewInt(costUnit))
	return sum.Add(sum, big.NewInt(c.Rest))
}
