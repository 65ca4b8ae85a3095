// Package diff shows how one text becomes another, line by line.
package diff

import "strings"

// Op is an operation on a line.
type Op byte

// The operations, as they are printed in front of a line.
const (
	Keep   Op = ' '
	Delete Op = '-'
	Insert Op = '+'
)

// Line is a line of either text.
type Line struct {
	Op   Op
	Text string
}

// Lines is a shortest difference from a to b.
func Lines(a, b string) []Line {
	x, y := split(a), split(b)
	head := 0
	for head < len(x) && head < len(y) && x[head] == y[head] {
		head++
	}
	tail := 0
	for tail < len(x)-head && tail < len(y)-head && x[len(x)-1-tail] == y[len(y)-1-tail] {
		tail++
	}
	var lines []Line
	for _, text := range x[:head] {
		lines = append(lines, Line{Keep, text})
	}
	lines = append(lines, middle(x[head:len(x)-tail], y[head:len(y)-tail])...)
	for _, text := range x[len(x)-tail:] {
		lines = append(lines, Line{Keep, text})
	}
	return lines
}

func split(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// maxCells bounds the table of middle. Texts with larger differences are replaced as a whole.
const maxCells = 4 << 20

// middle finds a longest common subsequence: common[i][j] is its length for x[i:] and y[j:].
func middle(x, y []string) (lines []Line) {
	if len(x)*len(y) > maxCells {
		return append(all(Delete, x), all(Insert, y)...)
	}
	common := make([][]int32, len(x)+1)
	for i := range common {
		common[i] = make([]int32, len(y)+1)
	}
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			if x[i] == y[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(x) && j < len(y) {
		switch {
		case x[i] == y[j]:
			lines = append(lines, Line{Keep, x[i]})
			i, j = i+1, j+1
		case common[i+1][j] >= common[i][j+1]:
			lines = append(lines, Line{Delete, x[i]})
			i++
		default:
			lines = append(lines, Line{Insert, y[j]})
			j++
		}
	}
	return append(append(lines, all(Delete, x[i:])...), all(Insert, y[j:])...)
}

func all(op Op, texts []string) (lines []Line) {
	for _, text := range texts {
		lines = append(lines, Line{op, text})
	}
	return lines
}

// Hunks are the changed lines, with up to around unchanged lines before and after.
func Hunks(lines []Line, around int) (hunks [][]Line) {
	end := 0 // of the last hunk
	for i, line := range lines {
		if line.Op == Keep {
			continue
		}
		from, to := max(i-around, end), min(i+around+1, len(lines))
		if len(hunks) == 0 || from > end {
			hunks = append(hunks, lines[from:to])
		} else {
			last := &hunks[len(hunks)-1]
			*last = lines[end-len(*last) : max(end, to)]
		}
		end = max(end, to)
	}
	return hunks
}
