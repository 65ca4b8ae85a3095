// Command base builds the base image of `BASE=empty make images`: certificate authorities, the user nonroot with a home,
// and /tmp, for each platform. Its content depends only on this source, so each build is identical.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "base:", err)
		os.Exit(1)
	}
}

// run pushes the base to a repository and prints its reference, by digest.
func run(ctx context.Context, args []string, stdout io.Writer) error {
	if len(args) != 1 {
		return errors.New("usage: base REPOSITORY")
	}
	repository, err := name.NewRepository(args[0])
	if err != nil {
		return err
	}
	base, err := index()
	if err != nil {
		return err
	}
	digest, err := base.Digest()
	if err != nil {
		return err
	}
	ref := repository.Digest(digest.String())
	if err := remote.WriteIndex(ref, base, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)); err != nil {
		return fmt.Errorf("push %s: %w", ref, err)
	}
	_, err = fmt.Fprintln(stdout, ref)
	return err
}
