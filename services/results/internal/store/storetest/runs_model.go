package storetest

import "testing"
import "github.com/prism-results/prism/services/results/internal/store"

func checkRunsAgainstModel(t *testing.T, open func(t *testing.T) store.Store) {}
