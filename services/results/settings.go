package results

// Pool is the settings of the connections to Postgres.
type Pool struct {
	MaxConns int `env:"PRISM_DATABASE_MAX_CONNS" default:"16" least:"1" help:"most connections to Postgres"`
}
