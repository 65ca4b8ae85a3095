package service

import (
	"context"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/store"
)

// By is a change that an actor makes now.
func (s *Service) By(actor store.Actor) (store.By, error) {
	id, err := s.NewID()
	return store.By{Entry: id, At: prism.Now(s.Now), Actor: actor}, err
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

func newEntryBody(e store.Entry) entryBody {
	body := entryBody{
		ID: e.ID, At: prism.FormatTime(e.At), Actor: actorBody{Kind: e.Actor.Kind, Name: e.Actor.Name},
		Action: e.Action, Object: objectBody(e.Object), Detail: e.Detail,
	}
	if !e.Actor.Key.IsZero() {
		body.Actor.ID = &e.Actor.Key
	}
	return body
}

// ListAudit implements contract.Results.
func (s *Service) ListAudit(ctx context.Context, key contract.KeyDigest, q contract.AuditList) (contract.Response, error) {
	return s.manage(ctx, key, listAudit, nil, func(account prism.AccountID) (any, error) {
		page, err := storePage(contract.ListOfAudit, q.Page.Limit, q.Page.Cursor)
		if err != nil {
			return nil, err
		}
		filter := store.AuditFilter{
			From: wholeMillisecond(q.From), To: wholeMillisecond(q.To), Key: q.Key,
		}
		switch {
		case q.Operator:
			filter.Kind = store.OperatorActor
		case q.Retention:
			filter.Kind = store.RetentionActor
		}
		entries, more, err := s.Store.ListAudit(ctx, account, filter, page)
		if err != nil {
			return nil, err
		}
		return newListBody(contract.ListOfAudit, entries, more,
			func(e store.Entry) (strictjson.Value, error) { return strictjson.Marshal(newEntryBody(e)) },
			func(e store.Entry) prism.UUID { return e.ID })
	})
}
