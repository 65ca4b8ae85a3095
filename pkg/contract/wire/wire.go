// Package wire carries contract.Results, contract.Models, contract.Console, contract.Deliveries and contract.Declarations between the services, and requests to the console
// (Proxy). Each method is an HTTP/1.1 POST of one JSON value to /internal/<method> on a kept connection, authorised by a token of
// the edge (Tokens). Response bodies and the parts of files travel as they are; errors keep their type.
//
// A call is sent once, with these exceptions. A look-up whose response was lost is asked for once more. A call is sent again on
// another connection if the kept connection was closed, if the TLS handshake failed, or after a 503 or 408 that closes the
// connection. A call by a hash that model-proxy does not know is followed by a call with the definition. A service did not take
// a call when
//
//   - no byte of the request was sent: the connection was refused, the pool was full, or the server had closed the kept
//     connection;
//   - the response is a 503 or 408 that closes the connection. A stopping server sends the 503 to new requests while it
//     finishes the others, and the 408 to connections that are idle when it closes them (httpkit.Config.ClosingNotice);
//   - the response is another 4xx of the server: a wrong token, after which the caller shows its next one, or a path that
//     the server does not know.
//
// # Releases
//
// Each release runs beside the one before it (spec: releases-side-by-side). A request has only members that are not zero, and a
// service refuses a request with a member that it does not know: the caller is told that the call was not taken, and nothing that
// it asked for is ignored. So a new member needs no path of its own. A member that may be ignored is one of hints. Members of
// responses that the caller does not know are ignored.
package wire

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/httpkit"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
)

// The paths of the methods.
const (
	pathCreateFacts = "/internal/create-facts"
	pathRetryFacts  = "/internal/retry-facts"
	pathSave        = "/internal/save"
	pathAccount     = "/internal/account"
	pathLimits      = "/internal/limits"
	pathAsk         = "/internal/ask"
	pathAskByHash   = "/internal/ask-by-hash"
	pathListModels  = "/internal/list-models"
	pathCheckModel  = "/internal/check-model"
	pathModelStates = "/internal/model-states"
	pathAuthorize   = "/internal/authorize"

	pathTryFacts  = "/internal/try-facts"
	pathFinishTry = "/internal/finish-try"
)

const (
	contentJSON   = "application/json"
	contentOctets = "application/octet-stream"
	// headerArgs has the arguments of a request whose body is octets.
	headerArgs = "Prism-Args"
	// headerTimeout is how many milliseconds the service has for the call: those that the caller will still wait, less responseTime.
	headerTimeout = "Prism-Timeout"
	// headerAccount is for whom the call counts at bounds that accounts share (spec: fair-shares). A
	// stream returns the account of its API key.
	headerAccount = "Prism-Account"
	// headerRequestID is one id in the logs of all services.
	headerRequestID = "X-Request-Id"
	// headerFailed marks a response that shows a failed result.
	headerFailed = "Prism-Failed"
	// defaultTimeout bounds a call whose context has no deadline.
	defaultTimeout = contract.ResultsWait
	// responseTime is how long the caller waits after the service has given up, an eighth of the wait at most. So the service says what
	// became of a change that took too long: usually nothing, which is a 503, while a lost response is a 500.
	responseTime = 200 * time.Millisecond
	// maxTimeout bounds what a caller can ask for.
	maxTimeout = 60 * time.Second
	// statusFailure carries a failure: an error with a type.
	statusFailure      = 409
	statusFault        = 500
	statusUnauthorized = 401
	statusUnknown      = 404
	statusUnavailable  = 503
)

// withOctets are arguments with octets. The octets are the body of the request, so that neither service holds them a second time in
// JSON.
type withOctets interface{ octets() *[]byte }

// Errors after which nobody knows whether the call took effect.
var (
	// errFault is an error of the other side.
	errFault = errors.New("internal call failed")
	// errLost is a lost response: the connection broke, or the time was up, before the response came.
	errLost = errors.New("internal call: no response")
)

// errRefused is a server that did not take the call and closes the connection: a stopping one, or one without room for the
// connection.
var errRefused = fmt.Errorf("%w: the server closes the connection", contract.ErrUnavailable)

// errHandshake is a connection on which the two services did not agree on TLS: no byte of the call was sent.
var errHandshake = fmt.Errorf("%w: no TLS connection", contract.ErrUnavailable)

// errToken is a server that does not accept the token. No method ran.
var errToken = fmt.Errorf("%w: the token was refused", contract.ErrUnavailable)

// The arguments of the methods that have more than one.
type (
	argsResult struct {
		Key contract.KeyDigest
		ID  prism.ResultID
	}
	argsAccount     struct{ Key contract.KeyDigest }
	argsLimits      struct{}
	argsListModels  struct{}
	argsCheckModel  struct{ Name string }
	argsModelStates struct{}
	argsAuthorize   struct {
		Key       contract.KeyDigest
		Operation contract.Operation
	}
	argsQuery[Q any] struct {
		Key   contract.KeyDigest
		Query Q
	}
)

// failure is an error as it travels: exactly one member is set.
type failure struct {
	API       *apierr.Error   `json:",omitzero"` // what the caller of Prism sees
	Seconds   int             `json:",omitzero"` // of an apierr.RetryAfterError
	KeyTaken  bool            `json:",omitzero"`
	LeaseLost bool            `json:",omitzero"`
	RetriedBy *prism.ResultID `json:",omitzero"`

	Declare contract.DeclareError `json:",omitzero"`
}

// encodeError gives an error its status and body. An error without a type becomes a fault without a text: the text belongs
// in the log of the service.
func encodeError(err error) (status int, body []byte) {
	var f failure
	var retried *contract.RetriedError
	var later *apierr.RetryAfterError
	switch {
	case errors.Is(err, errUnknownDefinition):
		return statusUnknown, nil
	case errors.Is(err, contract.ErrUnavailable):
		return statusUnavailable, httpkit.ErrorBody(apierr.Unavailable())
	case errors.Is(err, contract.ErrKeyTaken):
		f.KeyTaken = true
	case errors.Is(err, contract.ErrLeaseLost):
		f.LeaseLost = true
	case errors.As(err, &retried):
		f.RetriedBy = &retried.By
	case errors.As(err, &later):
		f.Seconds = later.Seconds
	case errors.As(err, &f.Declare):
	case errors.As(err, &f.API):
	default:
		return statusFault, nil
	}
	body, err = strictjson.Marshal(f)
	if err != nil {
		return statusFault, nil
	}
	return statusFailure, body
}

// decodeError reads what encodeError wrote, and the errors of a server that ran no method.
func decodeError(status int, body []byte) error {
	switch status {
	case statusUnavailable:
		return contract.ErrUnavailable
	case statusUnauthorized:
		return errToken
	case statusFailure:
		var f failure
		if err := strictjson.Unmarshal(body, &f); err != nil {
			return errors.Join(errFault, err)
		}
		switch {
		case f.Seconds > 0:
			return &apierr.RetryAfterError{Seconds: f.Seconds}
		case f.API != nil:
			return f.API
		case f.KeyTaken:
			return contract.ErrKeyTaken
		case f.LeaseLost:
			return contract.ErrLeaseLost
		case f.Declare != "":
			return f.Declare
		case f.RetriedBy != nil:
			return &contract.RetriedError{By: *f.RetriedBy}
		}
	}
	err := errors.New("status " + strconv.Itoa(status))
	if status == statusUnknown {
		err = errUnknownDefinition // or a path that the service does not know
	}
	if status >= 400 && status < 500 && status != statusFailure {
		return errors.Join(contract.ErrUnavailable, err) // no method ran
	}
	return errors.Join(errFault, err)
}
