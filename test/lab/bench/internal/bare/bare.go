// Package bare is the yardstick of reads and creates: servers that only hop, select, insert and lock as the three
// processes of Prism do, and respond with ready-made bytes. They authenticate, check, parse, format, count and log nothing.
//
//	read    gateway → store (one select)
//	create  gateway → store (one select) → proxy → model, → store (one insert)
//	        with a key: the same between a lock in Redis and its release
package bare

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"path"
	"time"

	"github.com/gofiber/fiber/v2" //nolint:depguard // the chain is the frameworks alone
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool" //nolint:depguard // likewise
	"github.com/redis/go-redis/v9"    //nolint:depguard // likewise
	"github.com/valyala/fasthttp"     //nolint:depguard // likewise
)

// Spec says which of the three servers to be: a Store, a Proxy or a Gateway.
type Spec struct {
	Store   *Store
	Proxy   *Proxy
	Gateway *Gateway
}

// Store selects a result for GET /…/{id}, and inserts one for POST.
type Store struct {
	Database string
	Select   string // with the parameter id
	Insert   string // with the parameters id, idempotency key or null, and Values
	Values   []string
	Response string
}

// Proxy sends a ready-made request to the model and passes the response on.
type Proxy struct {
	Model   string // host and port
	Request []byte
}

// Gateway calls the other two.
type Gateway struct {
	Store, Proxy string // host and port
	Redis        string // URL
	Read         string // path of the read that precedes each create
}

// Keyed is the query of a POST that takes a lock and stores an idempotency key.
const Keyed = "?keyed"

const (
	timeout      = 20 * time.Second
	contentType  = "application/json; charset=utf-8"
	lockLifetime = time.Minute
	idHeader     = "X-Id"
)

// Run serves, at host and port addr, the server that the input describes, until the process is killed.
func Run(ctx context.Context, addr string, in io.Reader) error {
	var spec Spec
	if err := json.NewDecoder(in).Decode(&spec); err != nil {
		return err
	}
	app := fiber.New(fiber.Config{DisableStartupMessage: true, BodyLimit: 1 << 20})
	switch {
	case spec.Store != nil:
		if err := spec.Store.routes(ctx, app); err != nil {
			return err
		}
	case spec.Proxy != nil:
		spec.Proxy.routes(app)
	case spec.Gateway != nil:
		if err := spec.Gateway.routes(app); err != nil {
			return err
		}
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	return app.Listener(ln)
}

func (s *Store) routes(ctx context.Context, app *fiber.App) error {
	pool, err := pgxpool.New(ctx, s.Database)
	if err != nil {
		return err
	}
	app.Get("/*", func(c *fiber.Ctx) error {
		rows, err := pool.Query(c.Context(), s.Select, path.Base(c.Path()))
		if err != nil {
			return err
		}
		for rows.Next() {
			rows.RawValues()
		}
		if rows.Close(); rows.Err() != nil {
			return rows.Err()
		}
		return respond(c, s.Response)
	})
	app.Post("/*", func(c *fiber.Ctx) error {
		args := []any{c.Get(idHeader), nil}
		if c.Context().QueryArgs().Len() > 0 {
			args[1] = args[0]
		}
		for _, v := range s.Values {
			args = append(args, v)
		}
		if _, err := pool.Exec(c.Context(), s.Insert, args...); err != nil {
			return err
		}
		return respond(c, s.Response)
	})
	return nil
}

func respond(c *fiber.Ctx, body string) error {
	c.Set(fiber.HeaderContentType, contentType)
	return c.SendString(body)
}

func (p *Proxy) routes(app *fiber.App) {
	model := client(p.Model)
	app.Post("/*", func(c *fiber.Ctx) error {
		return hop(model, fiber.MethodPost, "/systemone", "", p.Request, func(body []byte) error {
			return c.Send(body)
		})
	})
}

func (g *Gateway) routes(app *fiber.App) error {
	options, err := redis.ParseURL(g.Redis)
	if err != nil {
		return err
	}
	locks := redis.NewClient(options)
	store, proxy := client(g.Store), client(g.Proxy)
	respond := func(c *fiber.Ctx) func([]byte) error {
		return func(body []byte) error {
			c.Set(fiber.HeaderContentType, contentType)
			return c.Send(body)
		}
	}
	app.Get("/*", func(c *fiber.Ctx) error {
		return hop(store, fiber.MethodGet, c.OriginalURL(), "", nil, respond(c))
	})
	create := func(c *fiber.Ctx, id string) error {
		read := func([]byte) error { return nil }
		if err := hop(store, fiber.MethodGet, g.Read, "", nil, read); err != nil {
			return err
		}
		return hop(proxy, fiber.MethodPost, "/", "", c.Body(), func(answers []byte) error {
			return hop(store, fiber.MethodPost, c.OriginalURL(), id, answers, respond(c))
		})
	}
	app.Post("/*", func(c *fiber.Ctx) error {
		// Version 7, so that new rows fall into the same pages of an index as those of Prism.
		v7, err := uuid.NewV7()
		if err != nil {
			return err
		}
		id := v7.String()
		if c.Context().QueryArgs().Len() == 0 {
			return create(c, id)
		}
		if err := locks.SetArgs(c.Context(), id, "1", redis.SetArgs{Mode: "NX", TTL: lockLifetime}).Err(); err != nil {
			return err
		}
		if err := create(c, id); err != nil {
			return err
		}
		return locks.Del(c.Context(), id).Err()
	})
	return nil
}

func client(addr string) *fasthttp.HostClient {
	return &fasthttp.HostClient{Addr: addr, MaxConns: 1024}
}

// hop calls the next server and hands the body of the response to use, which must not keep the bytes.
func hop(next *fasthttp.HostClient, method, uri, id string, body []byte, use func([]byte) error) error {
	req, resp := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(resp)
	req.Header.SetMethod(method)
	req.SetRequestURI(uri)
	req.Header.SetHost(next.Addr)
	if method == fiber.MethodPost {
		req.Header.SetContentType(fiber.MIMEApplicationJSON)
		req.SetBodyRaw(body)
	}
	if id != "" {
		req.Header.Set(idHeader, id)
	}
	if err := next.DoTimeout(req, resp, timeout); err != nil {
		return err
	}
	if resp.StatusCode() != fiber.StatusOK {
		return fmt.Errorf("the next server responded %d: %s", resp.StatusCode(), resp.Body())
	}
	return use(resp.Body())
}
