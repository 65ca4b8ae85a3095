package contracttest

import (
	"context"
	"testing"
	"time"
)

// patience is how long a call may take on a machine of any load: what is held here are answers, not times.
func patience(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}
