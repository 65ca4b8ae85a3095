package route

import (
	"regexp"
	"strings"
	"testing"
)

// spec: return-page
func TestASignInReturnsToTheCleanedPathOfAPageAlone(t *testing.T) {
	t.Parallel()
	// Every browser reads such an address as a path of this host.
	safe := regexp.MustCompile(`^/console/(?:[^/\\?#\x00-\x20\x7f]+(?:/[^/\\?#\x00-\x20\x7f]+)*)?(?:\?[^#\x00-\x1f\x7f]*)?$`)
	for _, test := range []struct{ address, want string }{
		// pages
		{"/console/", home},
		{"/console", home},
		{"", home},
		{"/console/results/1?x=y", "/console/results/1?x=y"},
		{"/console/prisms?q=a&q=b", "/console/prisms?q=a&q=b"},
		{"/console/prisms/", "/console/prisms"},
		{"/console/keys?next=https://evil.example/", "/console/keys?next=https://evil.example/"},
		{"/console/keys?next=//evil.example", "/console/keys?next=//evil.example"},
		{"/console/a%20b", "/console/a%20b"},
		{"/console/%C3%A9", "/console/%C3%A9"},
		// a fragment may be a sign-in link
		{"/console/sign-in#abcdefghijklmnopqrstuvwxyzABCDEF", "/console/sign-in"},
		// other pages of this host
		{"/v1/keys", home},
		{"/docs", home},
		{"/", home},
		{"/consolation", home},
		{"/CONSOLE/keys", home},
		{"console/keys", home},
		{"./console/keys", home},
		{"?x=/console/", home},
		{"#/console/", home},
		// out of the folder
		{"/console/..", home},
		{"/console/../v1/keys", home},
		{"/console/./../v1/keys", home},
		{"/console/%2e%2e/v1/keys", home},
		{"/console/%2E%2E/v1/keys", home},
		{"/console/.%2e/v1/keys", home},
		{"/console/..%2fv1/keys", home},
		{"/console%2f..%2fv1/keys", home},
		{"/console/x/../../v1", home},
		{"/console/x/../keys", "/console/keys"},
		{"/console/%252e%252e/keys", "/console/%252e%252e/keys"},
		// other hosts
		{"https://evil.example/console/", home},
		{"HTTPS://evil.example/console/", home},
		{"https:/evil.example/console/", home},
		{"https:evil.example/console/", home},
		{"https:///evil.example/console/", home},
		{"https:/console/keys", home},
		{"http:/console/keys", home},
		{"javascript:alert(1)", home},
		{"javascript:/console/%0aalert(1)", home},
		{"data:text/html,/console/", home},
		{"//evil.example/console/", home},
		{"//evil.example/../console/keys", home},
		{"///evil.example/console/", home},
		{"////evil.example/console/", home},
		{"//@evil.example/console/", home},
		{"//user:password@evil.example/console/", home},
		{"//evil.example:443/console/", home},
		{"//evil.example%2f/console/", home},
		{"//[::1]/console/", home},
		{"@evil.example/console/", home},
		{"/@evil.example/../console/keys", "/console/keys"},
		{"///evil.example/../console/keys", "/console/keys"},
		{"////evil.example/../console/keys", "/console/keys"},
		{"/.//evil.example/../../console/keys", "/console/keys"},
		{"/console//evil.example", "/console/evil.example"},
		{"/console/..//evil.example/../console/keys", "/console/keys"},
		{"/console/../..//evil.example/console/", home},
		{"//console/keys", home},
		{"/%2f%2fevil.example/console/", home},
		{"/%2fevil.example/../console/keys", "/console/keys"},
		{"%2f%2fevil.example/../console/keys", "/console/keys"},
		{"/console/%2f%2fevil.example", "/console/evil.example"},
		// backslashes
		{`/\evil.example/console/`, home},
		{`\\evil.example\console\`, home},
		{`\/evil.example/console/`, home},
		{`/\/evil.example/../console/keys`, home},
		{`/console/\evil`, home},
		{`/console/..\..\evil`, home},
		{"/%5cevil.example/../console/keys", home},
		{"/console/%5c%5cevil.example", home},
		{`/console/keys?x=\`, `/console/keys?x=\`},
		// tabs, line ends and NUL
		{"/\t/evil.example/../console/keys", home},
		{"\t//evil.example/console/", home},
		{" //evil.example/console/", home},
		{"/\n/evil.example/console/", home},
		{"/\r\n/evil.example/console/", home},
		{"/console/keys\r\nSet-Cookie: a=b", home},
		{"/console/%0d%0aSet-Cookie:%20a=b", home},
		{"/console/%09/evil.example", home},
		{"/console/%00", home},
		{"/%09/evil.example/../console/keys", home},
		// no address
		{"/console/%zz", home},
		{"//evil.example:port/console/", home},
		{"/console/" + strings.Repeat("x", maxPage), home},
	} {
		got := ownPage(test.address)
		if got != test.want {
			t.Errorf("%q leads to %q, want %q", test.address, got, test.want)
		}
		if !safe.MatchString(got) {
			t.Errorf("%q leads to %q, which a browser may read as another address", test.address, got)
		}
	}
}
