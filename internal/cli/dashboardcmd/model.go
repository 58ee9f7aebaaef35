package dashboardcmd

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/clipperhouse/displaywidth"

	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/dashboardview"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// The least size of the screen, and how often it looks for changes and lets ages advance.
const (
	leastWidth  = 40
	leastHeight = 8
	pace        = 100 * time.Millisecond
	idle        = 10 * time.Second
	restOf      = 4 // the screen stays unchanged for this many times the time that drawing it took
)

// screenWidth measures lines that may have colors.
var screenWidth = displaywidth.Options{ControlSequences: true}

// tick is the message to look for changes.
type tick time.Time

// loaded is the message with the pods of a node.
type loaded struct {
	view dashboardview.View
	err  error
}

// sorting is how the rows of a tab are sorted: by a column, counted from 1; 0 is the order of the tab.
type sorting struct {
	column     int
	descending bool
}

// returned is the message after a command has run.
type returned struct{ err error }

// source returns what is known now; changed reports a difference from the last call.
type source interface {
	take(now time.Time) (s *dashboardview.Snapshot, changed bool)
}

// model is the state of the screen.
type model struct {
	source   source
	io       output.IO // what the terminal can do
	now      func() time.Time
	user     string
	readOnly bool
	// mouse takes clicks and the wheel from the terminal.
	mouse bool
	// run returns the command that runs a command line of this program on the terminal.
	run func(args ...string) tea.Cmd

	snapshot *dashboardview.Snapshot
	drawn    time.Time
	// news reports a change that is not drawn yet; cost is how long the last change took to draw.
	news bool
	cost time.Duration
	// text is the last screen; same says that it would be the same now.
	text  string
	same  bool
	tab   dashboardview.Tab
	views map[dashboardview.Tab]dashboardview.View // filtered
	// longest has the longest text of each column of a view.
	longest map[dashboardview.Tab][]output.Cell
	cursor  map[dashboardview.Tab]int
	filter  string
	sorted  map[dashboardview.Tab]sorting
	// pods loads the pods of a node; page is what is shown of them until a key is pressed, nil is nothing.
	pods func(node string) tea.Cmd
	page *dashboardview.View
	// chosen is the row of the cursor; the cursor follows it when rows move.
	chosen map[dashboardview.Tab]dashboardview.Ref
	// asked is the command line that a y runs; nil is none.
	asked []string
	// prompt is the kind of text that is typed: '/', ':' or 'P'; 0 is none.
	prompt  rune
	typed   string
	help    bool
	message string
	failure error
}

func newModel() *model {
	return &model{views: map[dashboardview.Tab]dashboardview.View{}, longest: map[dashboardview.Tab][]output.Cell{}, cursor: map[dashboardview.Tab]int{}, chosen: map[dashboardview.Tab]dashboardview.Ref{}, sorted: map[dashboardview.Tab]sorting{}}
}

// Init starts looking for changes.
func (m *model) Init() tea.Cmd { return next() }

func next() tea.Cmd { return tea.Tick(pace, func(t time.Time) tea.Msg { return tick(t) }) }

// Update takes a message.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	_, ticked := msg.(tick)
	m.same = m.same && ticked
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.io.Width, m.io.Height = msg.Width, msg.Height
	case tick:
		return m, m.look()
	case returned:
		if msg.err != nil {
			m.message = "the command failed"
		}
	case loaded:
		m.message, m.page = "", &msg.view
		if msg.err != nil {
			m.message, m.page = output.Safe("cannot list the pods: "+msg.err.Error()), nil
		}
	case tea.KeyPressMsg:
		cmd := m.key(msg)
		m.choose()
		return m, cmd
	case tea.MouseClickMsg:
		if msg.Button == tea.MouseLeft {
			m.click(msg.X, msg.Y)
			m.choose()
		}
	case tea.MouseWheelMsg:
		m.wheel(msg.Button)
		m.choose()
	}
	return m, nil
}

// choose remembers the row of the cursor.
func (m *model) choose() {
	if m.snapshot == nil {
		return
	}
	if refs := m.view().Refs; len(refs) > 0 {
		m.chosen[m.tab] = refs[m.cursor[m.tab]]
	}
}

// look takes what has changed.
func (m *model) look() tea.Cmd {
	now := m.now()
	s, changed := m.source.take(now)
	if s == nil {
		return next()
	}
	if s.Failure != nil {
		m.failure = s.Failure
		return tea.Quit
	}
	m.news = m.news || changed
	// A large cluster that always changes must leave time for keys.
	if m.news && now.Sub(m.drawn) >= restOf*m.cost || now.Sub(m.drawn) >= idle {
		m.snapshot, m.drawn, m.same, m.news, m.cost = s, now, false, false, 0
		clear(m.views)
	} else if m.snapshot != nil {
		m.same = m.same && m.snapshot.Age(now) == s.Age(now) && s.Age(now) == ""
		m.snapshot.LostSince, m.snapshot.LostBy, m.snapshot.Stale = s.LostSince, s.LostBy, s.Stale
	}
	return next()
}

// view returns the filtered view of the tab.
func (m *model) view() dashboardview.View {
	v, ok := m.views[m.tab]
	if !ok {
		began := m.now()
		v = dashboardview.Of(m.snapshot, m.tab, m.user).Filter(m.filter)
		if s := m.sorted[m.tab]; s.column > 0 {
			v = v.Sort(s.column-1, s.descending)
		}
		for i, shares := range v.Sparks {
			v.Table.Rows[i] = slices.Clone(v.Table.Rows[i])
			v.Table.Rows[i][len(v.Table.Rows[i])-1].Text = dashboardview.Spark(shares, m.io.UTF8)
		}
		m.views[m.tab], m.longest[m.tab] = v, longest(v.Table)
		m.cost = m.now().Sub(began)
		if at := slices.Index(v.Refs, m.chosen[m.tab]); at >= 0 {
			m.cursor[m.tab] = at
		}
	}
	m.cursor[m.tab] = min(max(0, m.cursor[m.tab]), max(0, len(v.Refs)-1))
	return v
}

// rows returns how many rows of a table the screen has.
func (m *model) rows() int { return max(1, m.io.Height-5) }

// View draws the screen.
func (m *model) View() tea.View {
	if !m.same { // a long table is laid out only when it has changed
		m.text, m.same = m.screen(), true
	}
	v := tea.NewView(m.text)
	v.AltScreen, v.WindowTitle = true, "hyperpod dashboard"
	if m.mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	return v
}

func (m *model) screen() string {
	switch {
	case m.io.Width == 0:
		return ""
	case m.io.Width < leastWidth || m.io.Height < leastHeight:
		return cut(fmt.Sprintf("needs %dx%d", leastWidth, leastHeight), m.io.Width)
	case m.help:
		return m.helpText()
	}
	var b strings.Builder
	b.WriteString(m.tabs() + "\n")
	if m.snapshot == nil {
		b.WriteString("\nreading the cluster\n")
		return b.String()
	}
	v := m.view()
	if m.page != nil {
		v = *m.page
	}
	b.WriteString(cut(v.Summary, m.io.Width) + "\n")
	b.WriteString(m.io.Paint(output.Dim, cut(m.snapshot.Note(), m.io.Width)) + "\n")
	all := len(v.Table.Rows)
	at, room := m.cursor[m.tab], m.rows()
	if m.page != nil {
		at = 0
	}
	first := m.first(at, all)
	header, rows := m.table(v, first, min(all, first+room))
	b.WriteString("  " + header + "\n")
	for i, row := range rows {
		mark := "  "
		if first+i == at {
			mark = "> "
			row = m.io.Paint(output.Strong, row)
		}
		b.WriteString(mark + row + "\n")
	}
	if len(rows) == 0 {
		b.WriteString("  " + m.empty(v) + "\n")
	}
	b.WriteString(strings.Repeat("\n", room-max(1, len(rows))))
	b.WriteString(m.foot(all))
	return b.String()
}

// tableLines returns the lines of a table on the screen.
func (m *model) tableLines(t output.Table) []string {
	var b bytes.Buffer
	io := m.io
	io.Out, io.OutTTY, io.Width, io.Height = &b, true, m.io.Width-2, 0
	if err := io.PrintTable(t); err != nil {
		return []string{output.Safe(err.Error())}
	}
	return strings.Split(b.String(), "\n")
}

// longest returns the longest text of each column.
func longest(t output.Table) []output.Cell {
	out, widths := make([]output.Cell, len(t.Columns)), make([]int, len(t.Columns))
	for _, row := range t.Rows {
		for i, c := range row {
			if n := displaywidth.String(output.Safe(c.Text)); n > widths[i] {
				widths[i], out[i].Text = n, c.Text
			}
		}
	}
	return out
}

func (m *model) empty(v dashboardview.View) string {
	if m.filter != "" {
		return "no row has " + output.Safe(m.filter)
	}
	return v.Table.Empty
}

// tabs returns the line of titles.
func (m *model) tabs() string {
	parts := m.titles()
	for i, text := range parts {
		if dashboardview.Tab(i) == m.tab {
			parts[i] = m.io.Paint(output.Strong, "["+text+"]")
		} else {
			parts[i] = " " + text + " "
		}
	}
	return strings.Join(parts, " ")
}

// titles are the titles of the tabs, as long as there is room for.
func (m *model) titles() (out []string) {
	for i, name := range dashboardview.Names() {
		text := fmt.Sprintf("%d %s", i+1, name)
		if m.io.Width < 60 {
			text = name[:4]
		}
		out = append(out, text)
	}
	return out
}

// first is the first row on the screen, where the cursor is at a row of all.
func (m *model) first(at, all int) int { return max(0, min(at-m.rows()/2, all-m.rows())) }

// table renders some rows of a table: the titles, and a line for each row. The widths of the columns are those of the whole
// table, so that they stay while it scrolls.
func (m *model) table(v dashboardview.View, first, end int) (header string, rows []string) {
	if len(v.Table.Rows) == 0 {
		return "", nil
	}
	if bars := slices.ContainsFunc(v.Table.Columns, func(c output.Column) bool { return c.Bar }); !bars && m.page == nil {
		v.Table.Rows = append(slices.Clone(v.Table.Rows[first:end]), m.longest[m.tab])
		first, end = 0, len(v.Table.Rows)-1
	}
	lines := m.tableLines(v.Table)
	if screenWidth.String(lines[0]) > m.io.Width-2 && v.Table.Columns[0].Keep { // a name that is cut is better than lines that are
		v.Table.Columns = slices.Clone(v.Table.Columns)
		v.Table.Columns[0].Keep = false
		lines = m.tableLines(v.Table)
	}
	return lines[0], lines[min(len(lines), 1+first):min(len(lines), 1+end)]
}

// foot returns the last line: what is typed, a message, or the state of the connection and the keys.
func (m *model) foot(rows int) string {
	old, text := m.snapshot.Age(m.now()), ""
	switch {
	case m.asked != nil:
		verb := "Cancel"
		if m.asked[0] == "patch-job" {
			verb = map[string]string{"suspend": "Suspend", "unsuspend": "Resume"}[m.asked[1]]
		}
		if at := slices.Index(m.asked, "--kind"); at > 0 {
			verb += " " + output.Safe(m.asked[at+1])
		}
		return m.io.Paint(output.Warn, cut(fmt.Sprintf("%s %s/%s? [y/N]", verb, output.Safe(m.asked[len(m.asked)-1]), output.Safe(m.asked[len(m.asked)-3])), m.io.Width))
	case m.prompt == 'P':
		text = "priority class: " + output.Safe(m.typed) + "_"
	case m.prompt != 0:
		text = string(m.prompt) + output.Safe(m.typed) + "_"
	case old != "":
		return m.io.Paint(output.Bad, cut(old, m.io.Width))
	case m.message != "":
		text = m.message
	case m.page != nil:
		text = "any key closes this list"
	default:
		text = fmt.Sprintf("%s  / filter  : command  ? help  q quit", cmp.Or(words.Count(rows, "row", "rows"), ""))
		if m.filter != "" {
			text = "filter " + output.Safe(m.filter) + " (Esc clears)  " + text
		}
		if s := m.sorted[m.tab]; s.column > 0 {
			text = "by " + m.view().Table.Columns[s.column-1].Title + "  " + text
		}
		if m.readOnly {
			text += "  read-only"
		}
	}
	return m.io.Paint(output.Dim, cut(text, m.io.Width))
}

// cut shortens a text to the width of the screen.
func cut(text string, width int) string { return displaywidth.TruncateString(text, width, "") }

func (m *model) helpText() string {
	lines := []string{"Keys", "", "1-4, Tab       tabs", "up, down, j, k rows; PgUp, PgDn, Home, End", "/ TEXT         only rows with the text; !TEXT: only the others; Esc clears",
		": NAME         go to a tab; :sort COLUMN; :q quits", "o  O           sort by the next column; reverse the order", "Enter          explain the job; the queue of a team; the pods of a node", "d  l  p        details, log and pods of the job"}
	if !m.readOnly {
		lines = append(lines, "s  u           suspend, unsuspend the job", "P              change its priority class", "c              cancel it")
	}
	lines = append(lines, "q, Ctrl-C      quit", "", "ETA            when a waiting job starts; ~ from the known ends of jobs before it; ? no known end",
		"?              not known, or no permission to read it")
	if bars := m.view().Bars; len(bars) > 0 {
		lines = append(lines, "bars           "+m.io.Legend(bars...))
	}
	lines = append(lines, "", "any key closes this page")
	for i := range lines {
		lines[i] = cut(lines[i], m.io.Width)
	}
	return strings.Join(lines[:min(len(lines), m.io.Height)], "\n")
}
