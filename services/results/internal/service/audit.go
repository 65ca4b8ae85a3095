package service

import (
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

// By is a change that an actor makes now.
func (s *Service) By(actor store.Actor) (store.By, error) {
	id, err := s.NewID()
	return store.By{Entry: id, At: prism.Now(s.Now), Actor: actor}, err
}
