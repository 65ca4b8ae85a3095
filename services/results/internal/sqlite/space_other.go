//go:build !linux && !darwin

package sqlite

// space is not known here.
func space(string) (available int64, known bool) { return 0, false }
