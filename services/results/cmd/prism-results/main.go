// Command prism-results stores accounts, prisms and results in Postgres, and formats results.
package main

import (
	_ "golang.org/x/crypto/x509roots/fallback" // certificate authorities where the image has none

	"github.com/prism-results/prism/pkg/config"
	"github.com/prism-results/prism/pkg/daemon"
)

func main() { daemon.Main(config.OS("prism-results"), run) }
