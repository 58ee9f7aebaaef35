package dashboardcmd

import (
	tea "charm.land/bubbletea/v2"

	"github.com/hyperpod-cli/hyperpod/internal/present/dashboardview"
)

// firstRow is the line of the screen with the first row of a table, from 0: the tabs, a summary, a note and the titles are
// above it. perNotch is how many rows a notch of the wheel moves.
const (
	firstRow = 4
	perNotch = 3
)

// click goes to the tab, or puts the cursor on the row, at a place of the screen. It runs nothing.
func (m *model) click(x, y int) {
	switch {
	case m.prompt != 0 || m.asked != nil: // a text or an answer is expected
		return
	case m.help || m.page != nil:
		m.help, m.page = false, nil
	case y == 0:
		end := 0
		for i, title := range m.titles() {
			begin := end
			end += len("[") + len(title) + len("]") + len(" ")
			if x >= begin && x < end-len(" ") {
				m.message, m.tab = "", dashboardview.Tab(i)
			}
		}
	case m.snapshot != nil && y >= firstRow && y < firstRow+m.rows():
		all := len(m.view().Refs)
		if at := m.first(m.cursor[m.tab], all) + y - firstRow; at < all {
			m.message, m.cursor[m.tab] = "", at
		}
	}
}

// wheel moves the cursor.
func (m *model) wheel(b tea.MouseButton) {
	if m.prompt != 0 || m.asked != nil || m.help || m.page != nil {
		return
	}
	switch b {
	case tea.MouseWheelUp:
		m.cursor[m.tab] -= perNotch
	case tea.MouseWheelDown:
		m.cursor[m.tab] += perNotch
	}
}
