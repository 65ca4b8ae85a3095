package results

// Pool is the settings of the connections to Postgres.
type Pool struct {
	MaxConns          int    `env:"PRISM_DATABASE_MAX_CONNS" default:"16" least:"1" help:"most connections to Postgres"`
	SynchronousCommit string `env:"PRISM_SYNCHRONOUS_COMMIT" oneof:"on remote_apply remote_write local off" help:"synchronous_commit of each connection to Postgres; empty: that of Postgres, but at least on"`
}
