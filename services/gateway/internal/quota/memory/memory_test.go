package memory_test

import (
	"testing"
	"time"

	"github.com/prism-results/prism/services/gateway/internal/quota"
	"github.com/prism-results/prism/services/gateway/internal/quota/memory"
	"github.com/prism-results/prism/services/gateway/internal/quota/quotatest"
)

func TestCountsInMemoryPassTheSuite(t *testing.T) {
	t.Parallel()
	quotatest.Run(t, func(_ *testing.T, now func() time.Time) quota.Counter { return memory.New(now) })
}
