// Package browser drives a headless Chromium in tests, and checks its pages with axe-core. test/install-tools installs both.
package browser

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
)

// Page is a page of a headless browser, driven by the Chrome DevTools Protocol.
type Page struct {
	t    *testing.T
	conn *websocket.Conn
	id   int
	// Faults are errors of the page.
	Faults []string
}

// Open starts a browser with an empty page; it ends with the test. Without Chromium the test is skipped.
func Open(t *testing.T) *Page {
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
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
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
	c := &Page{t: t, conn: conn}
	c.call("Runtime.enable", nil)
	c.call("Log.enable", nil)
	c.call("Page.enable", nil)
	return c
}

// call sends a command and returns its result.
func (c *Page) call(method string, params map[string]any) json.RawMessage {
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
			c.Faults = append(c.Faults, string(m.Params))
		}
	}
}

// Eval returns the value of an expression as text.
func (c *Page) Eval(expression string) string {
	c.t.Helper()
	var r struct{ Result struct{ Value any } }
	if err := json.Unmarshal(c.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}), &r); err != nil {
		c.t.Fatal(err)
	}
	return fmt.Sprint(r.Result.Value)
}

// Until waits until an expression is true in the page, which tells when it changes.
func (c *Page) Until(expression string) {
	c.t.Helper()
	got := c.Eval(`new Promise((done) => {
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

// Goto opens an address.
func (c *Page) Goto(url string) {
	c.t.Helper()
	c.call("Page.navigate", map[string]any{"url": url})
}

// Key presses and releases a key.
func (c *Page) Key(name string) {
	text := ""
	if len(name) == 1 {
		text = name
	}
	c.call("Input.dispatchKeyEvent", map[string]any{"type": "keyDown", "key": name, "text": text})
	c.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": name})
}

// Shoot saves a picture in the folder HYPERPOD_SCREENSHOTS, when there is one.
func (c *Page) Shoot(name string, width int, scheme string) {
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

// Accessible checks the page with axe-core, in both color schemes and at both widths.
func (c *Page) Accessible(name string) {
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
	c.Eval(string(program) + "\n;0")
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int{1200, 390} {
			c.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500})
			c.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}})
			got := c.Eval(`axe.run(document).then((r) => r.passes.length + ' rules passed\n' + r.violations.map((v) => v.id + ': ' + v.help + ': ' + v.nodes.map((n) => n.html).slice(0, 3).join(' ')).join('\n'))`)
			if passed, violations, ok := strings.Cut(got, " rules passed\n"); !ok || violations != "" || len(passed) < 2 {
				c.t.Errorf("%s, %s, %d wide: %s", name, scheme, width, got)
			}
		}
	}
}
