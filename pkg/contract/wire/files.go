package wire

import (
	"context"
	"log/slog"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// The paths of the methods of files.
const (
	pathCreateFile   = "/internal/create-file"
	pathPutPart      = "/internal/put-part"
	pathPutOctets    = "/internal/put-part-octets"
	pathCompleteFile = "/internal/complete-file"
	pathListFiles    = "/internal/list-files"
	pathFile         = "/internal/file"
	pathFileRows     = "/internal/file-rows"
	pathDeleteFile   = "/internal/delete-file"
)

// The arguments of the methods of files.
type (
	argsNewFile struct {
		Key  contract.KeyDigest
		File contract.NewFile
	}
	// argsJSONPart is a part from a gateway of an earlier build, which sends parts in base64.
	argsJSONPart struct {
		Key  contract.KeyDigest
		Part contract.FilePart
	}
	argsPart struct {
		Key    contract.KeyDigest
		File   prism.FileID
		Number int32
		data   []byte // the body of the request
	}
	argsFile struct {
		Key  contract.KeyDigest
		ID   prism.FileID
		Rows contract.FileRows `json:",omitzero"` // FileRows
	}
)

func (a *argsPart) octets() *[]byte { return &a.data }

func (r *results) CreateFile(ctx context.Context, key contract.KeyDigest, f contract.NewFile) (contract.Response, error) {
	return r.call(ctx, pathCreateFile, argsNewFile{key, f})
}

func (r *results) PutPart(ctx context.Context, key contract.KeyDigest, p contract.FilePart) (contract.Response, error) {
	return r.call(ctx, pathPutOctets, &argsPart{key, p.File, p.Number, p.Data})
}

func (r *results) CompleteFile(ctx context.Context, key contract.KeyDigest, id prism.FileID) (contract.Response, error) {
	return r.call(ctx, pathCompleteFile, argsFile{Key: key, ID: id})
}

func (r *results) ListFiles(ctx context.Context, key contract.KeyDigest, p contract.Page) (contract.Response, error) {
	return r.lookUp(ctx, pathListFiles, argsQuery[contract.Page]{key, p})
}

func (r *results) File(ctx context.Context, key contract.KeyDigest, id prism.FileID) (contract.Response, error) {
	return r.lookUp(ctx, pathFile, argsFile{Key: key, ID: id})
}

func (r *results) FileRows(ctx context.Context, key contract.KeyDigest, id prism.FileID, q contract.FileRows) (contract.Response, error) {
	return r.lookUp(ctx, pathFileRows, argsFile{key, id, q})
}

func (r *results) DeleteFile(ctx context.Context, key contract.KeyDigest, id prism.FileID) (contract.Response, error) {
	return r.call(ctx, pathDeleteFile, argsFile{Key: key, ID: id})
}

func mountFiles(app *fiber.App, f contract.Files, log *slog.Logger) {
	post(app, log, pathCreateFile, func(ctx context.Context, a argsNewFile) (contract.Response, error) {
		return f.CreateFile(ctx, a.Key, a.File)
	})
	post(app, log, pathPutPart, func(ctx context.Context, a argsJSONPart) (contract.Response, error) {
		return f.PutPart(ctx, a.Key, a.Part)
	})
	post(app, log, pathPutOctets, func(ctx context.Context, a argsPart) (contract.Response, error) {
		return f.PutPart(ctx, a.Key, contract.FilePart{File: a.File, Number: a.Number, Data: a.data})
	})
	post(app, log, pathCompleteFile, func(ctx context.Context, a argsFile) (contract.Response, error) {
		return f.CompleteFile(ctx, a.Key, a.ID)
	})
	find(app, log, pathListFiles, func(ctx context.Context, a argsQuery[contract.Page]) (contract.Response, error) {
		return f.ListFiles(ctx, a.Key, a.Query)
	})
	find(app, log, pathFile, func(ctx context.Context, a argsFile) (contract.Response, error) {
		return f.File(ctx, a.Key, a.ID)
	})
	find(app, log, pathFileRows, func(ctx context.Context, a argsFile) (contract.Response, error) {
		return f.FileRows(ctx, a.Key, a.ID, a.Rows)
	})
	post(app, log, pathDeleteFile, func(ctx context.Context, a argsFile) (contract.Response, error) {
		return f.DeleteFile(ctx, a.Key, a.ID)
	})
}
