package policy

import "openclaw/internal/shell"

// FileID tells one version of one file from every other. A start checks it again (P-60).
type FileID = shell.FileID

// Plan is what may run, as plain data (P-60).
type Plan = shell.Plan

// File is an executable file as a Machine sees it. Values are shared and never changed.
type File struct {
	Path string // absolute and clean, as it was found or asked for
	Real string // all symbolic links resolved
	// Direct is Path with the links of its directories resolved but not the last element's.
	Direct string
	ID     FileID // of what Real names
	// Loose says who else could change the file or replace it (P-32), "" = only its owner
	// and root.
	Loose string
}

// Content is what is in a file.
type Content struct {
	Real     string // all symbolic links resolved
	Writable bool   // this user can change the file or put another in its place
	SHA256   string // in hex, only when Writable
}

// Machine answers what the judge must know of the machine that would run the command. All
// errors are reasons for people: "not found in PATH", "is a directory".
type Machine interface {
	// InPath finds the program that a bare name means in the directories of path, as the
	// shell would (P-32). dir is where relative entries of path lead, "" = not known; an
	// executable in such an entry is an error, as is an entry that cannot be looked at
	// because dir is not known.
	InPath(name, path, dir string) (*File, error)
	// At looks at the program at an absolute path, which need not be clean: it is resolved
	// as the kernel does.
	At(path string) (*File, error)
	// Content looks at the content of a file that is run or interpreted. The path is
	// absolute and need not be clean.
	Content(path string) (*Content, error)
	// Changeable says who could change the program at an absolute path or lead the path
	// elsewhere: the user of the commands too, unless that is root, who can change
	// everything. "" = only root (P-36).
	Changeable(path string) string
	// Dir resolves all links of an absolute path that must be a directory.
	Dir(path string) (real string, err error)
}
