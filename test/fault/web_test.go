package fault_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/test/fault"
)

// TestWeb opens the page of dashboard --web behind every fault: of a server that is faulty from the beginning, and of one
// that becomes so when the page is open. The command prints its link, or ends with an error in time; the page, its figures
// and the details of a row are answered in time; Ctrl-C ends it.
func TestWeb(t *testing.T) {
	file := enterprise(t)
	matrix{title: "faults of dashboard --web", lines: []string{"dashboard --web"}, oneOf: 8, repeat: 4,
		each: func(t *testing.T, _, kind string, seed uint64) (int, *fault.ChaosProxy) {
			chaos := fault.NewChaos(open(t, file), kind, seed)
			return web(t, chaos, seed%4 >= 2), chaos
		}}.run(t)
}

// web runs dashboard --web, uses the page, ends it, and returns the exit code. With late, the faults begin, and all
// connections to the server end, when the page is open.
func web(t *testing.T, chaos *fault.ChaosProxy, late bool) int {
	chaos.Hold(late)
	server, dir, environment := serve(t, chaos)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*deadline)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, "dashboard", "--web", "--no-browser", "--request-timeout=2s")
	cmd.Env = environment
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var wrong []string
	lines := bufio.NewReader(out)
	link, _ := lines.ReadString('\n')
	if link != "" {
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		browser := &http.Client{Jar: jar}
		wrong = onPage(ctx, browser, strings.TrimSuffix(link, "\n"))
		if late {
			chaos.Hold(false)
			server.CloseClientConnections()
			wrong = append(wrong, onPage(ctx, browser, strings.TrimSuffix(link, "\n"))...)
		}
		_ = cmd.Process.Signal(os.Interrupt)
	}
	rest, _ := io.ReadAll(lines)
	err = cmd.Wait()
	report := func(format string, a ...any) {
		t.Helper()
		t.Errorf(format+"\nrequests that it struck: %v\nstderr: %.1500s", append(a, chaos.Hits(), stderr.String())...)
	}
	for _, text := range wrong {
		report("%s", text)
	}
	code := 0
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		report("it did not end in %s", 4*deadline)
		return -1
	case errors.As(err, &exit):
		code = exit.ExitCode()
	case err != nil:
		t.Fatal(err)
	}
	switch {
	case late && link == "":
		report("exit code %d without a link and without a fault", code)
	case link == "" && (!slices.Contains([]int{1, 4, 5, 124}, code) || !strings.Contains(stderr.String(), "Error: ")):
		report("exit code %d without a link", code)
	case link != "" && !slices.Contains([]int{0, 130}, code):
		report("exit code %d after Ctrl-C", code)
	case len(rest) > 0:
		report("more than a link: %q", rest)
	}
	reportCrash(stderr.String(), report)
	reportLeftovers(t, dir, report)
	return code
}

// onPage opens a link, reads the first figures, and asks for the details of a job. It returns what is wrong.
func onPage(ctx context.Context, client *http.Client, link string) (wrong []string) {
	ctx, cancel := context.WithTimeout(ctx, 2*deadline)
	defer cancel()
	get := func(address string) (*http.Response, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return nil, err
		}
		return client.Do(r)
	}
	page, err := get(link)
	if err != nil {
		return []string{err.Error()}
	}
	text, err := io.ReadAll(page.Body)
	_ = page.Body.Close()
	if err != nil || page.StatusCode != http.StatusOK || !bytes.HasSuffix(bytes.TrimSpace(text), []byte("</html>")) {
		wrong = append(wrong, "the page: "+page.Status+" "+string(text))
	}
	base, _, _ := strings.Cut(link, "?")
	events, err := get(base + "events")
	if err != nil {
		return append(wrong, "the figures: "+err.Error())
	}
	defer events.Body.Close()
	line, err := bufio.NewReader(events.Body).ReadString('\n')
	var figures struct {
		Tabs []struct {
			Commands []string
			Keys     []string
		}
	}
	data, ok := strings.CutPrefix(line, "data: ")
	if err != nil || !ok || json.Unmarshal([]byte(data), &figures) != nil || len(figures.Tabs) == 0 {
		return append(wrong, "the figures: "+line)
	}
	for i, tab := range figures.Tabs {
		if len(tab.Keys) == 0 || len(tab.Commands) == 0 {
			continue
		}
		query := url.Values{"tab": {string(rune('0' + i))}, "row": {tab.Keys[0]}, "command": {tab.Commands[0]}}
		details, err := get(base + "show?" + query.Encode())
		if err != nil {
			return append(wrong, "the details: "+err.Error())
		}
		text, err := io.ReadAll(details.Body)
		_ = details.Body.Close()
		if err != nil || len(text) == 0 || details.StatusCode != http.StatusOK && details.StatusCode != http.StatusNotFound {
			wrong = append(wrong, "the details: "+details.Status+" "+string(text))
		}
		reportCrash(string(text), func(string, ...any) { wrong = append(wrong, "the details: "+string(text)) })
	}
	return wrong
}
