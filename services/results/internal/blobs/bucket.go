package blobs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/prism-results/prism/pkg/credential"
	"github.com/prism-results/prism/services/results/internal/store"
)

// bucket keeps each content as an object.
type bucket struct {
	client minio.Core
	name   string
	prefix string // of all keys; "" or ends with "/"
}

// tries bounds how often a request is sent, and requestLimit each time with its answer, besides the caller's context.
const (
	tries        = 3
	requestLimit = 10 * time.Second
)

// InBucket keeps contents in a bucket of an object store that speaks S3: s3://<bucket>/<prefix> with the parameters endpoint (an
// http or https URL; that of AWS if it is missing), region (asked for if it is missing) and path_style (true for stores that do
// not serve each bucket under a host name of its own). The credentials are credential.AWSKeys. It connects to nothing.
func InBucket(address string, log *slog.Logger) (Blobs, error) {
	return inBucket(address, requestLimit, log)
}

func inBucket(address string, limit time.Duration, log *slog.Logger) (Blobs, error) {
	u, err := url.Parse(address)
	var parameters url.Values
	if err == nil {
		parameters, err = url.ParseQuery(u.RawQuery)
	}
	if err != nil || u.Scheme != "s3" || u.Host == "" || u.User != nil {
		return nil, errors.New("must be s3://<bucket>, maybe with /<prefix> and ?endpoint=<URL>&region=<region>&path_style=true")
	}
	keys, err := credential.AWSKeys(log)
	if err != nil {
		return nil, err
	}
	o := minio.Options{Secure: true, MaxRetries: tries, Creds: keys}
	host := "s3.amazonaws.com"
	for name, values := range parameters {
		switch value := values[0]; name {
		case "endpoint":
			endpoint, err := url.Parse(value)
			if err != nil || endpoint.Host == "" || endpoint.Scheme != "http" && endpoint.Scheme != "https" {
				return nil, errors.New("the endpoint must be an http or https URL")
			}
			host, o.Secure = endpoint.Host, endpoint.Scheme == "https"
		case "region":
			o.Region = value
		case "path_style":
			if value == "true" {
				o.BucketLookup = minio.BucketLookupPath
			}
		default:
			return nil, errors.New("knows the parameters endpoint, region and path_style")
		}
	}
	transport, err := minio.DefaultTransport(o.Secure)
	if err != nil {
		return nil, err
	}
	o.Transport = answers{transport, limit}
	client, err := minio.New(host, &o)
	if err != nil {
		return nil, errors.New("is not the address of a bucket")
	}
	prefix := strings.Trim(u.Path, "/")
	if prefix != "" {
		prefix += "/"
	}
	return bucket{minio.Core{Client: client}, u.Host, prefix}, nil
}

func (b bucket) key(f store.FileOwner, name string) string {
	return b.prefix + f.Account.String() + "/" + f.ID.String() + "/" + name
}

// Put implements Blobs.
func (b bucket) Put(ctx context.Context, f store.FileOwner, name string, content []byte) error {
	size := int64(len(content))
	_, err := b.client.Client.PutObject(ctx, b.name, b.key(f, name), bytes.NewReader(content), size, minio.PutObjectOptions{
		ContentType: "application/octet-stream", DisableMultipart: true,
	})
	return translate(ctx, err)
}

// Get implements Blobs.
func (b bucket) Get(ctx context.Context, f store.FileOwner, name string, offset, n int64) (content []byte, err error) {
	var o minio.GetObjectOptions
	if err := o.SetRange(offset, offset+n-1); err != nil {
		return nil, err
	}
	body, _, header, err := b.client.GetObject(ctx, b.name, b.key(f, name), o)
	if err != nil {
		if minio.ToErrorResponse(err).Code == minio.InvalidRange { // the range begins at the end
			return nil, nil
		}
		return nil, translate(ctx, err)
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	if !strings.HasPrefix(header.Get("Content-Range"), fmt.Sprintf("bytes %d-", offset)) {
		return nil, errAnswer // a proxy has dropped the range
	}
	var found bytes.Buffer
	found.Grow(int(n) + bytes.MinRead) // else ReadFrom would grow it once more to find the end
	if _, err = found.ReadFrom(io.LimitReader(body, n)); err != nil {
		return nil, translate(ctx, err)
	}
	return found.Bytes(), nil
}

// Delete implements Blobs.
func (b bucket) Delete(ctx context.Context, f store.FileOwner, prefix string, known ...string) (again bool, err error) {
	remove := func(key string) error {
		return translate(ctx, b.client.RemoveObject(ctx, b.name, key, minio.RemoveObjectOptions{}))
	}
	for _, name := range known {
		if err := remove(b.key(f, name)); err != nil {
			return true, err
		}
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop() // ends a list that is not read to its end
	objects := b.client.ListObjectsIter(ctx, b.name, minio.ListObjectsOptions{Prefix: b.key(f, prefix), Recursive: true})
	for object := range objects {
		again = true
		err := translate(ctx, object.Err)
		if err == nil {
			err = remove(object.Key)
		}
		if err != nil {
			return true, err
		}
	}
	return again, nil
}

// passing are the codes of S3 for refusals that say nothing of the request itself: its time differs from that of the store by more than 15
// minutes, or its bytes came too slowly.
var passing = []string{"RequestTimeTooSkewed", "RequestTimeout"}

// translate returns store.ErrContentMissing, an error of a request that the object store refused, or store.ErrUnavailable for every
// other error. Of an answer it keeps only the status and the code.
func translate(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("s3: %w: %w", store.ErrUnavailable, ctx.Err())
	}
	answer, answered := errors.AsType[minio.ErrorResponse](err)
	switch {
	case answered && answer.Code == minio.NoSuchKey:
		return store.ErrContentMissing
	case answered && answer.StatusCode >= 400 && answer.StatusCode < 500 && answer.StatusCode != http.StatusTooManyRequests &&
		!slices.Contains(passing, answer.Code):
		return fmt.Errorf("s3: %d %s", answer.StatusCode, answer.Code)
	case answered:
		return fmt.Errorf("s3: %w: %d %s", store.ErrUnavailable, answer.StatusCode, answer.Code)
	}
	return fmt.Errorf("s3: %w: %w", store.ErrUnavailable, err)
}
