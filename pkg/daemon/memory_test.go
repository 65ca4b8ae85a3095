package daemon

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"testing/fstest"

	"github.com/prism-results/prism/pkg/config"
)

func files(names ...string) fstest.MapFS {
	root := fstest.MapFS{}
	for i := 0; i < len(names); i += 2 {
		root[names[i]] = &fstest.MapFile{Data: []byte(names[i+1])}
	}
	return root
}

const (
	groups    = "proc/self/cgroup"
	inVersion = "sys/fs/cgroup/"
)

func TestTheMemoryOfAContainerIsFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		root fstest.MapFS
		want int64
	}{
		"no such thing":               {files(), math.MaxInt64},
		"version 2":                   {files(groups, "0::/\n", inVersion+"memory.max", "268435456\n"), 256 << 20},
		"version 2 without a limit":   {files(groups, "0::/\n", inVersion+"memory.max", "max\n"), math.MaxInt64},
		"version 2 below":             {files(groups, "0::/a/b\n", inVersion+"a/b/memory.max", "100\n", inVersion+"a/memory.max", "max\n"), 100},
		"version 2, limited above":    {files(groups, "0::/a/b\n", inVersion+"a/b/memory.max", "100\n", inVersion+"a/memory.max", "90\n"), 90},
		"version 2, a path of others": {files(groups, "0::/kubepods/pod/x\n", inVersion+"memory.max", "100\n"), 100},
		"version 2, outside its root": {files(groups, "0::/../../x\n", inVersion+"memory.max", "100\n"), 100},
		"version 1": {files(groups, "9:cpu:/\n4:memory:/docker/x\n0::/\n",
			inVersion+"memory/memory.limit_in_bytes", "536870912\n"), 512 << 20},
		"version 1 below": {files(groups, "4:memory:/docker/x\n",
			inVersion+"memory/docker/x/memory.limit_in_bytes", "100", inVersion+"memory/memory.limit_in_bytes", "9223372036854771712\n"), 100},
		"version 1 without a limit": {files(groups, "4:memory:/\n",
			inVersion+"memory/memory.limit_in_bytes", "9223372036854771712\n"), math.MaxInt64},
		"not a number":  {files(groups, "0::/\n", inVersion+"memory.max", "much\n"), math.MaxInt64},
		"zero":          {files(groups, "0::/\n", inVersion+"memory.max", "0\n"), math.MaxInt64},
		"other groups":  {files(groups, "hello\n7:cpu:/a\n\n", inVersion+"memory.max", "100\n"), math.MaxInt64},
		"both versions": {files(groups, "4:memory:/\n0::/\n", inVersion+"memory/memory.limit_in_bytes", "100", inVersion+"memory.max", "200"), 100},
	} {
		if got := containerMemory(c.root); got != c.want {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
}

// It changes the process' limit, so it has the process to itself.
func TestTheRuntimeKeepsWithinTheContainer(t *testing.T) { //nolint:paralleltest // see above
	before := debug.SetMemoryLimit(math.MaxInt64)
	defer debug.SetMemoryLimit(before)
	limited := files(groups, "0::/\n", inVersion+"memory.max", "10737418240\n")
	for _, c := range []struct {
		name   string
		root   fstest.MapFS
		env    string
		before int64
		want   int64
	}{
		{"a limit", limited, "", math.MaxInt64, 10 << 30 / 10 * 9},
		{"no limit", files(), "", math.MaxInt64, math.MaxInt64},
		{"GOMEMLIMIT and a limit", limited, "8GiB", 8 << 30, 8 << 30},
		{"GOMEMLIMIT alone", files(), "8GiB", 8 << 30, 8 << 30},
		{"GOMEMLIMIT that is off", limited, "off", math.MaxInt64, math.MaxInt64},
	} {
		debug.SetMemoryLimit(c.before)
		got := limitMemory(c.root, func(name string) string { return map[string]string{"GOMEMLIMIT": c.env}[name] })
		if now := debug.SetMemoryLimit(-1); got != c.want || now != c.want {
			t.Errorf("%s: got %d, and the runtime has %d, want %d", c.name, got, now, c.want)
		}
	}
}

// It measures the process' heap, so it has the process to itself.
func TestTheHeapMayGrowByTheAllowance(t *testing.T) { //nolint:paralleltest // see above
	goal := func() uint64 {
		runtime.GC()
		sample := []metrics.Sample{{Name: "/gc/heap/goal:bytes"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	before := goal()
	for _, c := range []struct {
		name     string
		limit    int64
		gogc     string
		min, max uint64
	}{
		{"no limit", math.MaxInt64, "", heapAllowance, 3 * heapAllowance},
		{"256 MiB", 256 << 20, "", 16 << 20, 2 * heapAllowance},
		{"GOGC is set", math.MaxInt64, "100", 0, heapAllowance / 2},
	} {
		block := allowance(c.limit, func(name string) string { return map[string]string{"GOGC": c.gogc}[name] })
		if grown := int64(goal()) - int64(before); grown < int64(c.min) || grown > int64(c.max) {
			t.Errorf("%s: the heap may grow by %d more bytes", c.name, grown)
		}
		runtime.KeepAlive(block)
	}
}

func TestLimitsThatAreNotSetFitTheMemory(t *testing.T) {
	t.Parallel()
	most := Settings{MaxInFlight: 4096, MaxConnections: 16384, MaxBodyBytes: 256 << 20, MaxResponseBytes: 64 << 20}
	for name, c := range map[string]struct {
		set    Settings
		memory int64
		want   Settings
	}{
		"no memory limit": {Settings{}, math.MaxInt64, most},
		"much memory":     {Settings{}, 64 << 30, most},
		"256 MiB": {Settings{}, 256 << 20, Settings{
			MaxInFlight: 512, MaxConnections: 2048, MaxBodyBytes: 16 << 20, MaxResponseBytes: 16 << 20,
		}},
		"1 GiB": {Settings{}, 1 << 30, Settings{
			MaxInFlight: 2048, MaxConnections: 8192, MaxBodyBytes: 64 << 20, MaxResponseBytes: 64 << 20,
		}},
		"hardly any": {Settings{}, 1 << 10, Settings{MaxInFlight: 1, MaxConnections: 4, MaxBodyBytes: 64, MaxResponseBytes: 64}},
		"the calls are set": {
			Settings{MaxInFlight: 5000},
			1 << 30,
			Settings{MaxInFlight: 5000, MaxConnections: 20000, MaxBodyBytes: 64 << 20, MaxResponseBytes: 64 << 20},
		},
		"all are set": {
			Settings{MaxInFlight: 7, MaxConnections: 5, MaxBodyBytes: 3, MaxResponseBytes: 4},
			1 << 30,
			Settings{MaxInFlight: 7, MaxConnections: 5, MaxBodyBytes: 3, MaxResponseBytes: 4},
		},
	} {
		if got := c.set.within(c.memory); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

// What was set or follows reaches the server, which is seen where operators see it.
func TestLimitsReachTheServer(t *testing.T) {
	t.Parallel()
	d, _ := newDaemon(t, unset)
	d.Settings = Settings{
		MaxInFlight: 7, MaxConnections: 5, MaxBodyBytes: config.Bytes(3 << 20), MaxResponseBytes: config.Bytes(2 << 20),
	}.within(math.MaxInt64)
	d.Server(nil)
	families, err := d.Metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{
		"prism_http_in_flight_limit": 7, "prism_http_connections_limit": 5, "prism_http_body_bytes_limit": 3 << 20,
		"prism_http_response_bytes_limit": 2 << 20, "prism_http_streams_limit": 3,
	}
	for _, f := range families {
		if limit, ok := want[f.GetName()]; ok {
			if got := f.GetMetric()[0].GetGauge().GetValue(); got != limit {
				t.Errorf("%s is %v, want %v", f.GetName(), got, limit)
			}
			delete(want, f.GetName())
		}
	}
	if len(want) > 0 {
		t.Errorf("not there: %v", want)
	}
}
