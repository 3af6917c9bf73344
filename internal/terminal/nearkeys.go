package terminal

import (
	"fmt"
	"slices"
	"strings"
)

const (
	maxNear     = 5
	maxNearName = 24 // longer names are text, not a slip of the finger
)

// UnknownKeyError says that no key has this name. Nothing was encoded.
type UnknownKeyError struct {
	Name string   // as it was given
	Near []string // names that exist and look alike, best first; may be empty
}

// Error names the key and what may have been meant.
func (e *UnknownKeyError) Error() string {
	if len(e.Near) == 0 {
		return fmt.Sprintf("unknown key %q: use a single character or a name such as Enter, Tab, Escape, Up, F1, C-c or M-x, and literal for text", clip(e.Name))
	}
	return fmt.Sprintf("unknown key %q: near names are %s", clip(e.Name), strings.Join(e.Near, ", "))
}

// nearKeys returns names like the given one that Keys accepts.
func nearKeys(name string) []string {
	if name == "" || len(name) > maxNearName {
		return nil
	}
	mods, base := splitWords(name)
	type scored struct {
		name  string
		score int
	}
	var found []scored
	add := func(candidate string, score int) {
		full := mods.prefix() + candidate
		if _, ok := encodeName(full, Modes{}); !ok {
			full = candidate // the key exists, with these modifiers it does not
			score++
		}
		if _, ok := encodeName(full, Modes{}); ok && full != name {
			found = append(found, scored{full, score})
		}
	}
	if len([]rune(base)) == 1 {
		add(base, 0)
	}
	if arrow := "arrow"; len(base) > len(arrow) && strings.EqualFold(base[:len(arrow)], arrow) {
		base = base[len(arrow):]
	}
	if tmux, ok := keyAliases[strings.ToLower(base)]; ok {
		add(tmux, 0)
	}
	for _, k := range keyTable {
		if d := distance(strings.ToLower(base), strings.ToLower(k.name)); d <= 2 && d < len(k.name) && d < len(base) {
			add(k.name, d)
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int { return a.score - b.score })
	var near []string
	for _, f := range found {
		if len(near) < maxNear && !slices.Contains(near, f.name) {
			near = append(near, f.name)
		}
	}
	return near
}

// splitWords is splitModifiers for people who write Ctrl+C or alt-x.
func splitWords(name string) (modifier, string) {
	mods, base := splitModifiers(name)
	for {
		i := strings.IndexAny(base, "+-")
		if i <= 0 || i == len(base)-1 {
			return mods, base
		}
		var one modifier
		switch strings.ToLower(base[:i]) {
		case "c", "ctrl", "control":
			one = ctrl
		case "m", "meta", "alt", "opt", "option":
			one = meta
		case "s", "shift":
			one = shift
		default:
			return mods, base
		}
		mods |= one
		base = base[i+1:]
	}
}

// prefix spells the modifiers in tmux's order.
func (m modifier) prefix() string {
	var s string
	for _, one := range []struct {
		bit  modifier
		text string
	}{{ctrl, "C-"}, {meta, "M-"}, {shift, "S-"}} {
		if m&one.bit != 0 {
			s += one.text
		}
	}
	return s
}

// distance is the number of inserted, deleted or changed bytes between a and b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
