package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

const barWidth = 40

// progress shows how far the run is: a bar that is drawn over itself on a terminal, else a line every tenth.
type progress struct {
	out      io.Writer
	terminal bool
	total    int
	now      func() time.Time
	began    time.Time
	tenths   int
}

func (p *progress) step(done int) {
	now := p.now()
	if p.began.IsZero() {
		p.began = now
	}
	if !p.terminal {
		if tenths := done * 10 / p.total; tenths > p.tenths {
			p.tenths = tenths
			_, _ = fmt.Fprintf(p.out, "%d of %d\n", done, p.total)
		}
		return
	}
	full := done * barWidth / p.total
	_, _ = fmt.Fprintf(p.out, "\r%s%s %d of %d, %.0f s ", strings.Repeat("█", full), strings.Repeat("░", barWidth-full),
		done, p.total, now.Sub(p.began).Seconds())
}

// end leaves the bar's line.
func (p *progress) end() {
	if p.terminal {
		_, _ = fmt.Fprintln(p.out)
	}
}
