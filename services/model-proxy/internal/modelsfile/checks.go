package modelsfile

import (
	"fmt"
	"math/big"
	"net/http"
	"regexp"
	"strings"
)

var (
	nameForm     = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$`)
	currencyForm = regexp.MustCompile(`^[A-Z]{3}$`)
	amountForm   = regexp.MustCompile(`^[0-9]{1,12}(?:\.[0-9]{1,12})?(?:[eE][-+]?[0-9]{1,2})?$`)
)

// unit is what a price is for.
type unit struct {
	limit int64 // the least price that is too large, in the currency
	parts int64 // of one of the currency, in the unit of models.Price
	form  string
}

var (
	perMillion = unit{1e6, 1e6, "must be a number from 0 to 999999.999999 with at most six decimals"}
	perCall    = unit{1e3, 1e12, "must be a number from 0 to 999.999999999999 with at most twelve decimals"}
)

// amount reads a price, in the unit of models.Price.
func amount(text string, u unit) (n int64, ok bool) {
	if !amountForm.MatchString(text) {
		return 0, false
	}
	exact, ok := new(big.Rat).SetString(text) // Helm writes 0.000001 as 1e-06
	if !ok || !exact.Mul(exact, big.NewRat(u.parts, 1)).IsInt() || exact.Cmp(big.NewRat(u.limit*u.parts, 1)) >= 0 {
		return 0, false
	}
	return exact.Num().Int64(), true
}

// ownHeaders are headers that the client or HTTP itself sets.
var ownHeaders = map[string]bool{
	"Accept": true, "Accept-Encoding": true, "Authorization": true, "Connection": true, "Content-Length": true,
	"Content-Type": true, "Content-Encoding": true, "Expect": true, "Host": true, "Keep-Alive": true, "Proxy-Authorization": true,
	"Proxy-Connection": true, "Te": true, "Traceparent": true, "Tracestate": true, "Trailer": true, "Transfer-Encoding": true,
	"Upgrade": true, "User-Agent": true,
}

var headerForm = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

// checkHeaderName returns what is wrong with the name of a header, or "".
func checkHeaderName(name string) (problem string) {
	switch {
	case !headerForm.MatchString(name):
		return "is no name of a header: it must be letters, digits and hyphens"
	case http.CanonicalHeaderKey(name) == "Authorization":
		return "is set by Prism; name the key in api_key_env or api_key_file"
	case ownHeaders[http.CanonicalHeaderKey(name)]:
		return "is set by Prism"
	}
	return ""
}

// checkHeaderValue returns what is wrong with the value of a header, without repeating it, or "".
func checkHeaderValue(value string) (problem string) {
	if value == "" {
		return "must not be empty"
	}
	if i := strings.IndexFunc(value, func(r rune) bool { return r != '\t' && (r < ' ' || r > '~') }); i >= 0 {
		return fmt.Sprintf("holds a character at byte %d that no header can carry", i)
	}
	if strings.Trim(value, " \t") != value {
		return "must not begin or end with a space"
	}
	return ""
}
