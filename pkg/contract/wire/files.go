package wire

import (
	"context"
	"log/slog"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

const pathPutPart = "/internal/put-part"

// argsPart are the arguments of PutPart.
type argsPart struct {
	Key    contract.KeyDigest
	File   prism.FileID
	Number int32
	data   []byte // the body of the request
}

func (a *argsPart) octets() *[]byte { return &a.data }

func (r *results) PutPart(ctx context.Context, key contract.KeyDigest, p contract.FilePart) (contract.Response, error) {
	return r.call(ctx, pathPutPart, &argsPart{key, p.File, p.Number, p.Data})
}

func mountFiles(app *fiber.App, f contract.Files, log *slog.Logger) {
	post(app, log, pathPutPart, func(ctx context.Context, a argsPart) (contract.Response, error) {
		return f.PutPart(ctx, a.Key, contract.FilePart{File: a.File, Number: a.Number, Data: a.data})
	})
}
