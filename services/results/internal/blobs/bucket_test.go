package blobs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/freeport"
	"github.com/prism-results/prism/pkg/testkit/s3test"
	"github.com/prism-results/prism/services/results/internal/blobs"
	"github.com/prism-results/prism/services/results/internal/store"
)

// The credentials are variables of the process.
//
// spec: file-parts
func TestABucketKeepsContents(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", s3test.Access)
	t.Setenv("AWS_SECRET_ACCESS_KEY", s3test.Secret)
	endpoint := s3test.New(t).Endpoint
	for _, bucket := range []string{s3test.Bucket, s3test.Bucket + "/a/prefix/"} {
		b, err := blobs.InBucket(s3test.URL(bucket, endpoint), slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		suite(t, b)
		// The next one is of another prefix, or else would find these.
		for _, f := range []store.FileOwner{owner(1, 1), owner(1, 2), owner(2, 1), owner(3, 3)} {
			if _, err := b.Delete(t.Context(), f, ""); err != nil {
				t.Fatal(err)
			}
		}
	}
	nowhere, err := blobs.InBucket(s3test.URL("another-bucket", endpoint), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	err = nowhere.Put(t.Context(), owner(1, 1), "part-1", []byte("content"))
	if err == nil || errors.Is(err, store.ErrUnavailable) || strings.Contains(err.Error(), owner(1, 1).ID.String()) {
		t.Errorf("without a bucket: %v", err)
	}
	if _, err := nowhere.Get(t.Context(), owner(1, 1), "part-1", 0, 1); err == nil || errors.Is(err, store.ErrContentMissing) {
		t.Errorf("a content of no bucket: %v", err)
	}
	free, err := freeport.Addr()
	if err != nil {
		t.Fatal(err)
	}
	away, err := blobs.InBucket(s3test.URL(s3test.Bucket, "http://"+free), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := away.Put(t.Context(), owner(1, 1), "part-1", []byte("content")); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("without an object store: %v", err)
	}
}

func TestTheAddressOfABucketIsChecked(t *testing.T) {
	t.Parallel()
	for _, wrong := range []string{
		"", "s3://", "https://bucket", "s3://key:secret@bucket", "s3://bucket?endpoint=host:9000", "s3://bucket?endpoint=ftp://host",
		"s3://bucket?secret=hidden", "s3:///prefix", "s3://bucket?endpoint=http://a/%zz",
	} {
		if _, err := blobs.InBucket(wrong, slog.New(slog.DiscardHandler)); err == nil || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

// The file of credentials is named by a variable of the process.
//
// spec: secrets-from-files
func TestTheKeysOfABucketFollowTheirFile(t *testing.T) {
	write := keysFile(t)
	write(s3test.Access, "another")
	b, err := blobs.InBucket(s3test.URL(s3test.Bucket, s3test.New(t).Endpoint), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	put := func() error { return b.Put(t.Context(), owner(1, 1), "part-1", []byte("content")) }
	if err := put(); err == nil {
		t.Fatal("a wrong key was taken")
	}
	write(s3test.Access, s3test.Secret)
	tick, late := time.NewTicker(50*time.Millisecond), time.NewTimer(2*time.Minute)
	defer tick.Stop()
	defer late.Stop()
	for put() != nil {
		select {
		case <-tick.C:
		case <-late.C:
			t.Fatal("the new key is not used")
		}
	}
}

// An object store has two pairs of keys while the file goes over from one to the other, and loses the first when it is shown no more.
//
// spec: secrets-from-files
func TestTheKeysOfABucketAreReplacedUnderLoad(t *testing.T) {
	const writers = 8
	type shown struct {
		key   string
		since int // puts of the writer with the key
	}
	var (
		mu    sync.Mutex
		ended = map[string]bool{}
		last  = map[string]shown{} // by the path of the writer
	)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, after, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
		key, _, _ := strings.Cut(after, "/")
		mu.Lock()
		defer mu.Unlock()
		if ended[key] || key == "" {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, "<Error><Code>InvalidAccessKeyId</Code></Error>")
			return
		}
		was := last[r.URL.Path]
		if was.key != key {
			was = shown{key: key}
		}
		was.since++
		last[r.URL.Path] = was
		w.Header().Set("ETag", `"0"`)
	}))
	t.Cleanup(server.Close)
	write := keysFile(t)
	write("key-0", "secret")
	b, err := blobs.InBucket(s3test.URL("bucket", server.URL), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	for i := range byte(writers) {
		all.Go(func() {
			for ctx.Err() == nil {
				if err := b.Put(t.Context(), owner(1, i), "part-1", []byte("content")); err != nil {
					t.Errorf("a put failed: %v", err)
					return
				}
			}
		})
	}
	tick, late := time.NewTicker(10*time.Millisecond), time.NewTimer(3*time.Minute)
	defer tick.Stop()
	defer late.Stop()
	for round := range 3 {
		key := fmt.Sprintf("key-%d", round)
		uses := func() bool {
			mu.Lock()
			defer mu.Unlock()
			n := 0
			for _, s := range last {
				if s.key == key && s.since >= 2 {
					n++
				}
			}
			return n == writers
		}
		for !uses() && !t.Failed() {
			select {
			case <-tick.C:
			case <-late.C:
				t.Fatalf("%s is not used", key)
			}
		}
		mu.Lock()
		ended[fmt.Sprintf("key-%d", round-1)] = true
		mu.Unlock()
		write(fmt.Sprintf("key-%d", round+1), "secret")
	}
}

// keysFile has the process take its keys from a file, and writes them there.
func keysFile(t *testing.T) (write func(key, secret string)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "credentials")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", path)
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	return func(key, secret string) {
		t.Helper()
		text := "[default]\naws_access_key_id = " + key + "\naws_secret_access_key = " + secret + "\n"
		if err := errors.Join(os.WriteFile(path+".new", []byte(text), 0o600), os.Rename(path+".new", path)); err != nil {
			t.Fatal(err)
		}
	}
}
