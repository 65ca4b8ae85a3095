package calibration

import (
	"math/rand/v2"
	"testing"

	"github.com/prism-results/prism/pkg/prism"
)

// BenchmarkMeasure computes all measures and intervals of 10,000 labels.
func BenchmarkMeasure(b *testing.B) {
	for _, w := range []world{
		{"yes_no", prism.Binary, 2, 1.7, 1},
		{"choice of 4", prism.Nominal, 4, 0.6, 1},
		{"choice of 26", prism.Nominal, 26, 0.6, 1},
		{"choice of 255", prism.Nominal, 255, 0.6, 1},
		{"scale of 10", prism.Ordinal, 10, 0.7, 1},
	} {
		observations, _ := w.draw(rand.New(rand.NewPCG(1, 2)), 10000)
		b.Run(w.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Measure(w.kind, observations); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
