package blobs_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/testkit/s3test"
	"github.com/prism-results/prism/services/results/internal/blobs"
	"github.com/prism-results/prism/services/results/internal/store"
)

// faulty is a bucket behind a proxy that does to each request of a kind what fault says, as often as times says.
type faulty struct {
	blobs.Blobs
	fault atomic.Pointer[s3test.Fault]
	times atomic.Int64
}

// shortLimit is the bound of a request here.
const shortLimit = time.Second

func newFaulty(t *testing.T, in s3test.Store, matches func(*http.Request) bool) *faulty {
	t.Helper()
	f := &faulty{}
	proxy := in.Proxy(t, func(r *http.Request) s3test.Fault {
		if matches(r) && f.fault.Load() != nil && f.times.Add(-1) >= 0 {
			return *f.fault.Load()
		}
		return s3test.None
	})
	b, err := blobs.InBucketWithin(s3test.URL(s3test.Bucket, proxy.URL), shortLimit, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	f.Blobs = b
	return f
}

// A request that fails once or always makes no content wrong, and is no content that is missing.
//
// spec: file-faults
func TestNoFaultOfABucketMakesAContentWrong(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", s3test.Access)
	t.Setenv("AWS_SECRET_ACCESS_KEY", s3test.Secret)
	in := s3test.New(t)
	direct, err := blobs.InBucket(s3test.URL(s3test.Bucket, in.Endpoint), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	content := random(contract.PartBytes)
	type call struct {
		method string
		list   bool
		check  func(faultCase, *testing.T)
	}
	var cases sync.WaitGroup
	defer cases.Wait()
	places, n := make(chan struct{}, 32), byte(0) // they wait most of their time
	for _, c := range []call{
		{http.MethodPut, false, faultCase.put},
		{http.MethodGet, false, faultCase.get},
		{http.MethodGet, true, faultCase.delete},
		{http.MethodDelete, false, faultCase.delete},
	} {
		for _, fault := range s3test.Faults(c.method, c.list) {
			for _, always := range []bool{false, true} {
				n++
				b := faultCase{direct: direct, file: owner(9, n), content: content, fault: fault, always: always}
				cases.Go(func() {
					places <- struct{}{}
					defer func() { <-places }()
					t.Run(fmt.Sprintf("%s, a list: %v, %s, always: %v", c.method, c.list, fault, always), func(t *testing.T) {
						b.faulty = newFaulty(t, in, func(r *http.Request) bool { return r.Method == c.method && s3test.IsList(r) == c.list })
						if err := direct.Put(t.Context(), b.file, "part-1", content); err != nil {
							t.Fatal(err)
						}
						b.times.Store(1)
						if always {
							b.times.Store(1 << 30)
						}
						b.faulty.fault.Store(&fault)
						c.check(b, t)
					})
				})
			}
		}
	}
}

// faultCase is a file with a content, part-1, in a bucket that fails.
type faultCase struct {
	*faulty
	direct  blobs.Blobs
	file    store.FileOwner
	content []byte
	fault   s3test.Fault
	always  bool
}

func (c faultCase) put(t *testing.T) {
	err := c.Put(t.Context(), c.file, "part-2", c.content)
	if err != nil && !errors.Is(err, store.ErrUnavailable) || c.always && err == nil {
		t.Errorf("the call: %v", err)
	}
	got, missing := c.direct.Get(t.Context(), c.file, "part-2", 0, contract.PartBytes)
	if whole := missing == nil && bytes.Equal(got, c.content); !whole && (err == nil || !errors.Is(missing, store.ErrContentMissing)) {
		t.Errorf("the call: %v, and stored are %d bytes, %v", err, len(got), missing)
	}
	c.times.Store(0)
	for {
		if err = c.Put(t.Context(), c.file, "part-2", c.content); !errors.Is(err, store.ErrUnavailable) {
			break // a store on a busy machine may have no answer in time
		}
	}
	if err != nil {
		t.Errorf("the next call: %v", err)
	}
}

func (c faultCase) get(t *testing.T) {
	for _, r := range [][2]int64{{0, contract.PartBytes}, {contract.PartBytes / 2, 99}} {
		got, err := c.Get(t.Context(), c.file, "part-1", r[0], r[1])
		right := bytes.Equal(got, c.content[r[0]:][:r[1]])
		switch {
		case c.fault == s3test.Vanished && c.always && !errors.Is(err, store.ErrContentMissing),
			c.fault != s3test.Vanished && err != nil && !errors.Is(err, store.ErrUnavailable):
			t.Errorf("the range %v: %v", r, err)
		case c.fault == s3test.OtherAnswer, c.fault == s3test.ShortAnswer: // seen by a digest or the length, by who reads
		case err == nil && (!right || c.always):
			t.Errorf("the range %v has %d bytes, which are right: %v", r, len(got), right)
		}
	}
}

// delete deletes as the worker does: until nothing is left to be found.
func (c faultCase) delete(t *testing.T) {
	for again := true; again; {
		var err error
		if again, err = c.Delete(t.Context(), c.file, "", "part-1"); err != nil && !errors.Is(err, store.ErrUnavailable) {
			t.Fatal(err)
		} else if err != nil {
			again = true
			c.times.Store(0)
		}
	}
	if _, left := c.direct.Get(t.Context(), c.file, "part-1", 0, 9); !errors.Is(left, store.ErrContentMissing) {
		t.Errorf("nobody will delete the content: %v", left)
	}
}
