package blobs_test

import (
	"errors"
	"strings"
	"testing"

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
		b, err := blobs.InBucket(s3test.URL(bucket, endpoint))
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
	nowhere, err := blobs.InBucket(s3test.URL("another-bucket", endpoint))
	if err != nil {
		t.Fatal(err)
	}
	err = nowhere.Put(t.Context(), owner(1, 1), "part-1", []byte("content"))
	if err == nil || errors.Is(err, store.ErrUnavailable) || strings.Contains(err.Error(), owner(1, 1).ID.String()) {
		t.Errorf("without a bucket: %v", err)
	}
	if _, err := nowhere.Get(t.Context(), owner(1, 1), "part-1", 0, 1); err == nil || errors.Is(err, blobs.ErrMissing) {
		t.Errorf("a content of no bucket: %v", err)
	}
	free, err := freeport.Addr()
	if err != nil {
		t.Fatal(err)
	}
	away, err := blobs.InBucket(s3test.URL(s3test.Bucket, "http://"+free))
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
		if _, err := blobs.InBucket(wrong); err == nil || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}
