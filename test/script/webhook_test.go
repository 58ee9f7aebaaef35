package script

import (
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// hook is a webhook that remembers what it got.
type hook struct {
	mu     sync.Mutex
	bodies []string
}

func hookCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		// webhook CODE: an address, as $HOOK, that answers with the code.
		"webhook": func(ts *testscript.TestScript, _ bool, args []string) {
			code, err := strconv.Atoi(args[0])
			ts.Check(err)
			h := &hook{}
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				h.mu.Lock()
				h.bodies = append(h.bodies, string(body))
				h.mu.Unlock()
				w.Header().Set("Location", "http://127.0.0.1:1/")
				w.WriteHeader(code)
			}))
			ts.Defer(s.Close)
			ts.Setenv("HOOK", s.URL+"/secret-path")
			server(ts).hook = h
		},
		// hooked PATTERN: the latest body that the webhook got.
		"hooked": func(ts *testscript.TestScript, _ bool, args []string) {
			h := server(ts).hook
			h.mu.Lock()
			defer h.mu.Unlock()
			if len(h.bodies) == 0 || !regexp.MustCompile(args[0]).MatchString(h.bodies[len(h.bodies)-1]) {
				ts.Fatalf("got %q", h.bodies)
			}
		},
	}
}
