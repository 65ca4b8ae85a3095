package size

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/prism"
)

// spec: turns-of-work
func TestWhatMustBeCountedTakesItsTurn(t *testing.T) {
	t.Parallel()
	small := []prism.FieldValue{{Key: "a", Value: strings.Repeat("x", apierr.TokenLimit)}}
	large := []prism.FieldValue{{Key: "a", Value: strings.Repeat("x", apierr.TokenLimit+1)}}
	synctest.Test(t, func(t *testing.T) {
		turns := fair.NewQueue(1, 0)
		call := New(turns).ForCall(fair.With(t.Context(), "a"))
		if err := call.Check(prism.Definition{}, large, ""); err != nil {
			t.Errorf("a text in its turn: %v", err)
		}
		if turns.Taken() != 0 {
			t.Error("the turn did not end")
		}
		if !turns.TryTake("b", fair.Preferred) {
			t.Fatal("no turn is left")
		}
		if err := call.Check(prism.Definition{}, small, ""); err != nil {
			t.Errorf("a text that is not counted: %v", err)
		}
		if err := call.Check(prism.Definition{}, large, ""); !errors.Is(err, contract.ErrUnavailable) {
			t.Errorf("a text without a turn: %v", err)
		}
		if _, err := call.Count("text"); !errors.Is(err, contract.ErrUnavailable) {
			t.Errorf("a count without a turn: %v", err)
		}
	})
}
