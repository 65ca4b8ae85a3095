package telemetry

import (
	"context"
	"crypto/rand"
	"encoding/hex"
)

type requestIDKey struct{}

// identified is a context with a request id. context.WithValue would allocate the id beside it.
type identified struct {
	context.Context //nolint:containedctx // it is one
	id              string
}

func (c *identified) Value(key any) any {
	if key == (requestIDKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// WithRequestID returns a context that carries the request id to the log lines written with it.
func WithRequestID(ctx context.Context, id string) context.Context { return &identified{ctx, id} }

// RequestID is the context's request id, or "".
func RequestID(ctx context.Context) string {
	if c, ok := ctx.Value(requestIDKey{}).(*identified); ok {
		return c.id
	}
	return ""
}

// NewRequestID is a random request id of 32 hexadecimal digits.
func NewRequestID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return hex.EncodeToString(b[:])
}
