// Command prism-console serves the app at /console/ and signs people in.
package main

import (
	_ "golang.org/x/crypto/x509roots/fallback" // certificate authorities where the image has none

	"github.com/prism-results/prism/pkg/config"
	"github.com/prism-results/prism/pkg/daemon"
)

func main() { daemon.Main(config.OS("prism-console"), run) }
