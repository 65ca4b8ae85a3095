package service

import (
	"context"
	"fmt"
	"slices"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/access"
	"github.com/prism-results/prism/services/results/internal/audit"
	"github.com/prism-results/prism/services/results/internal/changes"
	"github.com/prism-results/prism/services/results/internal/comments"
	"github.com/prism-results/prism/services/results/internal/distribution"
	"github.com/prism-results/prism/services/results/internal/drift"
	"github.com/prism-results/prism/services/results/internal/eventbodies"
	"github.com/prism-results/prism/services/results/internal/format"
	"github.com/prism-results/prism/services/results/internal/labelqueue"
	"github.com/prism-results/prism/services/results/internal/labels"
	"github.com/prism-results/prism/services/results/internal/usage"
	"github.com/prism-results/prism/services/results/internal/views"
	"github.com/prism-results/prism/services/results/internal/webhooks"
)

// handlers are those of the declared operations.
func (s *Service) handlersOfOperations() access.Handlers {
	return api.NewHandlers(slices.Concat(
		s.fileHandlers.Operations(), s.keyHandlers.Operations(), s.memberHandlers.Operations(), s.prismHandlers.Operations(),
		(&audit.Handlers{Store: s.Store}).Operations(), (&changes.Handlers{Store: s.Store, Prisms: s.Store}).Operations(),
		(&eventbodies.Handlers{Writer: eventbodies.Writer{Store: s.Store, Lenses: s}, Prisms: s.Store}).Operations(),
		(&distribution.Handlers{Store: s.Store, Prisms: s.Store, Versions: s.prismHandlers, Visit: s.searches.Visit, Now: s.Now}).Operations(),
		usage.NewHandlers(s.Store, s.Now).Operations(), s.qualityHandlers.Operations(),
		drift.NewHandlers(s.Store, s.prismHandlers).Operations(s.Access), s.searches.Operations(s.Access),
		comments.NewHandlers(s.Store, s.Access, s.searches).Operations(), views.NewHandlers(s.Store, s.Access, s.Store, s.searches).Operations(),
		webhooks.NewHandlers(s.Store, s.Store, s.Access, s.Store, s.Now, s.NewID).Operations(),
		labels.NewHandlers(s.Store, s.Now, s.prismHandlers).Operations(),
		labelqueue.NewHandlers(s.Store, s.prismHandlers, s.searches).Operations(), s.runHandlers.Operations(),
		s.deletionHandlers.Operations(), s.resultHandlers.Operations(),
	)...)
}

// Do implements contract.Results.
func (s *Service) Do(ctx context.Context, key contract.KeyDigest, op api.Operation, request any) (contract.Response, error) {
	declaration := op.Declared()
	if in, ok := request.(*api.ResultInFormat); ok && declaration.Name == api.ReadResult.Name {
		return s.ReadResult(ctx, key, *in)
	}
	handler, ok := s.handlers[declaration.Name]
	if !ok {
		return contract.Response{}, fmt.Errorf("service: no handler of %s", declaration.Name)
	}
	found, leave, err := s.Enter(ctx, key, contract.Operation(declaration.Name))
	if err != nil {
		return contract.Response{}, err
	}
	defer leave()
	response, err := handler.Call(ctx, access.Caller{Caller: found, Digest: key}, request)
	if err != nil {
		return contract.Response{}, access.Translate(err, declaration.NotFound())
	}
	if response == nil {
		return contract.Response{}, nil
	}
	body, encoded := response.([]byte)
	if !encoded {
		body, err = strictjson.Marshal(response, strictjson.Numbers)
	}
	return contract.Response{ContentType: format.ContentType(contract.JSON), Body: body}, err
}

// Open implements contract.Results.
func (s *Service) Open(ctx context.Context, key contract.KeyDigest, op api.Operation, request any) (contract.Stream, error) {
	c, err := s.Authenticate(ctx, key, contract.Operation(op.Declared().Name))
	if err != nil {
		return contract.Stream{}, err
	}
	var stream contract.Stream
	switch in := request.(type) {
	case *api.ExportResultsRequest:
		stream, err = s.Export(ctx, c, *in)
	case *api.ExportSelectedRequest:
		stream, err = s.ExportSelected(ctx, c, *in)
	case *api.ListRunRowsRequest:
		stream, err = s.ListRows(ctx, c, *in)
	default:
		err = fmt.Errorf("service: %s is no stream", op.Declared().Name)
	}
	return stream, access.Translate(err, op.Declared().NotFound())
}
