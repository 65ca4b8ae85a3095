package audit

import (
	"context"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/access"
	"github.com/prism-results/prism/services/results/internal/bodies"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Handlers are those of the audit's operations.
type Handlers struct{ Store Store }

// Operations are the operations of the audit.
func (s *Handlers) Operations() []api.Handler[access.Caller] {
	return []api.Handler[access.Caller]{access.Encoded(api.ListAudit, s.listAudit)}
}

// The body of an entry (spec: audit-entry-members).
type (
	entryBody struct {
		ID     prism.UUID       `json:"id"`
		At     string           `json:"at"`
		Actor  actorBody        `json:"actor"`
		Action store.Action     `json:"action"`
		Object objectBody       `json:"object"`
		Detail strictjson.Value `json:"detail"`
	}
	actorBody struct {
		Kind store.ActorKind `json:"kind"`
		ID   *prism.KeyID    `json:"id"`
		Name string          `json:"name"`
	}
	objectBody struct {
		Kind store.ObjectKind `json:"kind"`
		ID   prism.UUID       `json:"id"`
		Name string           `json:"name"`
	}
)

func newEntryBody(e Entry) entryBody {
	body := entryBody{
		ID: e.ID, At: prism.FormatTime(e.At), Actor: actorBody{Kind: e.Actor.Kind, Name: e.Actor.Name},
		Action: e.Action, Object: objectBody(e.Object), Detail: e.Detail,
	}
	if !e.Actor.Key.IsZero() {
		body.Actor.ID = &e.Actor.Key
	}
	return body
}

func (s *Handlers) listAudit(ctx context.Context, c store.Caller, in api.ListAuditRequest) ([]byte, error) {
	return bodies.List(contract.ListOfAudit, in.Limit, in.Cursor, func(page store.Page) ([]Entry, bool, error) {
		filter := Filter{From: bodies.WholeMillisecond(in.From), To: bodies.WholeMillisecond(in.To)}
		switch in.Actor {
		case "":
		case string(store.OperatorActor), string(store.RetentionActor), string(store.WebhookActor):
			filter.Kind = store.ActorKind(in.Actor)
		default:
			id, err := prism.ParseUUID(in.Actor)
			if err != nil {
				return nil, false, err
			}
			filter.Key = &prism.KeyID{UUID: id}
		}
		return s.Store.ListAudit(ctx, c.Account, filter, page)
	}, func(e Entry) (entryBody, error) { return newEntryBody(e), nil }, func(e Entry) prism.UUID { return e.ID })
}
