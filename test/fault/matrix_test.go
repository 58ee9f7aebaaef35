package fault_test

import (
	"fmt"
	"hash/fnv"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/words"
	"github.com/hyperpod-cli/hyperpod/test/fault"
)

// matrix runs commands behind every fault, with one or more seeds.
type matrix struct {
	title  string   // of the summary: "faults of AWS"
	prefix string   // of the names of the cases; a name decides whether the case is in the short form
	lines  []string // the commands
	oneOf  uint32   // the short form has one of so many cases
	repeat int      // seeds of a case for each of -seeds; 0 means 1
	// each runs a command and returns its exit code and the proxy that it ran behind.
	each func(t *testing.T, line string, kind string, seed uint64) (int, *fault.ChaosProxy)
}

// run runs the chosen cases in parallel and prints a summary. It fails if it ran none, or if no fault struck.
func (m matrix) run(t *testing.T) {
	var mu sync.Mutex
	runs, struck, codesSeen, begun := 0, 0, map[int]int{}, time.Now()
	t.Run("runs", func(t *testing.T) {
		for _, line := range m.lines {
			for _, kind := range fault.Chaos() {
				for seed := range max(*seeds, 1) * max(m.repeat, 1) {
					name := fmt.Sprintf("%s%s, %s, seed %d", m.prefix, line, kind, seed)
					if !chosen(name, m.oneOf) {
						continue
					}
					t.Run(name, func(t *testing.T) {
						t.Parallel()
						code, chaos := m.each(t, line, kind, uint64(seed))
						mu.Lock()
						defer mu.Unlock()
						runs++
						codesSeen[code]++
						if chaos.Struck() > 0 {
							struck++
						}
					})
				}
			}
		}
	})
	fmt.Printf("%s: %d runs of %s behind %d faults, %d struck, runs with exit code %s, %s\n", m.title, runs,
		words.Count(len(m.lines), "command", "commands"), len(fault.Chaos()), struck, counts(codesSeen), time.Since(begun).Round(time.Second))
	if *only == "" && struck == 0 {
		t.Errorf("no fault struck in %d runs", runs)
	}
}

// counts returns numbers by exit code as text.
func counts(byCode map[int]int) string {
	var out []string
	for _, code := range slices.Sorted(maps.Keys(byCode)) {
		out = append(out, fmt.Sprintf("%d: %d", code, byCode[code]))
	}
	return strings.Join(out, ", ")
}

// chosen reports whether a case is in this run: all with -seeds, those that contain -case, or else one of n.
func chosen(name string, n uint32) bool {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	return (*seeds > 0 || h.Sum32()%n == 0 || *only != "") && strings.Contains(name, *only)
}

// serve starts a server with faults until the test ends. It returns it, a home folder whose kubeconfig leads to
// it, and the environment of a command.
func serve(t *testing.T, chaos *fault.ChaosProxy) (server *httptest.Server, dir string, environ []string) {
	server = httptest.NewUnstartedServer(chaos)
	server.Config.ErrorLog = nil
	server.Start()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	dir = t.TempDir()
	config := filepath.Join(dir, "kubeconfig")
	text := fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: t\nclusters: [{name: t, cluster: {server: %q}}]\ncontexts: [{name: t, context: {cluster: t, user: t}}]\nusers: [{name: t, user: {}}]\n", server.URL)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return server, dir, []string{asHyperpod + "=" + filepath.Join(dir, "status"), "HOME=" + dir, "KUBECONFIG=" + config,
		"TZ=UTC", "USER=ada", "PATH=" + os.Getenv("PATH"), "AWS_EC2_METADATA_DISABLED=true"}
}
