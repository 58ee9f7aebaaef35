package dashboardcmd

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/jobs"
	"github.com/hyperpod-cli/hyperpod/test/browser"
)

// hostile are names that attack a page.
func hostile() []string {
	return []string{
		`<img src=x onerror="document.title='attacked'">`, `<script>document.title='attacked'</script>`, `</script><svg onload="document.title='attacked'">`,
		`javascript:document.title='attacked'`, `"><a href="javascript:document.title='attacked'">x</a>`, `' onclick='document.title="attacked"`,
		`</style><style>*{display:none}</style>`, `red;background:url(//example.invalid/x)`, `__proto__`, `constructor`, `${document.title='attacked'}`, `{{1}}`, `&lt;b&gt;&#x41;`,
		"\u202eelgoog\u202c", "שלום\u200f 12", "a\x00b", "a\x1b[31mb\x7f", "\ufeff\u200b", "a\nb\u2028c", "10.0.0.1", "...", "1e999", "-", strings.Repeat("x", 10_000), strings.Repeat("1", 10_000) + "x", strings.Repeat("<b>", 3_000),
	}
}

// pageOf serves the page without the policy of [web.ServeHTTP], so that the script alone has to hold, and a message for it.
func pageOf(m *message) http.Handler {
	handler := http.NewServeMux()
	for path, file := range map[string]string{"/": "index.html", "/dashboard.js": "dashboard.js", "/dashboard.css": "dashboard.css"} {
		handler.HandleFunc(path, func(rw http.ResponseWriter, r *http.Request) {
			data, err := page.ReadFile("page/" + file)
			if err != nil || r.URL.Path != path {
				http.NotFound(rw, r)
				return
			}
			kind := map[string]string{"/": "text/html", "/dashboard.js": "text/javascript", "/dashboard.css": "text/css"}[path]
			rw.Header().Set("Content-Type", kind+"; charset=utf-8")
			_, _ = rw.Write(data)
		})
	}
	handler.HandleFunc("/events", func(rw http.ResponseWriter, r *http.Request) {
		data, _ := json.Marshal(m)
		rw.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(rw, "data: %s\n\n", data)
		_ = http.NewResponseController(rw).Flush()
		<-r.Context().Done()
	})
	return handler
}

// TestHostileTexts: the script of the page shows each text of a message as it is, at each place, and runs none.
func TestHostileTexts(t *testing.T) {
	c := browser.Open(t)
	m := message{Time: noon.UnixMilli()}
	handler := pageOf(&m)
	tries := 0
	for _, bad := range hostile() {
		m.Cluster, m.Note = bad, bad
		tab := tabMessage{Index: 0, Name: bad, Summary: bad, Columns: []columnMessage{{Title: bad}, {Title: bad}}, Bars: []string{bad}, Commands: []string{bad}, Whole: true, Rows: map[string]json.RawMessage{}}
		for i := range 40 {
			cells, _ := json.Marshal([]cellMessage{{Text: bad}, {Text: fmt.Sprint(bad, i)}})
			key := fmt.Sprint(bad, i)
			if i == 0 {
				key = bad
			}
			tab.Keys, tab.Rows[key] = append(tab.Keys, key), cells
		}
		m.Tabs = []tabMessage{tab, {Index: 1, Name: "empty", Empty: bad, Columns: tab.Columns, Whole: true}}
		quoted, _ := json.Marshal(bad)
		server := httptest.NewServer(handler)
		c.Goto(server.URL + "/#0.5")
		c.Until(`document.querySelectorAll('#body tr').length === 40`)
		c.Eval(`document.querySelectorAll('#head button')[1].click()`)
		c.Eval(`document.querySelectorAll('#head button')[1].click()`)
		c.Eval(`document.querySelector('#body button').click()`)
		for place, expression := range map[string]string{
			"cluster": `document.getElementById('status').textContent`, "note": `document.getElementById('note').textContent`, "tab": `document.getElementById('tab0').textContent`,
			"summary": `document.getElementById('summary').textContent`, "title": `document.querySelector('#head button').textContent`, "cell": `document.querySelector('#body button').textContent`,
			"bar": `document.querySelector('#legend span + span').textContent`, "command": `document.querySelector('#choices button').textContent`, "dialog": `document.getElementById('dialog-title').textContent`,
		} {
			tries++
			if got := c.Eval(expression + ` === ` + string(quoted)); got != "true" {
				t.Errorf("%s, %.40q: %.80s", place, bad, c.Eval(expression))
			}
		}
		if got := c.Eval(`document.querySelectorAll('script').length + document.querySelectorAll('style').length + document.querySelectorAll('#main img, a, #body svg').length + document.title`); got != "1hyperpod dashboard" {
			t.Errorf("%.40q: %s", bad, got)
		}
		c.Eval(`document.getElementById('close').click()`)
		c.Eval(`document.getElementById('tab1').click()`)
		tries++
		if got := c.Eval(`document.getElementById('body').textContent === ` + string(quoted)); got != "true" {
			t.Errorf("empty, %.40q", bad)
		}
		c.Goto("about:blank")
		server.CloseClientConnections()
		server.Close()
	}
	if tries != 10*len(hostile()) {
		t.Error(tries)
	}
	for _, fault := range c.Faults {
		if !strings.Contains(fault, "ERR_") && !strings.Contains(fault, "404") { // of the connection that ended
			t.Error(fault)
		}
	}
}

// TestTheOrderOfRows: numbers and ages are in the order of their sizes, and what only looks like a number is a name.
func TestTheOrderOfRows(t *testing.T) {
	c := browser.Open(t)
	for name, want := range map[string][]string{
		"sizes":     {"-5", "0.5", "2", "10", "45s", "2m", "1h30m", "3d"},
		"addresses": {"7", "10.0.0.1", "10.0.0.2", "10.0.0.3", "9.0.0.1"},
	} {
		tab := tabMessage{Name: name, Columns: []columnMessage{{Title: "NAME"}}, Whole: true, Rows: map[string]json.RawMessage{}}
		for i := range want {
			text := want[len(want)-1-i]
			tab.Keys = append(tab.Keys, text)
			tab.Rows[text], _ = json.Marshal([]cellMessage{{Text: text}})
		}
		server := httptest.NewServer(pageOf(&message{Time: noon.UnixMilli(), Tabs: []tabMessage{tab}}))
		c.Goto(server.URL)
		c.Until(fmt.Sprintf(`document.querySelectorAll('#body tr').length === %d`, len(want)))
		c.Eval(`document.querySelector('#head button').click()`)
		if got := c.Eval(`Array.from(document.querySelectorAll('#body tr'), (tr) => tr.textContent).join(' ')`); got != strings.Join(want, " ") {
			t.Errorf("%s: %s", name, got)
		}
		c.Goto("about:blank")
		server.CloseClientConnections()
		server.Close()
	}
}

// TestHostileNames: what the page gets of hostile names has no characters that a browser would hide, reorder or read as a
// tag, and each row has its commands: also of two jobs of one name.
func TestHostileNames(t *testing.T) {
	for _, bad := range hostile() {
		s := newSite(t, task(bad, bad, jobs.Running), task(bad, "other", jobs.Running))
		c := s.browser(t)
		m := s.events(t, c)()
		for _, key := range m.Tabs[2].Keys {
			if row := string(m.Tabs[2].Rows[key]); strings.ContainsAny(row, "\u202e\u202c\u200f\u200b\ufeff\x1b\x00<") {
				t.Errorf("%.40q: %.80s", bad, row)
			}
			if code, _, body := get(t, c, "GET", s.base+"/show?"+url.Values{"tab": {"2"}, "row": {key}, "command": {"get-job"}}.Encode()); code != 200 {
				t.Errorf("%.40q: %d %s", key, code, body)
			}
		}
		if want := "get-job -n ns --kind PyTorchJob -o table -- " + bad; len(s.ran) != 2 || s.ran[0] != want || s.ran[1] != want {
			t.Errorf("%.80q", s.ran)
		}
	}
}
