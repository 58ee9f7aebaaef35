package dashboardcmd

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/hyperpod-cli/hyperpod/internal/present/dashboardview"
)

// key takes a key.
func (m *model) key(k tea.KeyPressMsg) tea.Cmd {
	if k.String() == "ctrl+c" {
		return tea.Quit
	}
	if m.prompt != 0 {
		return m.edit(k)
	}
	m.message = ""
	if asked := m.asked; asked != nil {
		m.asked = nil
		if k.String() == "y" {
			return m.run(asked...)
		}
		m.message = "nothing was changed"
		return nil
	}
	if m.help || m.page != nil {
		m.help, m.page = false, nil
		return nil
	}
	switch text := k.String(); text {
	case "q":
		return tea.Quit
	case "?":
		m.help = true
	case "/", ":":
		m.prompt, m.typed = rune(text[0]), ""
	case "esc":
		m.setFilter("")
	case "1", "2", "3", "4":
		m.tab = dashboardview.Tab(text[0] - '1')
	case "tab", "right":
		m.tab = (m.tab + 1) % dashboardview.Tab(len(dashboardview.Names()))
	case "shift+tab", "left":
		m.tab = (m.tab + dashboardview.Tab(len(dashboardview.Names())) - 1) % dashboardview.Tab(len(dashboardview.Names()))
	case "o":
		m.sortBy(m.sorted[m.tab].column + 1)
	case "O":
		s := m.sorted[m.tab]
		s.descending = !s.descending
		m.sorted[m.tab] = s
		delete(m.views, m.tab)
	case "up", "k":
		m.cursor[m.tab]--
	case "down", "j":
		m.cursor[m.tab]++
	case "pgup", "ctrl+b":
		m.cursor[m.tab] -= m.rows()
	case "pgdown", "ctrl+f", "space":
		m.cursor[m.tab] += m.rows()
	case "home", "g":
		m.cursor[m.tab] = 0
	case "end", "G":
		m.cursor[m.tab] = 1 << 30
	default:
		return m.act(text)
	}
	return nil
}

// changes are the keys that change something.
var changes = map[string][]string{"s": {"patch-job", "suspend"}, "u": {"patch-job", "unsuspend"}, "c": {"cancel-job"}, "P": nil}

// shows are the keys that show something of a job.
var shows = map[string][]string{"enter": {"explain-job"}, "l": {"get-log"}, "p": {"list-pods"}, "d": {"get-job"}}

// act runs the command of a key on the chosen row, after a question if it changes something.
func (m *model) act(key string) tea.Cmd {
	command, change := changes[key]
	if !change {
		var ok bool
		if command, ok = shows[key]; !ok {
			return nil
		}
	}
	if m.snapshot == nil {
		return nil
	}
	if refs := m.view().Refs; m.tab == dashboardview.Nodes && (key == "enter" || key == "p") && len(refs) > 0 {
		m.message = "loading"
		return m.pods(refs[m.cursor[m.tab]].Name)
	}
	queue := m.tab == dashboardview.Teams && key == "enter"
	if m.tab != dashboardview.Tasks && !queue {
		m.message = "choose a job in Tasks (3)"
		return nil
	}
	refs := m.view().Refs
	if len(refs) == 0 {
		return nil
	}
	ref := refs[m.cursor[m.tab]]
	switch {
	case queue:
		return m.run("get-queue", ref.Name)
	case change && m.readOnly:
		m.message = "this dashboard is read-only"
		return nil
	case key == "P":
		m.prompt, m.typed = 'P', ""
		return nil
	}
	args := jobArgs(ref, command...)
	if change {
		m.asked = args
		return nil
	}
	return m.run(args...)
}

// jobArgs returns a command line about the job of a row. Its last words are the name, -n and the namespace.
func jobArgs(ref dashboardview.Ref, command ...string) []string {
	args := slices.Clone(command)
	if ref.Kind != "" {
		args = append(args, "--kind", ref.Kind)
	}
	return append(args, ref.Name, "-n", ref.Namespace)
}

// edit takes a key of a text that is typed.
func (m *model) edit(k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "esc":
		m.prompt = 0
		return nil
	case "backspace":
		if r := []rune(m.typed); len(r) > 0 {
			m.typed = string(r[:len(r)-1])
		} else {
			m.prompt = 0
		}
	case "enter":
		kind, text := m.prompt, strings.TrimSpace(m.typed)
		m.prompt = 0
		return m.typedText(kind, text)
	default:
		m.typed += k.Text
	}
	if m.prompt == '/' {
		m.setFilter(m.typed)
	}
	return nil
}

func (m *model) setFilter(text string) {
	m.filter = text
	clear(m.views)
}

// typedText takes a text that was typed.
func (m *model) typedText(kind rune, text string) tea.Cmd {
	switch {
	case kind == '/':
		m.setFilter(text)
	case kind == 'P' && text != "":
		if refs := m.view().Refs; len(refs) > 0 {
			ref := refs[m.cursor[m.tab]]
			return m.run(append(jobArgs(ref, "patch-job", "priority"), "--priority", text)...)
		}
	case kind == ':' && slices.Contains([]string{"q", "quit", "exit"}, text):
		return tea.Quit
	case kind == ':' && text == "help":
		m.help = true
	case kind == ':' && (text == "sort" || strings.HasPrefix(text, "sort ")):
		m.sortNamed(strings.TrimSpace(strings.TrimPrefix(text, "sort")))
	case kind == ':' && text != "":
		for i, name := range dashboardview.Names() {
			if strings.HasPrefix(strings.ToLower(name), strings.ToLower(text)) {
				m.tab = dashboardview.Tab(i)
				return nil
			}
		}
		m.message = fmt.Sprintf("%q is not a command; type a tab, sort COLUMN, help or quit", text)
	}
	return nil
}

// sortBy sorts the tab by a column, counted from 1; beyond the last one, in the order of the tab. Bars are skipped.
func (m *model) sortBy(column int) {
	if m.snapshot == nil {
		return
	}
	columns := m.view().Table.Columns
	for column <= len(columns) && columns[column-1].Title == "" {
		column++
	}
	if column > len(columns) {
		column = 0
	}
	m.sorted[m.tab] = sorting{column: column, descending: m.sorted[m.tab].descending}
	delete(m.views, m.tab)
}

// sortNamed sorts the tab by the column whose title begins with a text; "" is the order of the tab.
func (m *model) sortNamed(title string) {
	if title == "" {
		m.sortBy(1 << 20)
		return
	}
	if m.snapshot == nil {
		return
	}
	for i, c := range m.view().Table.Columns {
		if c.Title != "" && strings.HasPrefix(strings.ToLower(c.Title), strings.ToLower(title)) {
			m.sortBy(i + 1)
			return
		}
	}
	m.message = fmt.Sprintf("%q is not a column of this tab", title)
}
