package modelsfile

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prism-results/prism/services/model-proxy/internal/models"
)

// spec: secrets-from-files
func TestTheKeyOfTheSingleModelFollowsItsFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "key")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg := Config{Single: models.Spec{Provider: "systemone"}, SingleKeyFile: path, Log: slog.New(slog.DiscardHandler)}
	write("\n")
	if _, err := Open(cfg); err == nil || !strings.HasPrefix(err.Error(), "PRISM_MODEL_API_KEY_FILE: "+path) {
		t.Fatalf("got %v", err)
	}
	write("first\n")
	s, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	want := func(key string) {
		t.Helper()
		set := s.Acquire()
		defer set.Release()
		if got := set.Default().APIKey; got != key || set.Default().Name != DefaultName {
			t.Errorf("the key is %q, want %q", got, key)
		}
	}
	want("first")
	write("second\n")
	s.Refresh(t.Context())
	want("second")
	write("")
	s.Refresh(t.Context())
	want("second")
}
