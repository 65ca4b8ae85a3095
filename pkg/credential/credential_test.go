package credential_test

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prism-results/prism/pkg/credential"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func file(t *testing.T, text string) (source credential.Source, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "secret")
	write(t, path, text)
	source, err := credential.File(path, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	return source, path
}

func want(t *testing.T, source credential.Source, text string) {
	t.Helper()
	if got := source.Secret(); got != text {
		t.Errorf("got %q, want %q", got, text)
	}
}

// spec: secrets-from-files
func TestASecretFollowsItsFile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source, path := file(t, "first\n")
		want(t, source, "first")
		write(t, path, " second")
		<-time.After(time.Second) // of the bubble's clock
		want(t, source, "second")
		write(t, path, "\n")
		<-time.After(time.Second)
		want(t, source, "second")
	})
}

// spec: secrets-from-files
func TestARefusedSecretIsReplacedByTheOther(t *testing.T) {
	t.Parallel()
	source, path := file(t, "first")
	want(t, source, "first")
	source.Refused("first") // there is no other one
	want(t, source, "first")
	write(t, path, "second")
	source.Refused("first") // the file is read at once
	want(t, source, "second")
	source.Refused("first") // of a connection that was slow
	want(t, source, "second")
	source.Refused("second") // the other side does not have it yet
	want(t, source, "first")
	source.Refused("first")
	want(t, source, "second")
}

// spec: secrets-from-files
func TestAPartOfAFileIsRotatedAsAFileIs(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "parts")
	write(t, path, "a=first b=1")
	source, err := credential.Part(path, slog.New(slog.DiscardHandler), func(content []byte) (string, error) {
		part, _, found := strings.Cut(strings.TrimPrefix(string(content), "a="), " ")
		if !found {
			return "", errors.New("has no b")
		}
		return part, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, "a=second b=1")
	source.Refused("first")
	want(t, source, "second")
	write(t, path, "a=second b=2") // another part
	source.Refused("second")
	want(t, source, "first") // which the other side may still have
	write(t, path, "a=third")
	source.Refused("first")
	want(t, source, "second")
}

func TestAFileWithoutASecretStopsTheStart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret")
	for _, prepare := range []func(){func() {}, func() { write(t, path, "\n") }} {
		prepare()
		if _, err := credential.File(path, slog.New(slog.DiscardHandler), nil); err == nil || !strings.HasPrefix(err.Error(), path+": ") {
			t.Errorf("got %v", err)
		}
	}
}

// The file is named by a variable of the process.
//
// spec: secrets-from-files
func TestKeysOfAWSFollowTheirFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "credentials")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", path)
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	keysOf := func(name string) string {
		return "[default]\naws_access_key_id = " + name + "\naws_secret_access_key = secret of " + name + "\n"
	}
	write(t, path, keysOf("first"))
	synctest.Test(t, func(t *testing.T) {
		keys, err := credential.AWSKeys(slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"first", "second"} {
			write(t, path, keysOf(name))
			<-time.After(time.Second)
			got, err := keys.GetWithContext(nil)
			if err != nil || got.AccessKeyID != name || got.SecretAccessKey != "secret of "+name {
				t.Errorf("got %q of %q, %v", got.SecretAccessKey, got.AccessKeyID, err)
			}
		}
	})
	write(t, path, "[other]\n")
	if _, err := credential.AWSKeys(slog.New(slog.DiscardHandler)); err == nil || !strings.HasPrefix(err.Error(), "AWS_SHARED_CREDENTIALS_FILE: ") {
		t.Errorf("got %v", err)
	}
}
