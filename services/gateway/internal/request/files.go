package request

import (
	"math"
	"reflect"

	"github.com/prism-results/prism/pkg/api"
)

// digest reads 64 hexadecimal digits.
func digest(r *reader, it item, to reflect.Value) {
	s, ok := r.str(it, 0, math.MaxInt)
	if ok && to.Addr().Interface().(*api.SHA256).UnmarshalText([]byte(s)) != nil {
		r.add(it.path, textSHA256)
	}
}
