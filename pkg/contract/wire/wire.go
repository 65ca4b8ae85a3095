// Package wire carries contract.Results and contract.Models between the services: each method is a POST of one JSON value
// to /internal/<method>, authorised by the internal token. Documents travel as they are; errors keep their type. Services
// that know each other carry the same calls over shared connections (frame.go).
package wire

import (
	"errors"
	"strconv"
	"time"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
)

// The paths of the methods.
const (
	pathCreateFacts = "/internal/create-facts"
	pathRetryFacts  = "/internal/retry-facts"
	pathSave        = "/internal/save"
	pathRead        = "/internal/read"
	pathListResults = "/internal/list-results"
	pathExport      = "/internal/export"
	pathCreatePrism = "/internal/create-prism"
	pathListPrisms  = "/internal/list-prisms"
	pathPrism       = "/internal/prism"
	pathAddVersion  = "/internal/add-version"
	pathVersion     = "/internal/version"
	pathPutLens     = "/internal/put-lens"
	pathSetArchived = "/internal/set-archived"
	pathCreateKey   = "/internal/create-key"
	pathListKeys    = "/internal/list-keys"
	pathRevokeKey   = "/internal/revoke-key"
	pathAsk         = "/internal/ask"

	pathCalls = "/internal/calls"
)

const (
	contentJSON = "application/json"
	// headerTimeout is the milliseconds that the caller will still wait.
	headerTimeout = "Prism-Timeout"
	// headerRequestID lets the logs of all services speak of one request.
	headerRequestID = "X-Request-Id"
	// headerFailed marks a document that shows a failed result.
	headerFailed = "Prism-Failed"
	// defaultTimeout bounds a call whose context has no deadline.
	defaultTimeout = contract.ResultsWait
	// maxTimeout bounds what a caller can ask for.
	maxTimeout = 60 * time.Second
	// statusRefused carries a failure: any answer that is neither a success nor a fault.
	statusRefused = 409
	statusFault   = 500
	statusAway    = 503
)

// Errors after which nobody knows whether the call took effect.
var (
	// errFault is an error of the other side.
	errFault = errors.New("internal call failed")
	// errLost is a call or an answer that was lost on the way.
	errLost = errors.New("internal call lost")
)

// The arguments of the methods that have more than one.
type (
	argsResult struct {
		Key    contract.KeyDigest
		ID     prism.ResultID
		Format contract.Format
	}
	argsListResults struct {
		Key   contract.KeyDigest
		Query contract.ResultList
	}
	argsExport struct {
		Key   contract.KeyDigest
		Query contract.Export
	}
	argsCreatePrism struct {
		Key   contract.KeyDigest
		Prism contract.NewPrism
	}
	argsListPrisms struct {
		Key   contract.KeyDigest
		Query contract.PrismList
	}
	argsPrism struct {
		Key      contract.KeyDigest
		Ref      prism.Ref
		Number   int32                // Version
		New      *contract.NewVersion // AddVersion
		Lens     *contract.NewLens    // PutLens
		Archived bool                 // SetArchived
	}
	argsKey struct {
		Key  contract.KeyDigest
		Name string      // CreateKey
		ID   prism.KeyID // RevokeKey
	}
)

// failure is an error as it travels: exactly one member is set.
type failure struct {
	API       *apierr.Error   `json:",omitzero"` // what the caller of Prism sees
	KeyTaken  bool            `json:",omitzero"`
	RetriedBy *prism.ResultID `json:",omitzero"`
}

// encodeError gives an error its status and body. What is not between the services becomes a fault without words: those
// belong in the log of the service that had it.
func encodeError(err error) (status int, body []byte) {
	var f failure
	var retried *contract.RetriedError
	switch {
	case errors.Is(err, contract.ErrUnavailable):
		return statusAway, apierr.Unavailable().Body()
	case errors.Is(err, contract.ErrKeyTaken):
		f.KeyTaken = true
	case errors.As(err, &retried):
		f.RetriedBy = &retried.By
	case errors.As(err, &f.API):
	default:
		return statusFault, nil
	}
	body, err = strictjson.Marshal(f)
	if err != nil {
		return statusFault, nil
	}
	return statusRefused, body
}

// decodeError is encodeError's other end.
func decodeError(status int, body []byte) error {
	switch status {
	case statusAway:
		return contract.ErrUnavailable
	case statusRefused:
		var f failure
		if err := strictjson.Unmarshal(body, &f); err != nil {
			return errors.Join(errFault, err)
		}
		switch {
		case f.API != nil:
			return f.API
		case f.KeyTaken:
			return contract.ErrKeyTaken
		case f.RetriedBy != nil:
			return &contract.RetriedError{By: *f.RetriedBy}
		}
	}
	err := errors.New("status " + strconv.Itoa(status))
	if status >= 400 && status < 500 && status != statusRefused {
		return errors.Join(contract.ErrUnavailable, err) // refused before any method ran, for a wrong token, say
	}
	return errors.Join(errFault, err)
}
