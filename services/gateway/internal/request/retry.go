package request

import (
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

var resultRetryShape = &shape{members: members("prism", "status", "from", "to", "expect", "dry_run")}

// ParseResultRetry reads POST /v1/results/retry {prism, status, from?, to?, expect, dry_run?} (spec: retry-many-request).
func ParseResultRetry(body Body) (contract.ResultRetry, error) {
	sent, err := parseBody(body, resultRetryShape)
	if err != nil {
		return contract.ResultRetry{}, err
	}
	var r reader
	var retry contract.ResultRetry
	if r.is(sent, kindObject) {
		r.resultRetry(&retry, sent)
	}
	return retry, r.err()
}

func (r *reader) resultRetry(retry *contract.ResultRetry, body item) {
	if name, ok := r.str(body.at("prism"), 1, maxName); ok {
		retry.Prism = prism.ParseRef(name)
	}
	if status := body.at("status"); r.is(status, kindString) && prism.Status(r.anyStr(status)) != prism.Failed {
		r.add("status", textOneOf([]prism.Status{prism.Failed}))
	}
	if at := r.optionalDatetime(body.at("from")); at != nil {
		retry.From = *at
	}
	if at := r.optionalDatetime(body.at("to")); at != nil {
		retry.To = asBound(*at)
	}
	// expect is optional in a dry run, whose purpose is to find the number.
	expect, dryRun := body.at("expect"), body.at("dry_run")
	if expect.given() || !dryRun.given() || dryRun.kind() == kindBoolean && dryRun.text[0] != 't' {
		if n, ok := r.number(expect); ok {
			retry.Expect = int64(r.whole("expect", n, 0, contract.MaxRetried))
		}
	}
	retry.DryRun = r.optionalBoolean(dryRun)
}
