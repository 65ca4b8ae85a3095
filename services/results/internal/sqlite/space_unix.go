//go:build linux || darwin

package sqlite

import "syscall"

// space is how many bytes are available where a folder is; false if the file system does not tell.
func space(dir string) (available int64, known bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil || s.Blocks == 0 {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true //nolint:gosec,unconvert // the types differ by system; no disk has 8 EiB
}
