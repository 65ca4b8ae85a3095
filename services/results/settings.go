package results

import "github.com/prism-results/prism/pkg/config"

// Pool is the settings of the connections to Postgres.
type Pool struct {
	MaxConns int `env:"PRISM_DATABASE_MAX_CONNS" default:"16" help:"most connections to Postgres"`
}

// Validate implements config's cross check.
func (p *Pool) Validate() []config.Problem {
	if p.MaxConns < 1 {
		return []config.Problem{{Variable: "PRISM_DATABASE_MAX_CONNS", What: "must be 1 or more", Example: "16"}}
	}
	return nil
}
