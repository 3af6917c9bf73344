package skill

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"openclaw/internal/json5"
)

const (
	maxFrontMatter = 64 << 10 // bytes
	maxNames       = 64       // programs of one skill
	maxName        = 64       // bytes of a program's name
)

// declared reads the program names out of a SKILL.md: metadata.openclaw.requires, bins and
// anyBins. The metadata is a JSON object, in one line or in several that are indented, or
// plain indented YAML. A text without them declares nothing. refused are names that are no
// program's. An error means that nothing of the text is to be used.
func declared(text []byte) (names, refused []string, err error) {
	lines, err := frontMatter(text)
	if err != nil || lines == nil {
		return nil, nil, err
	}
	rest, block, err := metadata(lines)
	if err != nil {
		return nil, nil, err
	}
	var all []string
	switch whole := strings.TrimSpace(rest + "\n" + strings.Join(block, "\n")); {
	case whole == "":
	case whole[0] == '{':
		all, err = fromJSON([]byte(whole))
	case rest == "" || rest[0] == '#':
		all, err = fromYAML(block)
	default:
		err = errors.New("metadata is no object")
	}
	if err != nil {
		return nil, nil, err
	}
	if len(all) > maxNames {
		return nil, nil, fmt.Errorf("it declares more than %d programs", maxNames)
	}
	for _, name := range all {
		if isProgramName(name) {
			names = append(names, name)
		} else {
			refused = append(refused, name)
		}
	}
	return names, refused, nil
}

// frontMatter gives the lines between the two --- lines; nil when the text has none.
func frontMatter(text []byte) ([]string, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	var lines []string
	size, first := 0, true
	for len(text) > 0 {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		text = rest
		size += len(line) + 1
		line = bytes.TrimSuffix(line, []byte("\r"))
		marker := string(bytes.TrimRight(line, " \t")) == "---"
		switch {
		case first && !marker:
			return nil, nil
		case first:
			first, lines = false, []string{}
			continue
		case marker:
			return lines, nil
		case size > maxFrontMatter:
			return nil, fmt.Errorf("the front matter is longer than %d bytes", maxFrontMatter)
		case !utf8.Valid(line) || bytes.ContainsAny(line, "\x00\r"):
			return nil, errors.New("the front matter is no plain text")
		}
		lines = append(lines, string(line))
	}
	if first {
		return nil, nil
	}
	return nil, errors.New("the front matter has no end")
}

// metadata finds the key: what stands behind it in its line, and the indented lines below.
func metadata(lines []string) (rest string, block []string, err error) {
	found, inside := false, false
	for _, line := range lines {
		switch {
		case line == "" || line[0] == '#':
		case line[0] == ' ' || line[0] == '\t':
			if inside {
				block = append(block, line)
			}
		default:
			value, ok := strings.CutPrefix(line, "metadata:")
			inside = ok
			if !ok {
				continue
			}
			if found {
				return "", nil, errors.New("metadata is given twice")
			}
			found, rest = true, strings.TrimSpace(value)
		}
	}
	return rest, block, nil
}

// fromJSON reads the metadata as JSON; commas behind the last element are usual in it.
func fromJSON(text []byte) ([]string, error) {
	root, err := json5.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	node := root
	for _, key := range []string{"openclaw", "requires"} {
		m := node.Get(key)
		if m == nil {
			return nil, nil
		}
		if node = m.Value; node.Kind != json5.Object {
			return nil, errors.New("metadata: " + key + " is no object")
		}
	}
	var names []string
	for _, key := range []string{"bins", "anyBins"} {
		m := node.Get(key)
		if m == nil {
			continue
		}
		if m.Value.Kind != json5.Array {
			return nil, errors.New("metadata: " + key + " is no array")
		}
		for _, e := range m.Value.Elements {
			if e.Kind != json5.String {
				return nil, errors.New("metadata: " + key + " holds something that is no string")
			}
			names = append(names, e.Text())
		}
	}
	return names, nil
}

// isProgramName is stricter than file systems are: nothing that could be an option, a path
// or a pattern.
func isProgramName(name string) bool {
	if name == "" || len(name) > maxName {
		return false
	}
	for i := range len(name) {
		c := name[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case i > 0 && strings.IndexByte("._+-", c) >= 0:
		default:
			return false
		}
	}
	return true
}
