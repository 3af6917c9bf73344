package shell

import "mvdan.cc/sh/v3/syntax"

// redirs reads the redirections that may be permitted (P-22); any other is a remark, and
// what is hidden inside of it is looked at for P-40.
func (r *reader) redirs(list []*syntax.Redirect) []Redir {
	var out []Redir
	for _, rd := range list {
		if one, ok := r.redir(rd); ok {
			out = append(out, one)
			continue
		}
		r.remark(r.span(rd), redirName(rd), "reads or writes a file or descriptor beside the command", "P-22")
		r.hide(rd)
	}
	return out
}

func (r *reader) redir(rd *syntax.Redirect) (Redir, bool) {
	if rd.Word == nil || rd.Hdoc != nil || len(rd.Word.Parts) != 1 {
		return Redir{}, false
	}
	lit, ok := rd.Word.Parts[0].(*syntax.Lit)
	if !ok {
		return Redir{}, false
	}
	out := Redir{Fd: -1, Span: r.top(r.span(rd))}
	if rd.N != nil {
		if out.Fd = fdNumber(rd.N.Value); out.Fd < 0 {
			return Redir{}, false
		}
	}
	switch {
	case rd.Op == syntax.RdrOut && lit.Value == "/dev/null" && (out.Fd == -1 || out.Fd == 1 || out.Fd == 2):
		out.Null = true
		if out.Fd == -1 {
			out.Fd = 1
		}
	case rd.Op == syntax.RdrIn && lit.Value == "/dev/null" && (out.Fd == -1 || out.Fd == 0):
		out.Null, out.Fd = true, 0
	case rd.Op == syntax.DplOut && out.Fd == 2 && lit.Value == "1":
		out.Dup = 1
	case rd.Op == syntax.DplOut && (out.Fd == 1 || out.Fd == -1) && lit.Value == "2":
		out.Fd, out.Dup = 1, 2
	default:
		return Redir{}, false
	}
	return out, true
}

func fdNumber(s string) int {
	if len(s) == 1 && s[0] >= '0' && s[0] <= '2' {
		return int(s[0] - '0')
	}
	return -1
}

func redirName(rd *syntax.Redirect) string {
	switch rd.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		return "here-document"
	case syntax.WordHdoc:
		return "here-string"
	}
	return "redirection"
}
