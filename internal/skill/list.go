package skill

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"openclaw/internal/safefile"
)

const (
	fileName  = "SKILL.md"
	maxSkills = 512     // of all folders together
	maxFile   = 1 << 20 // bytes of a SKILL.md
)

// Options say where skills are. Others says who besides root and this user could change
// what a path leads to, or lead it elsewhere; "" = nobody.
type Options struct {
	Dirs       []string // absolute
	Workspaces []string // absolute, of all agents; they need not exist
	Others     func(path string) string
}

// Program is a name that a skill declares.
type Program struct {
	Name  string
	Skill string // path of the first SKILL.md that declares it
}

// List is what the skills declared when it was read. It is not changed afterwards and may
// be used by many at once.
type List struct {
	Programs []Program // sorted by name, each once
	Ignored  []string  // skills and names that do not count, with the reason
	stamps   []stamp
}

// stamp is one file or folder as it was before it was looked into; nil = not there.
type stamp struct {
	path string
	info fs.FileInfo
}

// Read reads the skills of all folders. What cannot be read or must not be trusted is left
// out and named in Ignored.
func Read(opt Options) *List {
	l := &List{}
	count := 0
	for _, dir := range opt.Dirs {
		l.stamp(dir)
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			l.ignore(dir, "it is not there")
			continue
		}
		entries, err := os.ReadDir(real)
		if err != nil {
			l.ignore(dir, "it cannot be listed")
			continue
		}
		for _, e := range entries {
			folder := filepath.Join(dir, e.Name())
			if !e.IsDir() && e.Type()&fs.ModeSymlink == 0 {
				continue
			}
			if count++; count > maxSkills {
				l.ignore(dir, fmt.Sprintf("there are more than %d skills; those behind %s are left out", maxSkills, e.Name()))
				break
			}
			l.folder(folder, &opt)
		}
	}
	slices.SortStableFunc(l.Programs, func(a, b Program) int { return strings.Compare(a.Name, b.Name) })
	l.Programs = slices.CompactFunc(l.Programs, func(a, b Program) bool { return a.Name == b.Name })
	return l
}

// folder reads one skill.
func (l *List) folder(folder string, opt *Options) {
	file := filepath.Join(folder, fileName)
	l.stamp(folder)
	l.stamp(file)
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return // a folder without one is no skill
	}
	if Inside(file, opt.Workspaces) {
		l.ignore(folder, "it is inside of a workspace")
		return
	}
	if why := opt.Others(file); why != "" {
		l.ignore(folder, why)
		return
	}
	text, err := safefile.Read(real, maxFile)
	if err != nil {
		l.ignore(folder, err.Error())
		return
	}
	names, refused, err := declared(text)
	if err != nil {
		l.ignore(folder, err.Error())
		return
	}
	for _, name := range refused {
		l.ignore(folder, fmt.Sprintf("%q is no program's name", name))
	}
	for _, name := range names {
		l.Programs = append(l.Programs, Program{Name: name, Skill: file})
	}
}

func (l *List) ignore(path, why string) { l.Ignored = append(l.Ignored, "skill "+path+": "+why) }

func (l *List) stamp(path string) {
	info, err := os.Stat(path)
	if err != nil {
		info = nil
	}
	l.stamps = append(l.stamps, stamp{path, info})
}

// Changed reports whether a folder or SKILL.md is not what it was, at the cost of one stat
// for each.
func (l *List) Changed() bool {
	for _, s := range l.stamps {
		info, err := os.Stat(s.path)
		switch {
		case err != nil && s.info == nil:
		case err != nil || s.info == nil || !same(s.info, info):
			return true
		}
	}
	return false
}

func same(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.Mode() == b.Mode() && a.ModTime().Equal(b.ModTime())
}
