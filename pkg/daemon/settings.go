package daemon

import (
	"cmp"
	"time"

	"github.com/prism-results/prism/pkg/config"
)

// Settings are the settings that every binary has, without its addresses.
type Settings struct {
	LogLevel       string        `env:"PRISM_LOG_LEVEL" default:"info" oneof:"debug info warn error" help:"least level that is logged; debug logs each request"`
	DrainDelay     time.Duration `env:"PRISM_DRAIN_DELAY" default:"0s" example:"5s" help:"pause between being told to stop and refusing"`
	MaxInFlight    int           `env:"PRISM_MAX_IN_FLIGHT" default:"0" example:"4096" help:"requests served at once, one more is answered 503; 0 is one for each 512KiB of the memory limit, at most 4096"`
	MaxConnections int           `env:"PRISM_MAX_CONNECTIONS" default:"0" example:"16384" help:"connections open at once, one more takes the place of an idle one or is answered 503; 0 is 4 times the requests"`
	MaxBodyBytes   config.Bytes  `env:"PRISM_MAX_BODY_BYTES" default:"0" help:"size of all bodies in memory at once beyond 16KiB of each, one more is answered 503; 0 is a sixteenth of the memory limit, at most 256MiB"`

	MaxResponseBytes config.Bytes `env:"PRISM_MAX_RESPONSE_BYTES" default:"0" help:"size of all responses in memory at once beyond 16KiB of each, one more is answered 503; 0 is a sixteenth of the memory limit, at most 64MiB"`
}

// The parts of the memory limit. A call that waits for the model takes about 120 KiB in standalone, and less in a service of
// its own; an idle connection takes 40 KiB. Until accounts drain to their shares there are up to twice as many calls
// (spec: fair-shares), but no more connections than four for each call of the bound. So two calls and four connections, 400 KiB,
// fit memoryOfCall. A body may be in memory five times: as sent, parsed, for the model, to be saved, and as garbage. So bodies
// take less than a third of the limit. A response is in memory once or twice, also as garbage, and accounts hold up to twice as
// many (spec: fair-shares), so responses take at most a quarter. The process itself takes the rest.
const (
	memoryOfCall  = 512 << 10
	bodiesShare   = 16 // of the limit, as a divisor
	answersShare  = 16
	mostInFlight  = 4096
	mostBodyBytes = 256 << 20
	mostResponses = 64 << 20
)

// within derives the limits that are 0 from the memory limit, in bytes.
func (s Settings) within(memory int64) Settings {
	s.MaxInFlight = cmp.Or(s.MaxInFlight, int(max(min(memory/memoryOfCall, mostInFlight), 1)))
	s.MaxConnections = cmp.Or(s.MaxConnections, 4*s.MaxInFlight)
	s.MaxBodyBytes = cmp.Or(s.MaxBodyBytes, config.Bytes(min(memory/bodiesShare, mostBodyBytes)))
	s.MaxResponseBytes = cmp.Or(s.MaxResponseBytes, config.Bytes(min(memory/answersShare, mostResponses)))
	return s
}
