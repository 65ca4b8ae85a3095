package build

import (
	"runtime/debug"
	"testing"
)

func TestRead(t *testing.T) {
	t.Parallel()
	got := Read(func() (*debug.BuildInfo, bool) {
		return &debug.BuildInfo{
			GoVersion: "go1.26", Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}},
		}, true
	}).String()
	if want := Version + " (revision abc, go1.26)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	got = Read(func() (*debug.BuildInfo, bool) { return nil, false }).String()
	if want := Version + " (revision unknown, unknown)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
