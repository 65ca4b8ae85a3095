package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/gofiber/fiber/v2"     //nolint:depguard // yardstick and floors are the frameworks alone
	"github.com/jackc/pgx/v5/pgxpool" //nolint:depguard // likewise
	"github.com/valyala/fasthttp"     //nolint:depguard // likewise

	"github.com/prism-results/prism/test/bench/internal/system"
)

// bareTimeout bounds a hop of a bare chain.
const bareTimeout = 20 * time.Second

// bare is a server with nothing but the framework: the yardstick Y3, or a part of a bare chain, as the specification says
// that it reads from in. It checks, counts, logs and traces nothing.
func bare(ctx context.Context, in io.Reader, out io.Writer) error {
	var spec system.BareSpec
	if err := json.NewDecoder(in).Decode(&spec); err != nil {
		return err
	}
	answer := func(c *fiber.Ctx) error {
		c.Set(fiber.HeaderContentType, "application/json; charset=utf-8")
		return c.SendString(spec.Body)
	}
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	switch {
	case spec.Database != "":
		pool, err := pgxpool.New(ctx, spec.Database)
		if err != nil {
			return err
		}
		defer pool.Close()
		app.Get("/*", bareStatement(pool, spec.Select, answer))
		app.Post("/*", bareStatement(pool, spec.Insert, answer))
	case len(spec.Next) > 0:
		bareHops(app, spec.Next)
	default:
		app.All("/*", answer)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, ln.Addr()); err != nil {
		return err
	}
	return app.Listener(ln)
}

// bareStatement runs a statement and answers.
func bareStatement(pool *pgxpool.Pool, statement string, answer fiber.Handler) fiber.Handler {
	return func(c *fiber.Ctx) error {
		rows, err := pool.Query(c.Context(), statement)
		if err != nil {
			return err
		}
		for rows.Next() {
			rows.RawValues()
		}
		if rows.Close(); rows.Err() != nil {
			return rows.Err()
		}
		return answer(c)
	}
}

// bareHops passes calls on: to the one server, or as a create does to the two.
func bareHops(app *fiber.App, next []string) {
	clients := make([]*fasthttp.HostClient, len(next))
	for i, addr := range next {
		clients[i] = &fasthttp.HostClient{Addr: addr, MaxConns: 1024}
	}
	app.Get("/*", func(c *fiber.Ctx) error { return hop(c, clients[0], fiber.MethodGet) })
	app.Post("/*", func(c *fiber.Ctx) error {
		if len(clients) == 1 {
			return hop(c, clients[0], fiber.MethodPost)
		}
		if err := hop(c, clients[0], fiber.MethodGet); err != nil {
			return err
		}
		if err := hop(c, clients[1], fiber.MethodPost); err != nil {
			return err
		}
		return hop(c, clients[0], fiber.MethodPost)
	})
}

// hop asks the next server and answers with what it answers.
func hop(c *fiber.Ctx, client *fasthttp.HostClient, method string) error {
	req, resp := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(resp)
	req.Header.SetMethod(method)
	req.SetRequestURI(string(c.Request().RequestURI()))
	req.Header.SetHost(client.Addr)
	if method == fiber.MethodPost {
		req.Header.SetContentType(fiber.MIMEApplicationJSON)
		req.SetBody(c.Body())
	}
	if err := client.DoTimeout(req, resp, bareTimeout); err != nil {
		return err
	}
	if resp.StatusCode() != fiber.StatusOK {
		return fmt.Errorf("a bare server answered %d", resp.StatusCode())
	}
	c.Response().Header.SetContentTypeBytes(resp.Header.ContentType())
	return c.Send(resp.Body())
}
