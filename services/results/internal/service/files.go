package service

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/blobs"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/tabular"
)

var _ contract.Files = (*Service)(nil)

// maxMissing bounds the numbers of missing parts that a response lists (spec: file-upload).
const maxMissing = 1000

// The bodies of files.
type (
	// fileBody always has all members; those that do not apply are null (spec: file-members).
	fileBody struct {
		ID        prism.FileID        `json:"id"`
		Name      string              `json:"name"`
		Format    contract.FileFormat `json:"format"`
		Bytes     int64               `json:"bytes"`
		SHA256    *string             `json:"sha256"`
		Status    store.FileStatus    `json:"status"`
		PartBytes int                 `json:"part_bytes"`
		Parts     int32               `json:"parts"`
		Missing   *[]int32            `json:"missing"` // of a file that is uploading
		Rows      *int64              `json:"rows"`    // of a ready file, as what follows
		Columns   *[]tabular.Column   `json:"columns"`
		Delimiter *string             `json:"delimiter"`
		Error     *string             `json:"error"` // of an unusable file
		CreatedAt string              `json:"created_at"`
		ExpiresAt string              `json:"expires_at"`
	}
	partBody struct {
		Part   int32  `json:"part"`
		Bytes  int    `json:"bytes"`
		SHA256 string `json:"sha256"`
	}
)

// CreateFile implements contract.Files.
func (s *Service) CreateFile(ctx context.Context, key contract.KeyDigest, n contract.NewFile) (contract.Response, error) {
	return s.manage(ctx, key, createFile, nil, func(account prism.AccountID) (any, error) {
		f, err := s.addFile(ctx, account, n)
		if err != nil {
			return nil, err
		}
		return s.fileBody(ctx, account, f)
	})
}

// addFile stores a file whose parts are to come.
func (s *Service) addFile(ctx context.Context, account prism.AccountID, n contract.NewFile) (store.File, error) {
	id, err := s.NewID()
	if err != nil {
		return store.File{}, err
	}
	at := prism.Now(s.Now)
	f := store.File{
		ID: prism.FileID{UUID: id}, Name: n.Name, Format: n.Format, Bytes: n.Bytes, SHA256: n.SHA256, Status: store.FileUploading,
		CreatedAt: at, ExpiresAt: at.Add(store.UploadTime),
	}
	return f, s.Store.CreateFile(ctx, account, f)
}

// PutPart implements contract.Files.
func (s *Service) PutPart(ctx context.Context, key contract.KeyDigest, p contract.FilePart) (contract.Response, error) {
	return s.manage(ctx, key, putPart, apierr.FileNotFound(), func(account prism.AccountID) (any, error) {
		f, err := s.Store.File(ctx, account, p.File)
		if err != nil {
			return nil, err
		}
		if err := checkPart(f, p); err != nil {
			return nil, err
		}
		digest, err := s.addPart(ctx, account, f, p)
		if err != nil {
			return nil, err
		}
		s.hashOn(ctx, account, p)
		return partBody{p.Number, len(p.Data), hex.EncodeToString(digest[:])}, nil
	})
}

// addPart stores a part of a file. The content is stored before the part is recorded, so that a part that is recorded is there.
func (s *Service) addPart(
	ctx context.Context, account prism.AccountID, f store.File, p contract.FilePart,
) (digest [sha256.Size]byte, err error) {
	if s.Store.Full() { // a content beside the store would take the space that deletions need
		return digest, store.ErrFull
	}
	part := store.Part{Number: p.Number, Bytes: int32(len(p.Data)), SHA256: sha256.Sum256(p.Data)} //nolint:gosec // at most a part
	owner, name := store.FileOwner{Account: account, ID: f.ID}, blobs.Part(part.Number, part.SHA256)
	if f.Status == store.FileUploading {
		if err := s.Blobs.Put(ctx, owner, name, p.Data); err != nil {
			return digest, err
		}
	}
	crash.At(crash.AfterPart)
	stored, err := s.Store.PutPart(ctx, account, f.ID, part)
	if err == nil && stored != part.SHA256 {
		err = apierr.PartConflict(p.Number)
	}
	if errors.Is(err, apierr.PartConflict(p.Number)) || errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrFileState) {
		// No part has this content, nor will one; what is not deleted here goes with the file. After another error the part may be
		// recorded.
		_, _ = s.Blobs.Delete(ctx, owner, name, name)
	}
	return part.SHA256, err
}

// checkPart checks the number and the length of a part (spec: file-parts).
func checkPart(f store.File, p contract.FilePart) error {
	switch parts := f.Parts(); {
	case p.Number < 1:
		return apierr.Invalid(apierr.Problem{Path: "n", Text: "Number must be greater than or equal to 1"})
	case p.Number > parts:
		text := fmt.Sprintf("Number must be less than or equal to %d", parts)
		return apierr.Invalid(apierr.Problem{Path: "n", Text: text})
	case int64(len(p.Data)) != f.PartBytes(p.Number):
		text := fmt.Sprintf("Part %d must have %d byte(s)", p.Number, f.PartBytes(p.Number))
		return apierr.Invalid(apierr.Problem{Path: "body", Text: text})
	}
	return nil
}

// CompleteFile implements contract.Files.
func (s *Service) CompleteFile(ctx context.Context, key contract.KeyDigest, id prism.FileID) (contract.Response, error) {
	return s.manage(ctx, key, completeFile, apierr.FileNotFound(), func(account prism.AccountID) (any, error) {
		f, err := s.Store.File(ctx, account, id)
		if err != nil {
			return nil, err
		}
		if f.Status == store.FileUploading {
			missing, total, err := s.missing(ctx, account, f)
			if err != nil {
				return nil, err
			}
			if total > 0 {
				return nil, apierr.PartsMissing(missing, total)
			}
			if err := s.checkDigest(ctx, account, f); err != nil {
				return nil, err
			}
		}
		if err := s.Store.SetReading(ctx, account, id, prism.Now(s.Now)); err != nil {
			return nil, err
		}
		if f, err = s.Store.File(ctx, account, id); err != nil {
			return nil, err
		}
		return s.fileBody(ctx, account, f)
	})
}

// missing are the first numbers of parts that were not sent, and how many there are in all.
func (s *Service) missing(ctx context.Context, account prism.AccountID, f store.File) (first []int32, total int, err error) {
	first = []int32{}
	sent, err := s.Store.Parts(ctx, account, f.ID, 1, f.Parts())
	if err != nil {
		return nil, 0, err
	}
	for number := int32(1); number <= f.Parts(); number++ {
		if len(sent) > 0 && sent[0].Number == number {
			sent = sent[1:]
			continue
		}
		if total++; total <= maxMissing {
			first = append(first, number)
		}
	}
	return first, total, nil
}

// ListFiles implements contract.Files.
func (s *Service) ListFiles(ctx context.Context, key contract.KeyDigest, p contract.Page) (contract.Response, error) {
	return s.manage(ctx, key, listFiles, nil, func(account prism.AccountID) (any, error) {
		page, err := storePage(contract.ListOfFiles, p.Limit, p.Cursor)
		if err != nil {
			return nil, err
		}
		files, more, err := s.Store.ListFiles(ctx, account, page)
		if err != nil {
			return nil, err
		}
		return newListBody(contract.ListOfFiles, files, more,
			func(f store.File) (strictjson.Value, error) {
				body, err := s.fileBody(ctx, account, f)
				if err != nil {
					return nil, err
				}
				return strictjson.Marshal(body)
			},
			func(f store.File) prism.UUID { return f.ID.UUID })
	})
}

// File implements contract.Files.
func (s *Service) File(ctx context.Context, key contract.KeyDigest, id prism.FileID) (contract.Response, error) {
	return s.manage(ctx, key, readFile, apierr.FileNotFound(), func(account prism.AccountID) (any, error) {
		f, err := s.Store.File(ctx, account, id)
		if err != nil {
			return nil, err
		}
		return s.fileBody(ctx, account, f)
	})
}

// DeleteFile implements contract.Files. A worker deletes the content.
func (s *Service) DeleteFile(ctx context.Context, key contract.KeyDigest, id prism.FileID) (contract.Response, error) {
	_, err := s.alter(ctx, key, deleteFile, apierr.FileNotFound(), func(account prism.AccountID, by store.By) (any, error) {
		return nil, s.Store.DeleteFile(ctx, account, id, by)
	})
	return contract.Response{}, err
}

func (s *Service) fileBody(ctx context.Context, account prism.AccountID, f store.File) (fileBody, error) {
	body := fileBody{
		ID: f.ID, Name: f.Name, Format: f.Format, Bytes: f.Bytes, Status: f.Status, PartBytes: contract.PartBytes, Parts: f.Parts(),
		Error: optional(f.Error), CreatedAt: prism.FormatTime(f.CreatedAt), ExpiresAt: prism.FormatTime(f.ExpiresAt),
	}
	if f.SHA256 != nil {
		body.SHA256 = new(hex.EncodeToString(f.SHA256[:]))
	}
	switch f.Status {
	case store.FileUploading:
		missing, _, err := s.missing(ctx, account, f)
		if err != nil {
			return fileBody{}, err
		}
		body.Missing = &missing
	case store.FileReady:
		layout, err := layoutOf(f)
		if err != nil {
			return fileBody{}, err
		}
		body.Rows, body.Columns, body.Delimiter = &f.Rows, &layout.Columns, optional(layout.Delimiter)
	case store.FileReading, store.FileUnusable:
	}
	return body, nil
}

// errLayout drops the error of the JSON library, which may quote the layout.
var errLayout = errors.New("service: the layout of a file is not readable")

func layoutOf(f store.File) (l tabular.Layout, err error) {
	if strictjson.Unmarshal(f.Layout, &l) != nil {
		err = errLayout
	}
	return l, err
}
