package route

import (
	"net/url"
	"path"
	"strings"
)

// home is the first page of the app, and the folder of all others.
const home = "/console/"

// maxPage bounds the address of a page, in bytes.
const maxPage = 2048

// ownPage returns the cleaned path and the query of a page of the app, and home for any other address (spec: return-page). The
// address comes from the browser's own address, so anybody may have written it. Browsers drop tabs, and read a backslash and the
// second of two slashes otherwise than net/url does: what is returned has none of them.
func ownPage(address string) string {
	u, err := url.Parse(address)
	if err != nil || len(address) > maxPage || u.Scheme != "" || u.Host != "" || u.User != nil || strings.ContainsFunc(u.Path, unsafe) {
		return home
	}
	cleaned := path.Clean(u.Path)
	if !strings.HasPrefix(cleaned, home) {
		return home
	}
	return (&url.URL{Path: cleaned, RawQuery: u.RawQuery}).String()
}

func unsafe(r rune) bool { return r == '\\' || r < ' ' || r == 0x7f }
