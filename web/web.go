// Package web has the built pages of the console and of the API reference: `make web` builds them into dist.
package web

import (
	"embed"
	"io/fs"
)

//go:embed dist
var built embed.FS

// Dist has index.html, the console; docs.html, the API reference; and assets, whose names change with their content. The
// pages ask for assets below their own paths: /console/assets and /docs/assets.
func Dist() fs.FS {
	dist, err := fs.Sub(built, "dist")
	if err != nil {
		panic(err) // the name is valid
	}
	return dist
}
