package contract

import (
	"context"

	"github.com/prism-results/prism/pkg/prism"
)

// PartBytes is the size of every part of a file but the last, which is what remains.
const PartBytes = 1 << 20

// Files keeps the files of runs. Every method checks the API key and its role first, as those of Results do.
type Files interface {
	// PutPart stores a part: apierr.FileNotFound, apierr.PartConflict, apierr.Invalid if its number or length is not one of the
	// file's. The same part again is stored once.
	PutPart(ctx context.Context, key KeyDigest, p FilePart) (Response, error)
}

// FilePart is a part of a file; the first has the number 1.
type FilePart struct {
	File   prism.FileID
	Number int32
	Data   []byte
}
