package dashboardcmd

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/present/dashboardview"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox"
)

// chromium is a page of a headless browser, driven by the Chrome DevTools Protocol.
type chromium struct {
	t    *testing.T
	conn *websocket.Conn
	id   int
	// faults are errors of the page.
	faults []string
}

func openChromium(t *testing.T) *chromium {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no chromium")
	}
	dir, err := os.MkdirTemp("", "chromium-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // its other processes may still write
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", "--user-data-dir="+dir, "--no-first-run", "--disable-background-networking", "about:blank")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = cmd.Wait() })
	lines, address := bufio.NewScanner(stderr), ""
	for address == "" && lines.Scan() {
		if m := regexp.MustCompile(`ws://([^/]+)/`).FindStringSubmatch(lines.Text()); m != nil {
			address = m[1]
		}
	}
	crash.Go(func() { _, _ = io.Copy(io.Discard, stderr) })
	resp, err := http.Get("http://" + address + "/json/list")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var pages []struct{ Type, WebSocketDebuggerUrl string }
	if err := json.NewDecoder(resp.Body).Decode(&pages); err != nil || len(pages) == 0 {
		t.Fatal(err, pages)
	}
	conn, _, err := websocket.DefaultDialer.Dial(pages[0].WebSocketDebuggerUrl, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	c := &chromium{t: t, conn: conn}
	c.call("Runtime.enable", nil)
	c.call("Log.enable", nil)
	c.call("Page.enable", nil)
	return c
}

// call sends a command and returns its result.
func (c *chromium) call(method string, params map[string]any) json.RawMessage {
	c.t.Helper()
	c.id++
	if err := c.conn.WriteJSON(map[string]any{"id": c.id, "method": method, "params": params}); err != nil {
		c.t.Fatal(err)
	}
	for {
		var m struct {
			ID             int
			Method         string
			Params, Result json.RawMessage
			Error          json.RawMessage
		}
		if err := c.conn.ReadJSON(&m); err != nil {
			c.t.Fatal(err)
		}
		switch {
		case m.ID == c.id && m.Error != nil:
			c.t.Fatalf("%s: %s", method, m.Error)
		case m.ID == c.id:
			return m.Result
		case m.Method == "Runtime.exceptionThrown", m.Method == "Log.entryAdded":
			c.faults = append(c.faults, string(m.Params))
		}
	}
}

// eval returns the value of an expression as text.
func (c *chromium) eval(expression string) string {
	c.t.Helper()
	var r struct{ Result struct{ Value any } }
	if err := json.Unmarshal(c.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}), &r); err != nil {
		c.t.Fatal(err)
	}
	return fmt.Sprint(r.Result.Value)
}

// until waits until an expression is true in the page, which tells when it changes.
func (c *chromium) until(expression string) {
	c.t.Helper()
	got := c.eval(`new Promise((done) => {
		const ok = () => { try { return ` + expression + ` } catch { return false } };
		if (ok()) return done('ok');
		const o = new MutationObserver(() => { if (ok()) { o.disconnect(); done('ok') } });
		o.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
		setTimeout(() => done(document.body.innerText), 30000);
	})`)
	if got != "ok" {
		c.t.Fatalf("%s: not in\n%s", expression, got)
	}
}

func (c *chromium) key(name string) {
	text := ""
	if len(name) == 1 {
		text = name
	}
	c.call("Input.dispatchKeyEvent", map[string]any{"type": "keyDown", "key": name, "text": text})
	c.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": name})
}

// shoot saves a picture in the folder HYPERPOD_SCREENSHOTS, when there is one.
func (c *chromium) shoot(name string, width int, scheme string) {
	c.t.Helper()
	dir := os.Getenv("HYPERPOD_SCREENSHOTS")
	if dir == "" {
		return
	}
	c.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500})
	c.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}})
	var r struct{ Data string }
	if err := json.Unmarshal(c.call("Page.captureScreenshot", nil), &r); err != nil {
		c.t.Fatal(err)
	}
	data, err := base64.StdEncoding.DecodeString(r.Data)
	if err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), data, 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// axeFile returns the file of axe-core: HYPERPOD_AXE, or the one of test/install-tools; "" for none.
func axeFile() string {
	if file := os.Getenv("HYPERPOD_AXE"); file != "" {
		return file
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	files, _ := filepath.Glob(filepath.Join(dir, "hyperpod-testbed", "axe-core-*", "package", "axe.min.js"))
	if len(files) == 0 {
		return ""
	}
	return files[len(files)-1]
}

// accessible checks the page with axe-core, in both color schemes and at both widths.
func (c *chromium) accessible(name string) {
	c.t.Helper()
	file := axeFile()
	if file == "" {
		c.t.Log("no axe-core")
		return
	}
	program, err := os.ReadFile(file)
	if err != nil {
		c.t.Fatal(err)
	}
	c.eval(string(program) + "\n;0")
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int{1200, 390} {
			c.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500})
			c.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}})
			got := c.eval(`axe.run(document).then((r) => r.passes.length + ' rules passed\n' + r.violations.map((v) => v.id + ': ' + v.help + ': ' + v.nodes.map((n) => n.html).slice(0, 3).join(' ')).join('\n'))`)
			if passed, violations, ok := strings.Cut(got, " rules passed\n"); !ok || violations != "" || len(passed) < 2 {
				c.t.Errorf("%s, %s, %d wide: %s", name, scheme, width, got)
			}
		}
	}
}

// TestTheBrowser: a real browser shows the figures of the terminal, follows changes, works with keys, and reports no fault.
func TestTheBrowser(t *testing.T) {
	c := openChromium(t)
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
	c.call("Page.navigate", map[string]any{"url": w.link(ln)})
	c.until(`document.querySelectorAll('[role=tab]').length === 4`)
	c.until(`document.getElementById('status').textContent === '<b>test</b>'`)
	s, _ := x.look(time.Now())
	for i, name := range dashboardview.Names() {
		c.eval(`document.activeElement.blur()`)
		c.key(fmt.Sprint(i + 1))
		v := dashboardview.Of(s, dashboardview.Tab(i), "ada")
		c.until(fmt.Sprintf(`document.querySelector('[aria-selected=true]').textContent === %q && document.activeElement.textContent === %[1]q`, name))
		c.until(fmt.Sprintf(`document.getElementById('summary').textContent === %q`, v.Summary))
		if got := c.eval(`document.querySelectorAll('#body tr').length`); got != fmt.Sprint(len(v.Table.Rows)) {
			t.Errorf("%s has %s rows, want %d", name, got, len(v.Table.Rows))
		}
		for j, cell := range v.Table.Rows[0] {
			if got := c.eval(fmt.Sprintf(`document.querySelector('#body tr').children[%d].textContent`, j)); cell.Bar == nil && got != cell.Text && !v.Table.Columns[j].Ticks {
				t.Errorf("%s, column %d: %q, want %q", name, j, got, cell.Text)
			}
		}
		c.shoot(fmt.Sprintf("%d-light", i+1), 1200, "light")
		c.shoot(fmt.Sprintf("%d-dark-phone", i+1), 390, "dark")
		c.accessible(name)
	}
	// Arrow keys choose the tabs; a filter leaves rows; Enter on a job shows more, as text.
	c.key("ArrowLeft")
	c.until(`document.activeElement.id === 'tab2'`)
	c.key("/")
	c.until(`document.activeElement.id === 'filter'`)
	c.eval(`document.getElementById('filter').value = 'dino'; document.getElementById('filter').dispatchEvent(new Event('input'))`)
	c.until(`document.querySelectorAll('#body tr').length === 1`)
	c.eval(`document.querySelector('#body button').focus()`)
	c.key("Enter")
	c.eval(`document.querySelector('#body button').click()`)
	c.until(`document.getElementById('dialog-text').textContent === '<img src=x onerror=alert(1)>'`)
	if got := <-shown; got != "explain-job -n hyperpod-ns-researchers -o table -- dino-giant" {
		t.Error(got)
	}
	c.shoot("dialog", 1200, "dark")
	c.accessible("dialog")
	c.eval(`document.getElementById('close').click(); document.getElementById('filter').value = ''; document.getElementById('filter').dispatchEvent(new Event('input'))`)
	// A change arrives.
	before := c.eval(`document.getElementById('summary').textContent`)
	if err := box.Advance(t.Context(), 24*time.Hour); err != nil {
		t.Fatal(err)
	}
	c.until(fmt.Sprintf(`document.getElementById('summary').textContent !== %q`, before))
	// The server goes.
	cancel()
	c.until(`document.getElementById('status').className === 'lost'`)
	for _, fault := range c.faults {
		if !strings.Contains(fault, "ERR_") { // the last connection
			t.Error(fault)
		}
	}
}
