package dashboardcmd

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/clipperhouse/displaywidth"

	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/present/dashboardview"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// fixed is a source that tests change.
type fixed struct {
	s       *dashboardview.Snapshot
	changed bool
}

func (f *fixed) take(time.Time) (*dashboardview.Snapshot, bool) {
	changed := f.changed
	f.changed = false
	return f.s, changed
}

func task(name, owner string, s jobs.State) dashboardview.Task {
	j := state.Job{Kind: kinds.PyTorchJob, Meta: state.Meta{Name: name, Namespace: "ns", UID: name, Annotations: map[string]string{kinds.CreatedByAnnotation: owner}}}
	return dashboardview.Task{Job: j, Status: jobs.Status{State: s, Since: noon.Add(-time.Hour)}}
}

// screen is a model with what it ran.
type screen struct {
	*model
	source *fixed
	ran    []string
}

func newScreen(tasks ...dashboardview.Task) *screen {
	s := &screen{model: newModel(), source: &fixed{s: &dashboardview.Snapshot{Time: noon, State: &state.State{Taken: noon}, Tasks: tasks}, changed: true}}
	s.model.source, s.now, s.user, s.io = s.source, func() time.Time { return noon }, "ada", output.IO{Err: io.Discard, OutTTY: true}
	s.run = func(args ...string) tea.Cmd { s.ran = append(s.ran, strings.Join(args, " ")); return nil }
	s.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	s.Update(tick(noon))
	return s
}

// press sends keys: characters, or names in angle brackets.
func (s *screen) press(keys ...string) {
	codes := map[string]rune{"<enter>": tea.KeyEnter, "<esc>": tea.KeyEscape, "<down>": tea.KeyDown, "<end>": tea.KeyEnd, "<tab>": tea.KeyTab, "<backspace>": tea.KeyBackspace}
	for _, k := range keys {
		if code, ok := codes[k]; ok {
			s.Update(tea.KeyPressMsg{Code: code})
			continue
		}
		for _, r := range k {
			s.Update(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	}
}

func (s *screen) has(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(s.screen(), text) {
			t.Errorf("no %q in\n%s", text, s.screen())
		}
	}
}

// TestKeys: tabs, filter, commands and actions.
func TestKeys(t *testing.T) {
	s := newScreen(task("alpha", "ada", jobs.Running), task("beta", "bob", jobs.Pending), task("gamma", "ada", jobs.Failed))
	s.has(t, "[1 Utilization]", "no accelerators")
	s.press("3")
	s.has(t, "[3 Tasks]", "> beta", "1 pending, 1 running, 1 failed", "3 rows")
	s.press("<down>", "<enter>", "l", "p", "d")
	if want := []string{"explain-job alpha -n ns", "get-log alpha -n ns", "list-pods alpha -n ns", "get-job alpha -n ns"}; !slices.Equal(s.ran, want) {
		t.Error(s.ran)
	}
	s.ran = nil
	s.press("s")
	s.has(t, "Suspend ns/alpha? [y/N]")
	s.press("n")
	s.has(t, "nothing was changed")
	s.press("c")
	s.has(t, "Cancel ns/alpha? [y/N]")
	s.press("y", "u", "y", "P", "training", "<enter>")
	if want := []string{"cancel-job alpha -n ns", "patch-job unsuspend alpha -n ns", "patch-job priority alpha -n ns --priority training"}; !slices.Equal(s.ran, want) {
		t.Error(s.ran)
	}
	s.press("/GAM")
	s.has(t, "> gamma", "/GAM_")
	if strings.Contains(s.screen(), "alpha") {
		t.Error(s.screen())
	}
	s.press("<enter>", "/", "!gam", "<enter>")
	s.has(t, "beta", "alpha", "filter !gam")
	s.press("<esc>", ":no", "<enter>")
	s.has(t, "4 Nodes]", "no nodes")
	s.press(":huh", "<enter>")
	s.has(t, `"huh" is not a command`)
	s.press("?")
	s.has(t, "suspend, unsuspend the job", "ETA            when a waiting job starts; ~ from")
	s.press("x", "2", "?")
	s.has(t, "bars           # own use  + borrowed  - lent  . free")
	s.press("x", "4", "?")
	s.press("x", "<tab>")
	s.has(t, "[1 Utilization]")
	s.press("s")
	s.has(t, "choose a job in Tasks (3)")
}

// TestOneNameTwice: the command about one of two jobs with one name has the kind, also where a filter hides the other.
func TestOneNameTwice(t *testing.T) {
	twin := task("alpha", "bob", jobs.Pending)
	twin.Job.Kind, twin.Job.UID = kinds.RayJob, "twin"
	s := newScreen(task("alpha", "ada", jobs.Running), twin)
	s.press("3", "/run", "<enter>", "l", "P", "high", "<enter>", "c")
	s.has(t, "Cancel PyTorchJob ns/alpha? [y/N]")
	s.press("y", "<esc>", "/pend", "<enter>", "<enter>")
	if want := []string{"get-log --kind PyTorchJob alpha -n ns", "patch-job priority --kind PyTorchJob alpha -n ns --priority high", "cancel-job --kind PyTorchJob alpha -n ns", "explain-job --kind RayJob alpha -n ns"}; !slices.Equal(s.ran, want) {
		t.Errorf("%q", s.ran)
	}
}

// TestSorting: keys and a command sort the rows; the cursor stays on its job.
func TestSorting(t *testing.T) {
	s := newScreen(task("beta", "ada", jobs.Running), task("alpha", "bob", jobs.Failed), task("gamma", "eve", jobs.Running))
	first := func(want string) {
		t.Helper()
		lines := strings.Split(s.screen(), "\n")
		if !strings.HasPrefix(lines[4][2:], want) {
			t.Errorf("first is not %s:\n%s", want, s.screen())
		}
	}
	s.press("3")
	first("beta")
	s.press("o")
	first("alpha")
	s.has(t, "> beta", "by NAME")
	s.press("O")
	first("gamma")
	s.press(":sort own", "<enter>", "O")
	first("beta")
	s.has(t, "by OWNER")
	s.press(":sort", "<enter>")
	first("beta")
	s.press(":sort none", "<enter>")
	s.has(t, `"none" is not a column of this tab`)
}

// TestPodsOfANode: Enter on a node shows its pods, or why not.
func TestPodsOfANode(t *testing.T) {
	s := newScreen()
	s.source.s.State.Nodes = []state.Node{{Meta: state.Meta{Name: "node-1"}, Ready: true}}
	s.pods = func(node string) tea.Cmd { s.ran = append(s.ran, node); return nil }
	s.press("4", "<enter>")
	s.has(t, "loading")
	s.Update(loaded{view: dashboardview.PodsOf("node-1", []state.Pod{{Meta: state.Meta{Name: "pod-1"}}}, noon)})
	s.has(t, "1 pod on node-1", "pod-1", "any key closes this list")
	s.press("x")
	s.has(t, "> node-1")
	s.Update(loaded{err: errors.New("permission denied")})
	s.has(t, "cannot list the pods: permission denied")
	if !slices.Equal(s.ran, []string{"node-1"}) {
		t.Error(s.ran)
	}
}

// TestTheCursorFollowsItsJob: a job that moves keeps the cursor, and so what a key acts on.
func TestTheCursorFollowsItsJob(t *testing.T) {
	s := newScreen(task("alpha", "ada", jobs.Running), task("beta", "bob", jobs.Pending))
	s.press("3", "<down>")
	s.has(t, "> alpha")
	s.source.s.Tasks = append(s.source.s.Tasks, task("aaa", "bob", jobs.Preempted), task("new", "bob", jobs.Pending))
	s.source.changed = true
	s.Update(tick(noon))
	s.has(t, "> alpha")
	s.press("<enter>")
	if !slices.Equal(s.ran, []string{"explain-job alpha -n ns"}) {
		t.Error(s.ran)
	}
}

// TestReadOnly: keys that change something do nothing.
func TestReadOnly(t *testing.T) {
	s := newScreen(task("alpha", "ada", jobs.Running))
	s.readOnly = true
	for _, key := range []string{"s", "u", "c", "P"} {
		s.press("3", key)
		s.has(t, "this dashboard is read-only")
	}
	s.press("y", "<enter>")
	if !slices.Equal(s.ran, []string{"explain-job alpha -n ns"}) {
		t.Error(s.ran)
	}
}

// TestALostConnection: the screen says how old the figures are until there is one again, and ends with an error that is final.
func TestALostConnection(t *testing.T) {
	s := newScreen()
	f := newFeed(func() time.Time { return noon.Add(-3 * time.Minute) })
	f.shown = &reading{state: &state.State{Taken: noon}}
	const pods, nodes = "/api/v1/namespaces/ns/pods", "/api/v1/nodes"
	show := func(requests ...kube.Request) {
		for _, r := range requests {
			f.observe(r)
		}
		s.source.s, _ = f.take(noon)
		s.Update(tick(noon))
	}
	show(kube.Request{Path: pods + "?watch=true", Status: 200}, kube.Request{Path: nodes + "?watch=true", Status: 200})
	show(kube.Request{Path: nodes + "?watch=true", Err: errors.New("connection refused")}, kube.Request{Path: pods, Status: 200})
	s.has(t, "old figures: nodes from 3m ago")
	show(kube.Request{Path: pods, Status: 503}, kube.Request{Path: "/version", Status: 200})
	s.has(t, "connection lost: the figures are from 3m ago")
	show(kube.Request{Path: nodes, Status: 200})
	s.has(t, "old figures: pods in ns from 3m ago")
	show(kube.Request{Path: pods, Status: 200})
	for _, text := range []string{"lost", "old figures"} {
		if strings.Contains(s.screen(), text) {
			t.Error(s.screen())
		}
	}
	s.source.s = &dashboardview.Snapshot{Failure: errors.New("gone")}
	if _, cmd := s.Update(tick(noon)); cmd == nil || s.failure == nil {
		t.Error("goes on")
	}
}

// TestHiddenNodes: the screen of a member who may not list nodes names the permission.
func TestHiddenNodes(t *testing.T) {
	s := newScreen()
	s.source.s.State.Missing = []state.Missing{{Resource: kinds.Node, Reason: state.Forbidden}}
	s.has(t, "0 accelerators used; nodes unknown\nsome values are hidden (?): no permission to list nodes\n")
}

// TestSizes: every line fits, whatever the size, the names and the number of jobs.
func TestSizes(t *testing.T) {
	var many []dashboardview.Task
	for i := range 500 {
		many = append(many, task(fmt.Sprintf("job-\x1b[31m\u202e漢字-%d", i), "bob", jobs.States()[i%8]))
	}
	s := newScreen(many...)
	for _, size := range [][2]int{{20, 5}, {40, 8}, {80, 24}, {200, 50}, {79, 9}} {
		s.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		for _, keys := range []string{"1", "2", "3", "4", "?", "x", "3"} {
			s.press(keys, "<end>")
			text := s.screen()
			for line := range strings.SplitSeq(text, "\n") {
				if n := displaywidth.String(line); n > size[0] {
					t.Errorf("%v, %s: %d columns: %s", size, keys, n, line)
				}
			}
			if n := len(strings.Split(text, "\n")); n > size[1] || strings.ContainsRune(text, '\u202e') || strings.Contains(text, "\x1b[31m") {
				t.Errorf("%v, %s: %d lines\n%s", size, keys, n, text)
			}
		}
	}
	s.Update(tea.WindowSizeMsg{Width: 20, Height: 5})
	s.has(t, "needs 40x8")
}

// TestMouse: clicks choose tabs and rows, the wheel scrolls, and nothing runs.
func TestMouse(t *testing.T) {
	var many []dashboardview.Task
	for i := range 50 {
		many = append(many, task(fmt.Sprintf("job-%02d", i), "ada", jobs.Running))
	}
	s := newScreen(many...)
	click := func(x, y int) { s.Update(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft}) }
	if s.View().MouseMode != tea.MouseModeNone {
		t.Error("the terminal's mouse is taken")
	}
	s.mouse = true
	if s.View().MouseMode == tea.MouseModeNone {
		t.Error("no mouse")
	}
	click(strings.Index(s.screen(), "Tasks"), 0)
	s.has(t, "[3 Tasks]", "> job-00")
	click(5, 4+3)
	s.has(t, "> job-03")
	for range 10 {
		s.Update(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	}
	s.has(t, "> job-33")
	line := slices.IndexFunc(strings.Split(s.screen(), "\n"), func(l string) bool { return strings.Contains(l, "job-30") })
	click(5, line)
	s.has(t, "> job-30")
	s.Update(tea.MouseWheelMsg{Button: tea.MouseWheelUp})
	s.has(t, "> job-27")
	click(70, 0)
	click(5, 3)
	click(5, 23)
	s.Update(tea.MouseClickMsg{X: 5, Y: 5, Button: tea.MouseRight})
	s.has(t, "[3 Tasks]", "> job-27")
	s.press("c")
	click(5, 5)
	s.has(t, "Cancel ns/job-27? [y/N]")
	s.press("n", "?")
	click(5, 5)
	s.has(t, "> job-27")
	if len(s.ran) > 0 {
		t.Error(s.ran)
	}
}

// TestAScreenOfManyJobs: the columns stay where they are while 20,000 rows scroll, and only rows on the screen are laid out.
func TestAScreenOfManyJobs(t *testing.T) {
	var many []dashboardview.Task
	for i := range 20_000 {
		many = append(many, task(fmt.Sprintf("job-%05d", i), "ada", jobs.Running))
	}
	many[19_999].Job.Name = "job-19999-with-a-long-name"
	s := newScreen(many...)
	s.press("3")
	titles := strings.Split(s.screen(), "\n")[3]
	if !strings.HasPrefix(titles, "  NAME                        NAMESPACE") {
		t.Errorf("%q", titles)
	}
	s.press("<end>")
	s.has(t, "> job-19999-with-a-long-name", "20000 rows")
	if got := strings.Split(s.screen(), "\n")[3]; got != titles {
		t.Errorf("%q, before %q", got, titles)
	}
	// Drawing again costs what a screen of rows costs.
	if n := testing.AllocsPerRun(3, func() { s.screen() }); n > 5_000 {
		t.Errorf("%.0f allocations", n)
	}
}

// TestASlowScreenRests: where drawing takes long, changes wait, so that keys are taken.
func TestASlowScreenRests(t *testing.T) {
	s := newScreen(task("alpha", "ada", jobs.Running))
	s.press("3")
	now := noon
	s.now = func() time.Time { return now }
	s.cost, s.drawn = time.Second, now
	s.source.s = &dashboardview.Snapshot{Time: noon, State: &state.State{Taken: noon}, Tasks: []dashboardview.Task{task("beta", "ada", jobs.Running)}}
	s.source.changed = true
	now = now.Add(3 * time.Second)
	s.Update(tick(now))
	s.has(t, "> alpha")
	now = now.Add(time.Second)
	s.Update(tick(now))
	s.has(t, "> beta")
}
