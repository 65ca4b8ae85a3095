package telemetry

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
)

type requestIDKey struct{}

// WithRequestID returns a context that carries the request id to the log lines written with it.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

// RequestID is the context's request id, or "".
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// NewRequestID is a random request id of 32 hexadecimal digits. A request id is no secret, so no system call is made for it.
func NewRequestID() string {
	var b [16]byte
	binary.NativeEndian.PutUint64(b[:8], rand.Uint64()) //nolint:gosec // see above
	binary.NativeEndian.PutUint64(b[8:], rand.Uint64()) //nolint:gosec // see above
	return hex.EncodeToString(b[:])
}
