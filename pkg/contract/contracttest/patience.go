package contracttest

import (
	"context"
	"testing"
	"time"
)

// patience is a bound for a call on a machine under any load: the suite tests results, not times.
func patience(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}
