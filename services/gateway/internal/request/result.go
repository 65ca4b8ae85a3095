package request

import (
	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// Result is a valid read or retry of one result.
type Result struct {
	ID     prism.ResultID
	Format contract.Format
}

// ParseRead reads GET /v1/results/{result_id}.
func ParseRead(resultID string, formats []string) (Result, error) {
	var r reader
	in := Result{
		ID:     prism.ResultID{UUID: r.uuidParam("result_id", resultID)},
		Format: r.format(formats, api.Formats(), contract.JSON),
	}
	return in, r.err()
}

// ParseRecord reads GET /v1/results/{result_id}/record.
func ParseRecord(resultID string) (prism.ResultID, error) {
	var r reader
	id := r.uuidParam("result_id", resultID)
	return prism.ResultID{UUID: id}, r.err()
}

// ParseRetry reads POST /v1/results/{result_id}/retry: the body, which is checked and ignored, then path and format
// (spec: order-of-checks-retry).
func ParseRetry(resultID string, formats []string, body Body) (Result, error) {
	if err := ignoreBody(body); err != nil {
		return Result{}, err
	}
	return ParseRead(resultID, formats)
}
