package inbox

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"openclaw/internal/protocol"
	"openclaw/internal/redact"
)

// mode is what the keys mean.
type mode int

const (
	modeList   mode = iota
	modeAlways      // "always" has to be confirmed: never one key alone
	modeWhole       // the whole command, with scrolling
)

// model is the state of the screen.
type model struct {
	ctx   context.Context
	desk  Desk
	st    style
	now   func() time.Time
	only  string // id of the one request that is shown; "" = all
	title string

	items  []protocol.ExecApproval
	at     int
	mode   mode
	scroll int
	busy   string // id of the request whose answer is on its way
	note   string // what happened last
	width  int
	height int
	lost   error

	answered string    // the request answered last, here
	slid     time.Time // when another request came under the cursor by itself
	keep     string    // id to select again once it is told of anew
}

// settle is how long a key answers nothing after that: it was meant for the one before.
const settle = time.Second

type (
	eventMsg  Event
	tickMsg   time.Time
	answerMsg struct {
		id, decision string
		err          error
	}
	lostMsg struct {
		err   error
		again bool // it is tried again
	}
)

// Init starts the clock.
func (m *model) Init() tea.Cmd { return tick() }

func tick() tea.Cmd { return tea.Tick(time.Second, func(t time.Time) tea.Msg { return tickMsg(t) }) }

// Update takes one thing that has happened.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tickMsg:
		return m, tick()
	case eventMsg:
		return m, m.event(Event(msg))
	case lostMsg:
		if !msg.again {
			m.lost = msg.err
			return m, tea.Quit
		}
		m.forget("no connection, trying again: " + redact.Escape(msg.err.Error()))
	case answerMsg:
		m.busy = ""
		if msg.err != nil {
			m.note = msg.err.Error()
		}
	case tea.KeyPressMsg:
		return m, m.key(msg.String())
	}
	return m, nil
}

func (m *model) event(e Event) tea.Cmd {
	switch {
	case e.Requested == nil && e.Resolved == nil: // what is pending is told from the beginning
		m.forget("")
	case e.Requested != nil && (m.only == "" || e.Requested.ID == m.only):
		if !slices.ContainsFunc(m.items, func(a protocol.ExecApproval) bool { return a.ID == e.Requested.ID }) {
			m.items = append(m.items, *e.Requested)
			switch {
			case e.Requested.ID == m.keep:
				m.at, m.keep = len(m.items)-1, ""
			case m.keep != "" && len(m.items) == 1:
				m.slid = m.now()
			}
		}
	case e.Resolved != nil && (m.only == "" || e.Resolved.ID == m.only):
		m.note = outcome(e.Resolved)
		i := slices.IndexFunc(m.items, func(a protocol.ExecApproval) bool { return a.ID == e.Resolved.ID })
		if i >= 0 {
			m.items = slices.Delete(m.items, i, i+1)
			if i < m.at || m.at >= len(m.items) {
				m.at = max(m.at-1, 0)
			}
			if i == m.at {
				m.mode = modeList
				if e.Resolved.ID != m.answered {
					m.slid = m.now()
				}
			}
		}
		if m.only != "" {
			return tea.Quit
		}
	}
	return nil
}

// forget takes all requests off the list, as far as they are not told of again; then the
// same one is selected.
func (m *model) forget(note string) {
	if m.only != "" {
		return
	}
	if a := m.current(); a != nil {
		m.keep = a.ID
	}
	m.items, m.at, m.mode, m.busy, m.note = nil, 0, modeList, "", note
}

// outcome says how a request ended.
func outcome(r *protocol.ExecApprovalResolved) string {
	what := r.Decision
	switch r.Status {
	case "expired":
		what = "nobody answered in time"
	case "cancelled":
		what = "cancelled"
	}
	by := ""
	if r.ResolvedBy != nil {
		by = " by " + redact.Escape(*r.ResolvedBy)
	}
	return fmt.Sprintf("%s%s: %s", what, by, clipped(redact.Escape(r.Request.Command), 50))
}

func clipped(s string, width int) string { return ansi.Truncate(s, width, "…") }

// key acts on one key. Actions are on the request that is shown.
func (m *model) key(k string) tea.Cmd {
	if k == "ctrl+c" {
		return tea.Quit
	}
	if m.mode == modeAlways {
		m.mode = modeList
		if k == "y" {
			return m.answer("allow-always")
		}
		m.note = "not stored"
		return nil
	}
	switch k {
	case "q", "esc":
		if m.mode == modeWhole {
			m.mode = modeList
			return nil
		}
		return tea.Quit
	case "j", "down":
		m.move(1)
	case "k", "up":
		m.move(-1)
	case "v":
		m.scroll = 0
		if m.mode == modeWhole {
			m.mode = modeList
		} else if len(m.items) > 0 {
			m.mode = modeWhole
		}
	case "a":
		return m.answer("allow-once")
	case "d":
		return m.answer("deny")
	case "A":
		if a := m.current(); a != nil && slices.Contains(a.Request.AllowedDecisions, "allow-always") {
			m.mode = modeAlways
		} else if a != nil {
			m.note = "always is not on offer here"
		}
	}
	return nil
}

func (m *model) move(by int) {
	if m.mode == modeWhole {
		m.scroll = max(m.scroll+by, 0)
		return
	}
	m.at = min(max(m.at+by, 0), max(len(m.items)-1, 0))
}

func (m *model) current() *protocol.ExecApproval {
	if m.at >= len(m.items) {
		return nil
	}
	return &m.items[m.at]
}

// answer sends a decision; the request stays until the desk tells of its end.
func (m *model) answer(decision string) tea.Cmd {
	a := m.current()
	if a == nil || m.busy != "" {
		return nil
	}
	if m.now().Sub(m.slid) < settle {
		m.note = "the list has just changed; look, and press again"
		return nil
	}
	id := a.ID
	m.busy, m.note, m.answered = id, "", id
	return func() tea.Msg {
		return answerMsg{id, decision, m.desk.Resolve(m.ctx, id, decision)}
	}
}

// View draws the screen.
func (m *model) View() tea.View {
	v := tea.NewView(strings.Join(m.lines(), "\n"))
	v.AltScreen = m.only == ""
	return v
}

func (m *model) lines() []string {
	width, height := m.width, m.height
	if width <= 0 {
		width, height = 80, 24
	}
	if m.only != "" {
		return m.one(width, height)
	}
	out := []string{m.st.bold(clipped(fmt.Sprintf("%s: %d pending", m.title, len(m.items)), width)), ""}
	a := m.current()
	if a == nil {
		out = append(out, "nothing waits for you. Requests appear here as agents ask.", "")
		return append(out, m.footer(width)...)
	}
	if m.mode == modeWhole {
		return append(out, m.whole(a, width, height-len(out))...)
	}
	out = append(out, m.list(width, 6)...)
	out = append(out, "")
	foot := m.footer(width)
	room := height - len(out) - len(foot)
	body := fit(a, m.st, width, room, m.now())
	out = append(out, body...)
	for range max(height-len(out)-len(foot), 0) {
		out = append(out, "")
	}
	return append(out, foot...)
}

// fit folds the command until the card has room.
func fit(a *protocol.ExecApproval, st style, width, room int, now time.Time) []string {
	for fold := max(room, 4); fold > 1; fold-- {
		if c := card(a, st, width, fold, now); len(c) <= room {
			return c
		}
	}
	c := card(a, st, width, 1, now)
	if len(c) > room && room > 1 {
		c = append(c[:room-1], st.warn("  … more: v shows all"))
	}
	return c
}

// list is the pending requests around the one that is shown.
func (m *model) list(width, rows int) []string {
	from := min(max(m.at-rows/2, 0), max(len(m.items)-rows, 0))
	var out []string
	for i := from; i < min(from+rows, len(m.items)); i++ {
		a := &m.items[i]
		mark := "  "
		if i == m.at {
			mark = "> "
		}
		what := a.Request.Command
		if a.Request.Title != "" {
			what = a.Request.Title
		}
		line := fmt.Sprintf("%s%-8s  %-10s %8s  %s", mark, a.Slug, clipped(redact.Escape(text(a.Request.AgentID, "-")), 10),
			short(max(time.UnixMilli(a.ExpiresAtMs).Sub(m.now()), 0)), redact.Escape(what))
		line = clipped(line, width)
		if i == m.at {
			line = m.st.bold(line)
		}
		out = append(out, line)
	}
	return out
}

// whole is all of a request, with scrolling.
func (m *model) whole(a *protocol.ExecApproval, width, room int) []string {
	all := card(a, m.st, width, 0, m.now())
	body := max(room-2, 1)
	m.scroll = min(m.scroll, max(len(all)-body, 0))
	out := append([]string{}, all[m.scroll:min(m.scroll+body, len(all))]...)
	for len(out) < body {
		out = append(out, "")
	}
	end := min(m.scroll+body, len(all))
	return append(out, "", m.st.muted(fmt.Sprintf("lines %d to %d of %d · j/k scroll · a allow once · d deny · v back", m.scroll+1, end, len(all))))
}

// one is the inline prompt.
func (m *model) one(width, height int) []string {
	a := m.current()
	if a == nil {
		return []string{m.note}
	}
	fold := max(height-14, 4)
	if m.mode == modeWhole {
		fold = 0
	}
	return append(card(a, m.st, width, fold, m.now()), m.footer(width)...)
}

func (m *model) footer(width int) []string {
	out := []string{""}
	if m.note != "" {
		out = append(out, clipped(m.note, width))
	}
	a := m.current()
	switch {
	case a == nil:
		out = append(out, m.st.muted("q quit"))
	case m.mode == modeAlways:
		for _, l := range wrapped("", "always: "+always(a.Request.Judge)+". Store it and run? y / n", width) {
			out = append(out, m.st.danger(l))
		}
	case m.busy != "":
		out = append(out, m.st.muted("deciding…"))
	default:
		keys := []string{"a allow once"}
		if slices.Contains(a.Request.AllowedDecisions, "allow-always") {
			keys = append(keys, "A always…")
		}
		keys = append(keys, "d deny", "v whole")
		if m.only == "" {
			keys = append(keys, "j/k other", "q quit")
		}
		out = append(out, m.st.bold(clipped(strings.Join(keys, " · "), width)))
	}
	return out
}
