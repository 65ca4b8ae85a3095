package httpkit

import (
	"strconv"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/strictjson"
)

// ErrorBody is the JSON body of an error: {error: {code, message}}, or the one exception, the 503 of a restarting server.
func ErrorBody(e *apierr.Error) []byte { return errorBody(e, nil) }

// errorBody is ErrorBody with further members of the error, which are JSON without braces.
func errorBody(e *apierr.Error, members []byte) []byte {
	// A message can have megabytes.
	b := make([]byte, 0, len(e.Message)+128)
	if e.Status == 503 {
		b = append(b, `{"error":`...)
		b = strictjson.AppendString(b, e.Message)
		b = append(b, `,"message":`...)
		b = strictjson.AppendString(b, e.Message)
		b = append(b, `,"statusCode":`...)
		b = strconv.AppendInt(b, int64(e.Status), 10)
		return append(b, '}')
	}
	b = append(b, `{"error":{"code":`...)
	b = strictjson.AppendString(b, string(e.Code))
	b = append(b, `,"message":`...)
	b = strictjson.AppendString(b, e.Message)
	if members != nil {
		b = append(append(b, ','), members...)
	}
	return append(b, "}}"...)
}
