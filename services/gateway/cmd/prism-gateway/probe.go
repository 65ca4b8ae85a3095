package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/prism-results/prism/pkg/apikey"
)

const (
	// probeLimit bounds a probe, probeTry a try, and probePause is between tries.
	probeLimit, probeTry, probePause = time.Minute, 10 * time.Second, time.Second
)

// probe calls a gateway until it answers, and results and its store behind it: they refuse a key that nobody has. `helm test` runs it.
func probe(ctx context.Context, urls []string, out io.Writer) error {
	if len(urls) != 1 {
		return errors.New("usage: prism-gateway probe URL")
	}
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	key, err := apikey.New(rand.Reader)
	if err != nil {
		return err
	}
	for {
		err := refused(ctx, urls[0]+"/v1/prisms", key.Reveal())
		if err == nil {
			_, err = fmt.Fprintln(out, "Prism answers at "+urls[0])
			return err
		}
		select {
		case <-time.After(probePause):
		case <-ctx.Done():
			return err
		}
	}
}

// refused wants a 401.
func refused(ctx context.Context, url, key string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+key)
	c := &http.Client{Timeout: probeTry}
	res, err := c.Do(r)
	if err != nil {
		return err
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusUnauthorized {
		return fmt.Errorf("%s answers %d, not 401", url, res.StatusCode)
	}
	return nil
}
