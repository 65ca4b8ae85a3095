package service

import "github.com/prism-results/prism/services/results/internal/webhooks"

// Sender leases and saves deliveries of webhooks.
func (s *Service) Sender() *webhooks.Sender { return s.webhookSender }
