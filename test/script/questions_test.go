package script

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestQuestions: the commands of docs/questions.md answer in their first line, below the
// header of a table.
func TestQuestions(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "questions.md"))
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home, rows := t.TempDir(), 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 3 || !strings.Contains(cells[1], "`hyperpod ") {
			continue
		}
		rows++
		command, want := strings.Trim(cells[1], " `"), strings.Trim(cells[2], " `")
		cmd := exec.CommandContext(t.Context(), self, append(strings.Fields(command)[1:], "-o", "table")...)
		cmd.Args[0] = "hyperpod"
		cmd.Dir = filepath.Join("..", "..")
		cmd.Env = []string{"HOME=" + home, "XDG_STATE_HOME=" + filepath.Join(home, "state"), "TZ=UTC", "HYPERPOD_SANDBOX=1", "USER=ada"}
		out, err := cmd.Output() // the exit code is part of some answers
		if len(out) == 0 {
			t.Errorf("%s: %v", command, err)
			continue
		}
		lines := strings.SplitN(string(out), "\n", 3)
		first := strings.Join(strings.Fields(lines[0]), " ")
		if head := strings.Fields(strings.TrimPrefix(first, "nvidia.com/gpu ")); len(head) > 1 && head[1] == strings.ToUpper(head[1]) && len(lines) > 1 && !strings.HasPrefix(first, want) {
			first = strings.Join(strings.Fields(lines[1]), " ") // below the header
		}
		if !strings.HasPrefix(first, want) {
			t.Errorf("%s\n answers: %s\n the page: %s", command, first, want)
		}
	}
	if rows < 10 {
		t.Errorf("%d questions", rows)
	}
}
