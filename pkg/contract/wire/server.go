package wire

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/pkg/strictjson"
)

// BodyLimit is for the server under a Mount: a call carries up to 1 MiB of fields, escaped anew, and a definition.
const BodyLimit = 16 << 20

// MountResults serves results to callers that show the token. Every path of the app asks for it, known or not.
func MountResults(app *fiber.App, r contract.Results, token string, log *slog.Logger) {
	m := methods{
		pathCreateFacts: serveJSON(log, pathCreateFacts, r.CreateFacts),
		pathRetryFacts: serveJSON(log, pathRetryFacts, func(ctx context.Context, a argsResult) (contract.RetryFacts, error) {
			return r.RetryFacts(ctx, a.Key, a.ID)
		}),
		pathSave: serve(log, pathSave, r.Save),
		pathRead: serve(log, pathRead, func(ctx context.Context, a argsResult) (contract.Response, error) {
			return r.Read(ctx, a.Key, a.ID, a.Format)
		}),
		pathListResults: serve(log, pathListResults, func(ctx context.Context, a argsListResults) (contract.Response, error) {
			return r.ListResults(ctx, a.Key, a.Query)
		}),
	}
	m.addPrisms(r, log)
	m.addKeys(r, log)
	mount(app, m, token, log)
	app.Post(pathExport, serveExport(log, r))
}

func (m methods) addPrisms(r contract.Results, log *slog.Logger) {
	m[pathCreatePrism] = serve(log, pathCreatePrism, func(ctx context.Context, a argsCreatePrism) (contract.Response, error) {
		return r.CreatePrism(ctx, a.Key, a.Prism)
	})
	m[pathListPrisms] = serve(log, pathListPrisms, func(ctx context.Context, a argsListPrisms) (contract.Response, error) {
		return r.ListPrisms(ctx, a.Key, a.Query)
	})
	for path, f := range map[string]func(context.Context, argsPrism) (contract.Response, error){
		pathPrism: func(ctx context.Context, a argsPrism) (contract.Response, error) { return r.Prism(ctx, a.Key, a.Ref) },
		pathAddVersion: func(ctx context.Context, a argsPrism) (contract.Response, error) {
			return r.AddVersion(ctx, a.Key, a.Ref, value(a.New))
		},
		pathVersion: func(ctx context.Context, a argsPrism) (contract.Response, error) {
			return r.Version(ctx, a.Key, a.Ref, a.Number)
		},
		pathPutLens: func(ctx context.Context, a argsPrism) (contract.Response, error) {
			return r.PutLens(ctx, a.Key, a.Ref, value(a.Lens))
		},
		pathSetArchived: func(ctx context.Context, a argsPrism) (contract.Response, error) {
			return r.SetArchived(ctx, a.Key, a.Ref, a.Archived)
		},
	} {
		m[path] = serve(log, path, f)
	}
}

func (m methods) addKeys(r contract.Results, log *slog.Logger) {
	for path, f := range map[string]func(context.Context, argsKey) (contract.Response, error){
		pathCreateKey: func(ctx context.Context, a argsKey) (contract.Response, error) {
			return r.CreateKey(ctx, a.Key, a.Name)
		},
		pathListKeys:  func(ctx context.Context, a argsKey) (contract.Response, error) { return r.ListKeys(ctx, a.Key) },
		pathRevokeKey: func(ctx context.Context, a argsKey) (contract.Response, error) { return r.RevokeKey(ctx, a.Key, a.ID) },
	} {
		m[path] = serve(log, path, f)
	}
}

// MountModels serves the model to callers that show the token.
func MountModels(app *fiber.App, models contract.Models, token string, log *slog.Logger) {
	mount(app, methods{pathAsk: serveJSON(log, pathAsk, models.Ask)}, token, log)
}

// mount serves methods over shared connections and each as a route.
func mount(app *fiber.App, m methods, token string, log *slog.Logger) {
	app.Use(authorize(token))
	for path, method := range m {
		app.Post(path, overHTTP(method))
	}
	app.Get(pathCalls, serveCalls(m, log))
}

// authorize compares digests, so that neither the token's content nor its length shows in the time taken.
func authorize(token string) fiber.Handler {
	want := sha256.Sum256([]byte(token))
	return func(c *fiber.Ctx) error {
		shown, ok := strings.CutPrefix(c.Get(fiber.HeaderAuthorization), "Bearer ")
		got := sha256.Sum256([]byte(shown))
		if !ok || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			return apierr.InvalidAPIKey()
		}
		return c.Next()
	}
}

// serveJSON answers with the JSON of what the method returns.
func serveJSON[Q, A any](log *slog.Logger, path string, f func(context.Context, Q) (A, error)) method {
	return serve(log, path, func(ctx context.Context, q Q) (contract.Response, error) {
		found, err := f(ctx, q)
		if err != nil {
			return contract.Response{}, err
		}
		body, err := strictjson.Marshal(found)
		return contract.Response{ContentType: contentJSON, Body: body}, err
	})
}

func serve[Q any](log *slog.Logger, path string, f func(context.Context, Q) (contract.Response, error)) method {
	return func(ctx context.Context, args []byte) answer {
		var q Q
		if err := strictjson.Unmarshal(args, &q); err != nil {
			e := apierr.Malformed()
			return answer{status: e.Status, contentType: httpkit.JSONType, body: e.Body()}
		}
		doc, err := f(ctx, q)
		if err != nil {
			return failed(ctx, log, path, err)
		}
		return answer{status: fiber.StatusOK, failed: doc.Failed, contentType: doc.ContentType, body: doc.Body}
	}
}

// overHTTP is a method as a route.
func overHTTP(m method) fiber.Handler {
	return func(c *fiber.Ctx) error {
		body, err := httpkit.ReadBody(c)
		if err != nil {
			return err
		}
		// The caller gives up then; work beyond it would be for nobody.
		ctx, cancel := context.WithTimeout(c.UserContext(), callerTimeout(c))
		defer cancel()
		a := m(ctx, body.Bytes)
		if a.failed {
			c.Set(headerFailed, "1")
		}
		return httpkit.Send(c, a.status, a.contentType, a.body)
	}
}

// serveExport has no time limit for the whole: the stream's reader sets the pace.
func serveExport(log *slog.Logger, r contract.Results) fiber.Handler {
	return func(c *fiber.Ctx) error {
		var q argsExport
		if err := readArgs(c, &q); err != nil {
			return err
		}
		stream, err := r.Export(c.UserContext(), q.Key, q.Query)
		if err != nil {
			a := failed(c.UserContext(), log, c.Path(), err)
			return httpkit.Send(c, a.status, a.contentType, a.body)
		}
		return httpkit.SendStream(c, stream.ContentType, stream.Body)
	}
}

func readArgs(c *fiber.Ctx, q any) error {
	body, err := httpkit.ReadBody(c)
	if err != nil {
		return err
	}
	if err := strictjson.Unmarshal(body.Bytes, q); err != nil {
		return apierr.Malformed()
	}
	return nil
}

func callerTimeout(c *fiber.Ctx) time.Duration {
	ms, err := strconv.ParseInt(c.Get(headerTimeout), 10, 64)
	if err != nil || ms <= 0 {
		return defaultTimeout
	}
	return min(time.Duration(ms)*time.Millisecond, maxTimeout)
}

// failed is an error as it travels. What the caller is not told is logged.
func failed(ctx context.Context, log *slog.Logger, path string, err error) answer {
	status, body := encodeError(err)
	if status != statusRefused {
		log.ErrorContext(ctx, "internal call failed", "method", path, "error", err)
	}
	return answer{status: status, contentType: contentJSON, body: body}
}

// value is *p, or the zero value of an argument that was not sent.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
