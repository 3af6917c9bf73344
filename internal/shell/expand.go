package shell

import (
	"fmt"
	"io/fs"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// maxFields bounds the words that the patterns of one command may become; a system starts
// nothing with more.
const maxFields = 1 << 20

// ReadDir lists a directory for the patterns of Expand, as os.ReadDir does.
type ReadDir func(path string) ([]fs.DirEntry, error)

// Expand makes the words of a command when it runs (P-24): parameters by lookup, the home
// directory, and patterns in dir. A pattern that matches nothing stays as it is, as in
// bash. An error names the word.
func Expand(words []Word, dir string, lookup func(name string) string, readDir ReadDir) ([]string, error) {
	out := make([]string, 0, len(words))
	var cfg *expand.Config
	for i := range words {
		w := &words[i]
		if w.Lit {
			out = append(out, w.Text)
			continue
		}
		if cfg == nil {
			cfg = expansion(dir, lookup, readDir)
		}
		fields, err := expand.Fields(cfg, w.tree(lookup))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w.Text, err)
		}
		if out = append(out, fields...); len(out) > maxFields {
			return nil, fmt.Errorf("%s: it becomes too many words", w.Text)
		}
	}
	return out, nil
}

func expansion(dir string, lookup func(string) string, readDir ReadDir) *expand.Config {
	return &expand.Config{
		Env: expand.FuncEnviron(func(name string) string {
			switch name {
			case "PWD":
				return dir
			case "IFS": // bash does not take it from the environment
				return " \t\n"
			}
			return lookup(name)
		}),
		ReadDir2: readDir,
	}
}

// tree gives the word back to the library, with nothing in it that it could read in
// another way: what is text is quoted.
func (w *Word) tree(lookup func(string) string) *syntax.Word {
	out := &syntax.Word{}
	for _, p := range w.Parts {
		var part syntax.WordPart
		switch p.Kind {
		case PartGlob:
			part = &syntax.Lit{Value: onlyPatterns(p.Text)}
		case PartParam:
			part = &syntax.ParamExp{Short: true, Param: &syntax.Lit{Value: p.Text}}
		case PartQuote:
			part = &syntax.DblQuoted{Parts: []syntax.WordPart{&syntax.ParamExp{Short: true, Param: &syntax.Lit{Value: p.Text}}}}
		case PartTilde:
			part = &syntax.SglQuoted{Value: lookup("HOME")}
		default:
			part = &syntax.SglQuoted{Value: p.Text}
		}
		out.Parts = append(out.Parts, part)
	}
	return out
}

// onlyPatterns escapes what is not a pattern's own character.
func onlyPatterns(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r < 0x80 && !isNameByte(byte(r)) && strings.IndexByte("*?[]!^-.", byte(r)) < 0 {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
