package files

import (
	"context"
	"crypto/sha256"
	"encoding"
	"hash"
	"time"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/blobs"
	"github.com/prism-results/prism/services/results/internal/store"
)

// A file of 5 GiB takes longer to hash than a call may take. So each call that sends the next unhashed part hashes that part, and
// the parts behind it that arrived earlier, and stores the state of the hash. The call that completes the file then has nothing
// left to hash, unless the parts came in another order (spec: file-complete).
const (
	// hashBlock is how many parts are hashed between two states that are stored.
	hashBlock = 16
	// catchUp is how many parts are sent for each call that goes on with parts far behind its own: fewer than it hashes in its time.
	catchUp = 8
	// partHashLimit and completeHashLimit bound the hashing in a call that sends a part, and in one that completes the file.
	partHashLimit, completeHashLimit = 300 * time.Millisecond, time.Second
)

// hashOn hashes on from the next unhashed part, if that is the part that was sent. Errors are ignored: CompleteFile hashes the
// rest.
//
// If parts 1 and 2 are sent at once, one of the two calls hashes part 2: the call of part 2 records its part before it reads how
// much is hashed, and the call of part 1 stores its hash before it looks for part 2. If the call of part 1 fails or has no time
// left, no later part is the next one. Then the call of every catchUp-th part that is hashBlock parts behind goes on.
func (h *Handlers) hashOn(ctx context.Context, account prism.AccountID, p contract.FilePart) {
	f, err := h.store.File(ctx, account, p.File)
	if err != nil || f.SHA256 == nil || f.Status != prism.FileUploading {
		return
	}
	next := f.Hashed.Parts + 1
	if behind := p.Number - next; behind == 0 || behind >= hashBlock && p.Number%catchUp == 0 {
		_, _, _ = h.hash(ctx, account, f, &p, partHashLimit)
	}
}

// checkDigest is apierr.FileDiffers, or contract.ErrUnavailable if the file is not hashed yet: the next call goes on.
func (h *Handlers) checkDigest(ctx context.Context, account prism.AccountID, f File) error {
	if f.SHA256 == nil {
		return nil
	}
	digest, done, err := h.hash(ctx, account, f, nil, completeHashLimit)
	switch {
	case err != nil:
		return err
	case !done:
		return contract.ErrUnavailable
	case digest != *f.SHA256:
		return apierr.FileDiffers()
	}
	return nil
}

// hash hashes the parts of a file that follow those that were hashed, until one is missing or the time is over, and reports the
// digest if that was the last. sent is a part whose content need not be read; it may be nil.
func (h *Handlers) hash(
	ctx context.Context, account prism.AccountID, f File, sent *contract.FilePart, limit time.Duration,
) (digest [32]byte, done bool, err error) {
	state, at := restored(f.Hashed)
	from := f.Hashed.Parts
	owner := store.FileOwner{Account: account, ID: f.ID}
	for begun := time.Now(); at < f.Parts() && (at == f.Hashed.Parts || time.Since(begun) < limit); {
		parts, err := h.store.Parts(ctx, account, f.ID, at+1, at+hashBlock)
		if err != nil {
			return digest, false, err
		}
		before, source := at, blobs.Whole(h.blobs, owner, f.Bytes, parts)
		for _, p := range parts {
			if p.Number != at+1 || at > before && time.Since(begun) > limit { // a call hashes one part at least
				break
			}
			var content []byte
			if sent != nil && sent.Number == p.Number {
				content = sent.Data
			} else {
				content, err = source.Range(ctx, int64(at)*contract.PartBytes, f.PartBytes(p.Number))
			}
			if err != nil {
				return digest, false, err
			}
			_, _ = state.Write(content) // never fails
			at++
		}
		if at == before {
			break
		}
		stored, err := state.(encoding.BinaryMarshaler).MarshalBinary()
		if err != nil {
			return digest, false, err
		}
		if err := h.store.SetHashed(ctx, account, f.ID, from, Hashed{Parts: at, State: stored}); err != nil {
			return digest, false, err
		}
		from = at
	}
	state.Sum(digest[:0])
	return digest, at == f.Parts(), nil
}

// restored is the state of a hash, and how many parts it is of: none if it was written by a release that keeps it differently.
func restored(h Hashed) (state hash.Hash, parts int32) {
	state = sha256.New()
	if h.Parts > 0 && state.(encoding.BinaryUnmarshaler).UnmarshalBinary(h.State) == nil {
		return state, h.Parts
	}
	return sha256.New(), 0
}
