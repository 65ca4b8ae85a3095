// Package build reads which version of Prism a binary is.
package build

import (
	"fmt"
	"runtime/debug"
)

// Version is the release that this source is. A test compares what else names it: the chart, the clients and the changelog.
const Version = "1.0.0"

// Info identifies a build. A member that the build did not record is "unknown".
type Info struct {
	Version   string
	Revision  string // the commit
	GoVersion string
}

// Read reads the Info of a binary; pass debug.ReadBuildInfo for the running one.
func Read(read func() (*debug.BuildInfo, bool)) Info {
	i := Info{Version, "unknown", "unknown"}
	info, ok := read()
	if !ok {
		return i
	}
	i.GoVersion = info.GoVersion
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			i.Revision = s.Value
		}
	}
	return i
}

// String is the text of --version.
func (i Info) String() string {
	return fmt.Sprintf("%s (revision %s, %s)", i.Version, i.Revision, i.GoVersion)
}
