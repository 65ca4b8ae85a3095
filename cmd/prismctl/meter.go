package main

import (
	"fmt"
	"math"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

// meter shows how much of something is done: on a terminal a bar that is drawn over itself, ten times a second at most, else a
// line for each tenth.
type meter struct {
	p      *printer
	shown  time.Time
	tenths int
}

func (p *printer) newMeter() *meter { return &meter{p: p} }

// show shows the part that is done, 0 to 1, and a text.
func (m *meter) show(part float64, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !m.p.terminal {
		if tenths := int(part * 10); tenths > m.tenths {
			m.tenths = tenths
			_, _ = fmt.Fprintln(m.p, text)
		}
		return
	}
	if now := time.Now(); part >= 1 || now.Sub(m.shown) >= 100*time.Millisecond {
		m.shown = now
		m.p.status("%s", bar(part, text, m.p.width()))
	}
}

const maxBarWidth = 40

// bar is a bar with its text in one line of a terminal.
func bar(part float64, text string, width int) string {
	room := min(maxBarWidth, width-utf8.RuneCountInString(text)-2)
	if room < 5 {
		return string([]rune(text)[:min(utf8.RuneCountInString(text), width-1)])
	}
	full := min(room, max(0, int(part*float64(room))))
	return strings.Repeat("█", full) + strings.Repeat("░", room-full) + " " + text
}

// width is the number of characters in a line of the terminal.
func (p *printer) width() int {
	if file, ok := p.Writer.(*os.File); ok {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return 80
}

// room is the width that tables are cut to: the width of the terminal, or without a terminal 0, which cuts nothing.
func (p *printer) room() int {
	if !p.terminal {
		return 0
	}
	return p.width()
}

// duration is a number of seconds for people.
func duration(seconds float64) string {
	d := time.Duration(math.Ceil(seconds)) * time.Second
	hours, minutes := int(d.Hours()), int(d.Minutes())
	switch {
	case hours > 0:
		return fmt.Sprintf("%d h %d min", hours, minutes%60)
	case minutes > 9:
		return fmt.Sprintf("%d min", minutes)
	case minutes > 0:
		return fmt.Sprintf("%d min %d s", minutes, int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d s", int(d.Seconds()))
}

// size is a number of bytes for people.
func size(bytes int64) string {
	switch {
	case bytes < 1000:
		return fmt.Sprintf("%d B", bytes)
	case bytes < 999_950:
		return fmt.Sprintf("%.1f kB", float64(bytes)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
}
