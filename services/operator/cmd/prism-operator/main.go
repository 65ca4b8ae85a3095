// Command prism-operator has Prism be as the custom resources of a cluster say.
package main

import (
	_ "golang.org/x/crypto/x509roots/fallback" // certificate authorities where the image has none

	"github.com/prism-results/prism/pkg/config"
	"github.com/prism-results/prism/pkg/daemon"
)

func main() { daemon.Main(config.OS("prism-operator"), run) }
