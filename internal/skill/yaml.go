package skill

import (
	"errors"
	"fmt"
	"strings"
)

// level is a key, or a list's item ("-"), that encloses the line being read.
type level struct {
	indent int
	key    string
	open   bool // nothing stands behind the colon, so that lines below belong to it
}

// yamlReader reads the few forms of YAML in which metadata is written: keys, one a line,
// with lists of plain or quoted words. Everything else is an error.
type yamlReader struct {
	stack []level
	seen  map[string]bool // whole paths of keys
	names []string
}

// fromYAML reads the metadata as indented lines.
func fromYAML(lines []string) ([]string, error) {
	r := yamlReader{seen: map[string]bool{}}
	for _, line := range lines {
		body := strings.TrimLeft(line, " ")
		text := strings.TrimRight(body, " \t")
		if text == "" || text[0] == '#' {
			continue
		}
		if err := r.line(len(line)-len(body), text); err != nil {
			return nil, fmt.Errorf("metadata: %w", err)
		}
	}
	return r.names, nil
}

var errNotRead = errors.New("it is not written in a form that is read here; JSON is")

func (r *yamlReader) line(indent int, text string) error {
	if text == "-" || strings.HasPrefix(text, "- ") {
		return r.item(indent, strings.TrimSpace(text[1:]))
	}
	key, value, ok := strings.Cut(text, ":")
	if !ok || !isKey(key) || value != "" && value[0] != ' ' {
		return errNotRead
	}
	value = uncomment(strings.TrimSpace(value))
	for len(r.stack) > 0 && r.top().indent >= indent {
		r.stack = r.stack[:len(r.stack)-1]
	}
	if len(r.stack) > 0 && !r.top().open {
		return errNotRead
	}
	r.stack = append(r.stack, level{indent, key, value == ""})
	path := r.path()
	if r.seen[path] && !strings.Contains(path, "-/") {
		return errors.New(key + " is given twice")
	}
	r.seen[path] = true
	switch {
	case value != "" && strings.IndexByte("|>&*!", value[0]) >= 0:
		return errNotRead
	case value == "" || !wanted(path):
		return nil
	case value[0] != '[' || value[len(value)-1] != ']':
		return errors.New(key + " is no list")
	}
	list := strings.TrimSpace(value[1 : len(value)-1])
	list = strings.TrimSpace(strings.TrimSuffix(list, ","))
	if list == "" {
		return nil
	}
	for _, word := range strings.Split(list, ",") {
		if err := r.word(strings.TrimSpace(word)); err != nil {
			return err
		}
	}
	return nil
}

// item reads a line of a list. It may stand as far left as its key does.
func (r *yamlReader) item(indent int, value string) error {
	for len(r.stack) > 0 && (r.top().indent > indent || r.top().indent == indent && r.top().key == "-") {
		r.stack = r.stack[:len(r.stack)-1]
	}
	if len(r.stack) == 0 || !r.top().open {
		return errNotRead
	}
	if wanted(r.path()) {
		return r.word(uncomment(value))
	}
	r.stack = append(r.stack, level{indent, "-", true})
	return nil
}

// word takes one element of a list that is looked for.
func (r *yamlReader) word(word string) error {
	if len(word) >= 2 && (word[0] == '"' || word[0] == '\'') && word[len(word)-1] == word[0] {
		word = word[1 : len(word)-1]
		if strings.ContainsAny(word, `\"'`) {
			return errNotRead
		}
	} else if word == "" || strings.ContainsAny(word, " \t:#[]{}\"'&*!|>%@`") {
		return errNotRead
	}
	r.names = append(r.names, word)
	return nil
}

func (r *yamlReader) top() *level { return &r.stack[len(r.stack)-1] }

func (r *yamlReader) path() string {
	var b strings.Builder
	for _, l := range r.stack {
		b.WriteString(l.key + "/")
	}
	return b.String()
}

func wanted(path string) bool {
	return path == "openclaw/requires/bins/" || path == "openclaw/requires/anyBins/"
}

// isKey takes words that mean the same with and without quotes.
func isKey(key string) bool {
	if key == "" || key[0] == '-' {
		return false
	}
	for i := range len(key) {
		c := key[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' && c != '.' {
			return false
		}
	}
	return true
}

// uncomment takes a comment off the end of a value. One within quotes is cut too, which
// leaves something that is not read.
func uncomment(value string) string {
	if value != "" && value[0] == '#' {
		return ""
	}
	if i := strings.Index(value, " #"); i >= 0 {
		return strings.TrimSpace(value[:i])
	}
	return value
}
