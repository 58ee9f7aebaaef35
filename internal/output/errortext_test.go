package output

import (
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// An error on a terminal breaks at blanks, below its text; a command line to paste stays whole, with its note below it.
func TestErrorText(t *testing.T) {
	e := errs.New("cannot upload code to claim scratch", "you have no permission to create pods/exec in hyperpod-ns-ml-engineers").
		WithFact("advice", "--upload-pvc needs it; ask a cluster administrator for a role\nwith that permission").
		WithFact("message", "/a/path/that/is/longer/than/the/terminal/is/wide/and/stays/whole").
		Suggest(errs.Run("start-job", "train", "--upload-pvc", "scratch", "-n", "hyperpod-ns-ml-engineers").WithNote("with another claim of the namespace that you can write to"), errs.Run("x").WithNote("short"))
	io, _ := Test()
	if got, want := io.ErrorText(e, true), errs.Text(e, true); got != want {
		t.Errorf("in a pipe\n%s\nwant\n%s", got, want)
	}
	io.Width = 60
	if got, want := io.ErrorText(e, false), errs.Text(e, false); got != want {
		t.Errorf("only stdout is a terminal\n%s\nwant\n%s", got, want)
	}
	io.ErrTTY = true
	want := `Error: cannot upload code to claim scratch: you have no
       permission to create pods/exec in
       hyperpod-ns-ml-engineers
  advice:   --upload-pvc needs it; ask a cluster
            administrator for a role
            with that permission
  message:  /a/path/that/is/longer/than/the/terminal/is/wide/and/stays/whole
  try:      hyperpod start-job train --upload-pvc scratch -n hyperpod-ns-ml-engineers
            # with another claim of the namespace that you
            # can write to
            hyperpod x   # short
`
	if got := io.ErrorText(e, false); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// A shell gets the same command from what is on the screen.
	for width := 1; width < 200; width++ {
		io.Width = width
		text := io.ErrorText(e, false)
		if !strings.Contains(text, "hyperpod start-job train --upload-pvc scratch -n hyperpod-ns-ml-engineers") {
			t.Errorf("%d columns break the command\n%s", width, text)
		}
		for line := range strings.Lines(text) {
			if line = strings.TrimRight(line, "\n"); width >= 40 && displaywidth.String(line) > width && len(strings.Fields(strings.TrimPrefix(line, "  message:"))) > 1 && !strings.Contains(line, "hyperpod") {
				t.Errorf("%d columns: %q", width, line)
			}
		}
		if got, all := strings.Join(strings.Fields(strings.ReplaceAll(text, "#", "")), " "), strings.Join(strings.Fields(strings.ReplaceAll(errs.Text(e, false), "#", "")), " "); got != all {
			t.Errorf("%d columns: got %q, want %q", width, got, all)
		}
	}
}

// A notice that ends in a command: where the line is too long, the command has a line of its own.
func TestNoticeWithCommand(t *testing.T) {
	io, _ := Test()
	io.ErrTTY, io.Width = true, 40
	line := errs.Line{Head: "note: showing the log of pod x (rank 0); for all pods: ", Text: "hyperpod get-log x --all-pods -n hyperpod-ns-team", Pasted: true}
	want := "note: showing the log of pod x (rank 0);\nfor all pods:\n  hyperpod get-log x --all-pods -n hyperpod-ns-team\n"
	if got := io.Lines([]errs.Line{line}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	io.Width = 200
	if got := io.Lines([]errs.Line{line}); got != line.Head+line.Text+"\n" {
		t.Errorf("got %q", got)
	}
}
