package httpkit

import (
	"bytes"
	"net/url"
	"strconv"
	"unicode/utf8"

	"github.com/valyala/fasthttp"
)

// headers are facts about the headers of a request that fasthttp does not report.
type headers struct {
	contentTypes int
	encoded      bool // a Content-Encoding other than identity
	length       int  // Content-Length as it was sent; 0 when it was not
	close        bool // Connection: close, in any letter case, also in a list
}

// inspect reads the raw headers. It refuses what two parties could read in two ways (RFC 9112) and fasthttp 1.73 lets pass:
// Content-Length with Transfer-Encoding, Transfer-Encoding in HTTP/1.0 or other than chunked, folded lines, bare LF, names with
// spaces, an absent or ambiguous Host, and versions other than 1.0 and 1.1. fasthttp refuses NUL, bare CR, and repeated
// Content-Length, Transfer-Encoding and Host.
func inspect(h *fasthttp.RequestHeader) (facts headers, ok bool) {
	version11 := bytes.Equal(h.Protocol(), []byte("HTTP/1.1"))
	if !version11 && !bytes.Equal(h.Protocol(), []byte("HTTP/1.0")) {
		return facts, false
	}
	var lengths, encodings, hosts int
	for rest := h.RawHeaders(); len(rest) > 0; {
		line, after, complete := bytes.Cut(rest, []byte("\r\n"))
		if !complete {
			return facts, false
		}
		rest = after
		if len(line) == 0 {
			if len(rest) > 0 {
				return facts, false
			}
			break
		}
		name, value, hasColon := bytes.Cut(line, []byte(":"))
		if !hasColon || !isToken(name) || bytes.IndexByte(value, '\n') >= 0 {
			return facts, false
		}
		value = bytes.Trim(value, " \t")
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			lengths++
			facts.length, _ = strconv.Atoi(string(value)) // fasthttp has refused what is no number
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			encodings++
			if !version11 || !bytes.EqualFold(value, []byte("chunked")) {
				return facts, false
			}
		case bytes.EqualFold(name, []byte("Host")):
			hosts++
			if bytes.ContainsAny(value, "@/?#\\,") { // RFC 9112 3.2: no user, no path, no list
				return facts, false
			}
		case bytes.EqualFold(name, []byte("Content-Type")):
			facts.contentTypes++
		case bytes.EqualFold(name, []byte("Content-Encoding")):
			facts.encoded = facts.encoded || len(value) > 0 && !bytes.EqualFold(value, []byte("identity"))
		case bytes.EqualFold(name, []byte("Connection")):
			facts.close = facts.close || hasToken(value, "close")
		}
	}
	if lengths > 0 && encodings > 0 || version11 && hosts == 0 {
		return facts, false
	}
	return facts, true
}

// isToken tells whether b is a field name of RFC 9110. A line that begins with white space, a fold, is not.
func isToken(b []byte) bool {
	for _, c := range b {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case bytes.IndexByte([]byte("!#$%&'*+-.^_`|~"), c) >= 0:
		default:
			return false
		}
	}
	return len(b) > 0
}

func hasToken(list []byte, token string) bool {
	for item := range bytes.SplitSeq(list, []byte(",")) {
		if bytes.EqualFold(bytes.Trim(item, " \t"), []byte(token)) {
			return true
		}
	}
	return false
}

// rawPath is the path of a request target as it was sent. Fiber's idea of it is compared with this one, so that no other
// reading of an odd target can reach a route.
func rawPath(target []byte) (path []byte, ok bool) {
	if bytes.IndexByte(target, '#') >= 0 {
		return nil, false // a fragment is never sent
	}
	path, _, _ = bytes.Cut(target, []byte("?"))
	if len(path) > 0 && path[0] != '/' {
		if _, rest, absolute := bytes.Cut(path, []byte("://")); absolute {
			if _, err := url.ParseRequestURI(string(target)); err != nil {
				return nil, false // its authority is none
			}
			path = nil
			if i := bytes.IndexByte(rest, '/'); i >= 0 {
				path = rest[i:]
			}
		}
	}
	return path, decodesToUTF8(path)
}

// decodesToUTF8 tells whether every % begins an escape and the decoded bytes are UTF-8 (spec: path-encoding).
func decodesToUTF8(path []byte) bool {
	if bytes.IndexByte(path, '%') < 0 {
		return utf8.Valid(path)
	}
	decoded, err := url.PathUnescape(string(path))
	return err == nil && utf8.ValidString(decoded)
}
