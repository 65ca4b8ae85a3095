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

// Add adds two costs. The rests of fewer than nine million costs do not overflow.
func (c Cost) Add(other Cost) Cost { return Cost{c.Whole + other.Whole, c.Rest + other.Rest} }

// MarshalJSON writes the exact decimal number without zeros at its end, such as 0.000125.
func (c Cost) MarshalJSON() ([]byte, error) {
	sum := new(big.Int).Mul(big.NewInt(c.Whole), big.NewInt(costUnit))
	whole, rest := sum.Add(sum, big.NewInt(c.Rest)).QuoRem(sum, big.NewInt(costUnit), new(big.Int))
	b := fmt.Appendf(nil, "%d.%0*d", whole, costDigits, rest)
	return bytes.TrimRight(bytes.TrimRight(b, "0"), "."), nil
}
