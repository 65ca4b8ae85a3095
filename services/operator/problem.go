package operator

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/services/operator/api/v1alpha1"
)

// Problem is why Prism is not as an object says.
type Problem struct { //nolint:errname // it is what a condition says
	Reason string
	Text   string
	// Unusable tells that the object is not ready either. Otherwise what Prism has, it has still.
	Unusable bool
	// Retry has the object tried again soon. Otherwise it waits for a change of itself or of its account, or for Config.Resync.
	Retry bool
	// After is how long Prism asks to wait; 0 for the pauses of the queue.
	After time.Duration
}

func (p *Problem) Error() string { return p.Reason + ": " + p.Text }

func notAllowed(format string, args ...any) *Problem {
	return &Problem{Reason: v1alpha1.ReasonNotAllowed, Text: fmt.Sprintf(format, args...), Unusable: true}
}

func noAccount(format string, args ...any) *Problem {
	return &Problem{Reason: v1alpha1.ReasonNoAccount, Text: fmt.Sprintf(format, args...), Unusable: true}
}

// problemOf is an error as a problem.
func problemOf(err error) *Problem {
	var p *Problem
	if errors.As(err, &p) {
		return p
	}
	p = &Problem{Reason: v1alpha1.ReasonFailed, Text: err.Error(), Retry: true}
	var refused *client.Error
	var connection *client.ConnectionError
	switch {
	case errors.As(err, &connection), errors.Is(err, context.DeadlineExceeded):
		p.Reason = v1alpha1.ReasonUnavailable
	case !errors.As(err, &refused):
	case refused.Code == client.CodeValidationFailed || refused.Code == client.CodeBadRequest:
		p.Reason, p.Text, p.Retry = v1alpha1.ReasonInvalid, refused.Message, false
	default:
		p.Text, p.After = refused.Message, refused.RetryAfter
		if refused.Status >= http.StatusInternalServerError || refused.Status == http.StatusTooManyRequests {
			p.Reason = v1alpha1.ReasonUnavailable
		}
	}
	return p
}
