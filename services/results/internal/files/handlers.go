package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/crash"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/access"
	"github.com/prism-results/prism/services/results/internal/blobs"
	"github.com/prism-results/prism/services/results/internal/bodies"
	"github.com/prism-results/prism/services/results/internal/format"
	"github.com/prism-results/prism/services/results/internal/store"
	"github.com/prism-results/prism/services/results/internal/tabular"
)

// Handlers are those of the operations on files. Runs make files by them, and read rows.
type Handlers struct {
	store  handlerStore
	access *access.Access
	blobs  blobs.Blobs
	now    func() time.Time
	newID  func() (prism.UUID, error)
}

// handlerStore knows whether there is room, too.
type handlerStore interface {
	Store
	Full() bool
}

// NewHandlers makes Handlers over a store and the content of files.
func NewHandlers(s handlerStore, a *access.Access, b blobs.Blobs, now func() time.Time, newID func() (prism.UUID, error)) *Handlers {
	return &Handlers{s, a, b, now, newID}
}

// Operations are the operations on files.
func (h *Handlers) Operations() []api.Handler[access.Caller] {
	return []api.Handler[access.Caller]{
		access.Handle(api.CreateFile, h.createFile),
		access.Encoded(api.ListFiles, h.listFiles),
		access.Handle(api.ReadFile, h.readFile),
		access.Change(h.access, api.DeleteFile, h.deleteFile),
		access.Handle(api.CompleteFile, h.completeFile),
		access.Handle(api.ReadFileAgain, h.readFileAgain),
		access.Encoded(api.ListFileRows, h.listFileRows),
	}
}

// maxMissing bounds the numbers of missing parts that a response lists (spec: file-upload).
const maxMissing = 1000

func (h *Handlers) createFile(ctx context.Context, c store.Caller, in api.CreateFileRequest) (api.File, error) {
	f, err := h.addFile(ctx, c.Account, in.NewFile)
	if err != nil {
		return api.File{}, err
	}
	return h.fileBody(ctx, c.Account, f)
}

// addFile stores a file whose parts are to come.
func (h *Handlers) addFile(ctx context.Context, account prism.AccountID, n api.NewFile) (File, error) {
	id, err := h.newID()
	if err != nil {
		return File{}, err
	}
	at := prism.Now(h.now)
	f := File{
		ID: prism.FileID{UUID: id}, Name: n.Name, Format: n.Format, Bytes: n.Bytes, SHA256: (*[32]byte)(n.SHA256), Status: prism.FileUploading,
		CreatedAt: at, ExpiresAt: at.Add(UploadTime),
	}
	return f, h.store.CreateFile(ctx, account, f)
}

// PutPart implements contract.Files.
func (h *Handlers) PutPart(ctx context.Context, key contract.KeyDigest, p contract.FilePart) (response contract.Response, err error) {
	err = h.access.Serve(ctx, key, contract.Operation(api.PutPart.Name), apierr.FileNotFound(), func(c store.Caller) error {
		f, err := h.store.File(ctx, c.Account, p.File)
		if err != nil {
			return err
		}
		if err := checkPart(f, p); err != nil {
			return err
		}
		digest, err := h.addPart(ctx, c.Account, f, p)
		if err != nil {
			return err
		}
		h.hashOn(ctx, c.Account, p)
		response.ContentType = format.ContentType(contract.JSON)
		response.Body, err = strictjson.Marshal(api.FilePart{Part: int(p.Number), Bytes: int64(len(p.Data)), SHA256: hex.EncodeToString(digest[:])})
		return err
	})
	return response, err
}

// addPart stores a part of a file. The content is stored before the part is recorded, so that a part that is recorded is there.
func (h *Handlers) addPart(
	ctx context.Context, account prism.AccountID, f File, p contract.FilePart,
) (digest [sha256.Size]byte, err error) {
	if h.store.Full() { // a content beside the store would take the space that deletions need
		return digest, store.ErrFull
	}
	part := store.Part{Number: p.Number, Bytes: int32(len(p.Data)), SHA256: sha256.Sum256(p.Data)} //nolint:gosec // at most a part
	owner, name := store.FileOwner{Account: account, ID: f.ID}, blobs.Part(part.Number, part.SHA256)
	if f.Status == prism.FileUploading {
		if err := h.blobs.Put(ctx, owner, name, p.Data); err != nil {
			return digest, err
		}
	}
	crash.At(crash.AfterPart)
	stored, err := h.store.PutPart(ctx, account, f.ID, part)
	if err == nil && stored != part.SHA256 {
		err = apierr.PartConflict(p.Number)
	}
	if errors.Is(err, apierr.PartConflict(p.Number)) || errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrFileState) {
		// No part has this content, nor will one; what is not deleted here goes with the file. After another error the part may be
		// recorded.
		_, _ = h.blobs.Delete(ctx, owner, name, name)
	}
	return part.SHA256, err
}

// checkPart checks the number and the length of a part (spec: file-parts).
func checkPart(f File, p contract.FilePart) error {
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

func (h *Handlers) completeFile(ctx context.Context, c store.Caller, in api.FileRequest) (api.File, error) {
	f, err := h.store.File(ctx, c.Account, in.File)
	if err != nil {
		return api.File{}, err
	}
	if f.Status == prism.FileUploading {
		missing, total, err := h.missing(ctx, c.Account, f)
		if err != nil {
			return api.File{}, err
		}
		if total > 0 {
			return api.File{}, apierr.PartsMissing(missing, total)
		}
		if err := h.checkDigest(ctx, c.Account, f); err != nil {
			return api.File{}, err
		}
	}
	if err := h.store.SetReading(ctx, c.Account, in.File, prism.Now(h.now)); err != nil {
		return api.File{}, err
	}
	return h.readFile(ctx, c, in)
}

// missing are the first numbers of parts that were not sent, and how many there are in all.
func (h *Handlers) missing(ctx context.Context, account prism.AccountID, f File) (first []int32, total int, err error) {
	first = []int32{}
	sent, err := h.store.Parts(ctx, account, f.ID, 1, f.Parts())
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

func (h *Handlers) listFiles(ctx context.Context, c store.Caller, in api.ListFilesRequest) ([]byte, error) {
	return bodies.List(contract.ListOfFiles, in.Limit, in.Cursor,
		func(page store.Page) ([]File, bool, error) { return h.store.ListFiles(ctx, c.Account, page) },
		func(f File) (api.File, error) { return h.fileBody(ctx, c.Account, f) },
		func(f File) prism.UUID { return f.ID.UUID })
}

func (h *Handlers) readFile(ctx context.Context, c store.Caller, in api.FileRequest) (api.File, error) {
	f, err := h.store.File(ctx, c.Account, in.File)
	if err != nil {
		return api.File{}, err
	}
	return h.fileBody(ctx, c.Account, f)
}

// readFileAgain has a file read as the request says, and forgets how it was read before.
func (h *Handlers) readFileAgain(ctx context.Context, c store.Caller, in api.ReadFileAgainRequest) (api.File, error) {
	f, err := h.store.File(ctx, c.Account, in.File)
	if err != nil {
		return api.File{}, err
	}
	if err := checkReading(f.Format, in.FileOptions); err != nil {
		return api.File{}, err
	}
	layout, err := strictjson.Marshal(tabular.Layout{Options: tabular.Options{
		Encoding: string(in.Encoding), HeaderRow: in.HeaderRow, Sheet: in.Sheet, Delimiter: string(in.Delimiter), OnBadRow: in.OnBadRow,
	}})
	if err != nil {
		return api.File{}, err
	}
	if err := h.store.ReadAgain(ctx, c.Account, in.File, layout, prism.Now(h.now)); err != nil {
		return api.File{}, err
	}
	return h.readFile(ctx, c, api.FileRequest{File: in.File})
}

// checkReading refuses what a format does not have (spec: file-read-again).
func checkReading(f prism.FileFormat, r api.FileOptions) error {
	var problems []apierr.Problem
	refuse := func(member string, sent bool, formats ...prism.FileFormat) {
		if sent && !slices.Contains(formats, f) {
			problems = append(problems, apierr.Problem{Path: member, Text: "Not an option of " + string(f)})
		}
	}
	refuse("encoding", r.Encoding != "", prism.FileCSV, prism.FileTSV, prism.FileJSONL)
	refuse("header_row", r.HeaderRow != 0, prism.FileCSV, prism.FileTSV, prism.FileXLSX)
	refuse("sheet", r.Sheet != "", prism.FileXLSX)
	refuse("delimiter", r.Delimiter != "", prism.FileCSV, prism.FileTSV)
	if len(problems) > 0 {
		return apierr.Invalid(problems...)
	}
	return nil
}

// deleteFile deletes a file; a worker deletes the content.
func (h *Handlers) deleteFile(ctx context.Context, account prism.AccountID, by store.By, in api.FileRequest) (api.None, error) {
	return api.None{}, h.store.DeleteFile(ctx, account, in.File, by)
}

func (h *Handlers) fileBody(ctx context.Context, account prism.AccountID, f File) (api.File, error) {
	body := api.File{
		ID: f.ID.String(), Name: f.Name, Format: f.Format, Bytes: f.Bytes, Status: f.Status, PartBytes: contract.PartBytes, Parts: int(f.Parts()),
		Error: bodies.Optional(f.Error), CreatedAt: api.Time{Time: f.CreatedAt}, ExpiresAt: api.Time{Time: f.ExpiresAt},
	}
	if f.SHA256 != nil {
		body.SHA256 = new(hex.EncodeToString(f.SHA256[:]))
	}
	switch f.Status {
	case prism.FileUploading:
		missing, _, err := h.missing(ctx, account, f)
		if err != nil {
			return api.File{}, err
		}
		body.Missing = api.Nullable[int]{}
		for _, number := range missing {
			body.Missing = append(body.Missing, int(number))
		}
	case prism.FileReady, prism.FileUnusable:
		return body, describeFile(&body, f)
	case prism.FileReading:
	}
	return body, nil
}

// describeFile says how a file was read.
func describeFile(body *api.File, f File) error {
	if len(f.Layout) == 0 { // one that was unusable before its layout was kept
		return nil
	}
	layout, err := f.ReadLayout()
	if err != nil {
		return err
	}
	body.Encoding, body.Sheet = bodies.Optional(layout.Encoding), bodies.Optional(layout.Sheet)
	if layout.Encoding != "" {
		body.EncodingSure = &layout.EncodingSure
	}
	if layout.HeaderRow > 0 {
		body.HeaderRow = &layout.HeaderRow
	}
	if layout.ProposedHeaderRow > 0 {
		body.ProposedHeaderRow = &layout.ProposedHeaderRow
	}
	body.Notes = append(api.Nullable[string]{}, layout.Notes...)
	if f.Status == prism.FileUnusable {
		return nil
	}
	body.Rows, body.BadRows, body.Delimiter = &f.Rows, &layout.BadRows, bodies.Optional(layout.Delimiter)
	body.Columns = api.Nullable[api.FileColumn]{}
	for _, c := range layout.Columns {
		body.Columns = append(body.Columns, api.FileColumn{Name: c.Name, Filled: c.Filled, Longest: c.Longest})
	}
	return nil
}

// readyEvery is the time between two looks whether a file was read.
const readyEvery = 50 * time.Millisecond

// Keep stores a file in JSONL, which is then read.
func (h *Handlers) Keep(ctx context.Context, account prism.AccountID, name string, content []byte) (prism.FileID, error) {
	f, err := h.addFile(ctx, account, api.NewFile{Name: name, Format: prism.FileJSONL, Bytes: int64(len(content))})
	if err != nil {
		return f.ID, err
	}
	number := int32(0)
	for data := range slices.Chunk(content, contract.PartBytes) {
		number++
		if _, err := h.addPart(ctx, account, f, contract.FilePart{File: f.ID, Number: number, Data: data}); err != nil {
			return f.ID, err
		}
	}
	return f.ID, h.store.SetReading(ctx, account, f.ID, prism.Now(h.now))
}

// AwaitReading waits until a file was read, or ctx ends: nothing was made that a caller knows of, and the file expires.
func (h *Handlers) AwaitReading(ctx context.Context, account prism.AccountID, id prism.FileID) error {
	look := time.NewTicker(readyEvery)
	defer look.Stop()
	for {
		f, err := h.store.File(ctx, account, id)
		if err != nil || f.Status != prism.FileReading {
			return err
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return errors.Join(contract.ErrUnavailable, ctx.Err())
		}
	}
}
