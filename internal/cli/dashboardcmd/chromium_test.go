package dashboardcmd

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/present/dashboardview"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox"
	"github.com/hyperpod-cli/hyperpod/test/browser"
)

// TestTheBrowser: a real browser shows the figures of the terminal, follows changes, works with keys, and reports no fault.
func TestTheBrowser(t *testing.T) {
	c := browser.Open(t)
	dir := t.TempDir()
	box, err := sandbox.Create(t.Context(), filepath.Join(dir, "box"+sandbox.Extension), "enterprise", sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig := filepath.Join(dir, "kubeconfig")
	defer stop(serveTLS(t, box, kubeconfig, ""))
	x := startFeed(t, kubeconfig)
	x.until(t, "shown", func(s *dashboardview.Snapshot) bool { return s.Failure == nil })
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := newWeb(x.feed, "<b>test</b>", "ada", time.Now)
	shown := make(chan string, 8)
	w.show = func(_ context.Context, args ...string) string {
		shown <- strings.Join(args, " ")
		return "<img src=x onerror=alert(1)>"
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running crash.Group
	running.Go(func() { _ = w.serve(ctx, ln) })
	defer running.Wait()
	defer cancel()
	c.Goto(w.link(ln))
	c.Until(`document.querySelectorAll('[role=tab]').length === 4`)
	c.Until(`document.getElementById('status').textContent === '<b>test</b>'`)
	s, _ := x.look(time.Now())
	for i, name := range dashboardview.Names() {
		c.Eval(`document.activeElement.blur()`)
		c.Key(fmt.Sprint(i + 1))
		v := dashboardview.Of(s, dashboardview.Tab(i), "ada")
		c.Until(fmt.Sprintf(`document.querySelector('[aria-selected=true]').textContent === %q && document.activeElement.textContent === %[1]q`, name))
		c.Until(fmt.Sprintf(`document.getElementById('summary').textContent === %q`, v.Summary))
		if got := c.Eval(`document.querySelectorAll('#body tr').length`); got != fmt.Sprint(len(v.Table.Rows)) {
			t.Errorf("%s has %s rows, want %d", name, got, len(v.Table.Rows))
		}
		for j, cell := range v.Table.Rows[0] {
			if got := c.Eval(fmt.Sprintf(`document.querySelector('#body tr').children[%d].textContent`, j)); cell.Bar == nil && got != cell.Text && !v.Table.Columns[j].Ticks {
				t.Errorf("%s, column %d: %q, want %q", name, j, got, cell.Text)
			}
		}
		c.Shoot(fmt.Sprintf("%d-light", i+1), 1200, "light")
		c.Shoot(fmt.Sprintf("%d-dark-phone", i+1), 390, "dark")
		c.Accessible(name)
	}
	// Arrow keys choose the tabs; a filter leaves rows; Enter on a job shows more, as text.
	c.Key("ArrowLeft")
	c.Until(`document.activeElement.id === 'tab2'`)
	c.Key("/")
	c.Until(`document.activeElement.id === 'filter'`)
	c.Eval(`document.getElementById('filter').value = 'dino'; document.getElementById('filter').dispatchEvent(new Event('input'))`)
	c.Until(`document.querySelectorAll('#body tr').length === 1`)
	c.Eval(`document.querySelector('#body button').focus()`)
	c.Key("Enter")
	c.Eval(`document.querySelector('#body button').click()`)
	c.Until(`document.getElementById('dialog-text').textContent === '<img src=x onerror=alert(1)>'`)
	if got := <-shown; got != "explain-job -n hyperpod-ns-researchers -o table -- dino-giant" {
		t.Error(got)
	}
	c.Shoot("dialog", 1200, "dark")
	c.Accessible("dialog")
	c.Eval(`document.getElementById('close').click(); document.getElementById('filter').value = ''; document.getElementById('filter').dispatchEvent(new Event('input'))`)
	// A change arrives.
	before := c.Eval(`document.getElementById('summary').textContent`)
	if err := box.Advance(t.Context(), 24*time.Hour); err != nil {
		t.Fatal(err)
	}
	c.Until(fmt.Sprintf(`document.getElementById('summary').textContent !== %q`, before))
	// The server goes.
	cancel()
	c.Until(`document.getElementById('status').className === 'lost'`)
	for _, fault := range c.Faults {
		if !strings.Contains(fault, "ERR_") { // the last connection
			t.Error(fault)
		}
	}
}
