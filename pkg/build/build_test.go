package build

import (
	"runtime/debug"
	"testing"
)

func TestRead(t *testing.T) {
	t.Parallel()
	got := Read(func() (*debug.BuildInfo, bool) {
		return &debug.BuildInfo{
			GoVersion: "go1.26", Main: debug.Module{Version: "v1.2.3"},
			Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}},
		}, true
	}).String()
	if want := "v1.2.3 (revision abc, go1.26)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	got = Read(func() (*debug.BuildInfo, bool) { return nil, false }).String()
	if want := "unknown (revision unknown, unknown)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
