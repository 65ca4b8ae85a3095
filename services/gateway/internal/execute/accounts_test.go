package execute_test

import (
	"encoding/binary"
	"testing"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/gateway/internal/execute"
)

// spec: unknown-keys
func TestTheAccountsOfTenThousandKeysAreRemembered(t *testing.T) {
	t.Parallel()
	const most = 10_000
	accounts := execute.NewAccounts()
	key := func(n int) (k contract.KeyDigest) {
		binary.BigEndian.PutUint32(k[:], uint32(n))
		return k
	}
	for n := range most + 1 {
		accounts.Remember(t.Context(), key(n), prism.AccountID{UUID: prism.UUID{1}})
	}
	for n, want := range map[int]bool{0: false, 1: true, most: true} {
		if _, got := accounts.Get(key(n)); got != want {
			t.Errorf("the account of key %d is remembered: %v", n, got)
		}
	}
}
