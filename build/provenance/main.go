// Command provenance states what an image was built from, beside the image in its registry, and checks such statements.
//
//	provenance attach -source URI -revision COMMIT -builder URI IMAGE@DIGEST...
//	provenance verify IMAGE@DIGEST...
//
// The statement is an in-toto statement with the predicate https://slsa.dev/provenance/v1. It is stored as an OCI artifact whose
// subject is the image, where `oras discover` and `cosign tree` find it. It holds no time, so the same build is the same
// statement. It has no signature: whoever can push to the registry can push one. SECURITY.md says how to check an image without
// trusting its registry.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "provenance:", err)
		os.Exit(1)
	}
}

var errUsage = errors.New("usage: provenance attach -source URI -revision COMMIT -builder URI IMAGE@DIGEST…\n" +
	"       provenance verify IMAGE@DIGEST…")

// run attaches or verifies and prints a line or more about each image.
func run(ctx context.Context, args []string, stdout io.Writer) error {
	if len(args) == 0 || args[0] != "attach" && args[0] != "verify" {
		return errUsage
	}
	var b build
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.SetOutput(io.Discard) // errUsage stands for its messages
	if args[0] == "attach" {
		flags.StringVar(&b.source, "source", "", "")
		flags.StringVar(&b.revision, "revision", "", "")
		flags.StringVar(&b.builder, "builder", "", "")
	}
	err := flags.Parse(args[1:])
	complete := args[0] == "verify" || b.source != "" && b.revision != "" && b.builder != ""
	if err != nil || flags.NArg() == 0 || !complete {
		return errUsage
	}
	options := []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)}
	for _, arg := range flags.Args() {
		ref, err := name.NewDigest(arg)
		if err != nil {
			return err
		}
		if args[0] == "attach" {
			err = attach(ref, b, options)
		} else {
			err = verify(ref, stdout, options)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", ref, err)
		}
	}
	return nil
}
