package errs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"
)

func TestFirstLine(t *testing.T) {
	for want, e := range map[string]*Error{
		"what":      {What: "what"},
		"why":       {Why: "why"},
		"what: why": New("what", "why"),
		"no 3":      Usagef("no %d", 3),
		"gone x":    NotFoundf("gone %s", "x"),
	} {
		if got := e.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// The numbers of Windows have other meanings elsewhere.
func TestNoSpace(t *testing.T) {
	for _, tt := range []struct {
		system string
		err    error
		want   bool
	}{
		{"linux", syscall.ENOSPC, true},
		{"linux", syscall.EDQUOT, true},
		{"linux", syscall.Errno(112), false},
		{"windows", syscall.Errno(112), true},
		{"windows", syscall.Errno(39), true},
		{"windows", syscall.Errno(1295), true},
		{"windows", syscall.Errno(5), false},
	} {
		wrapped := New("a", "b").WithCause(&fs.PathError{Op: "write", Path: "f", Err: tt.err})
		if got := noSpace(tt.system, wrapped); got != tt.want {
			t.Errorf("%s, %d: got %v", tt.system, tt.err, got)
		}
	}
}

// A value of any length in a line does not fill the screen; a line to paste stays whole.
func TestLongLines(t *testing.T) {
	long := strings.Repeat("é", 100_000)
	e := Usagef("invalid --x %q: must be a number", long).WithFact("message", long).Suggest(Option("--y", long))
	lines := Lines(e, false)
	if len(lines) != 3 || !strings.HasSuffix(lines[0].Text, `é": must be a number`) || !strings.Contains(lines[0].Text, " characters left out) … é") {
		t.Fatalf("got %d lines, the first ends in %q", len(lines), lines[0].Text[len(lines[0].Text)-50:])
	}
	for _, l := range lines {
		if n := utf8.RuneCountInString(l.Text); !l.Pasted && n > mostText+100 || l.Pasted && n < 100_000 {
			t.Errorf("%s: %d characters", l.Head, n)
		}
	}
	if short := strings.Repeat("é", mostText); shorten(short) != short {
		t.Error("a line that fits is shortened")
	}
}

func TestExitOf(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		want Exit
	}{
		{"nil", nil, OK},
		{"any", io.EOF, Failure},
		{"new", New("a", "b"), Failure},
		{"usage", Usagef("a"), Usage},
		{"not found", NotFoundf("a"), NotFound},
		{"its own", New("a", "b").WithCode(Denied), Denied},
		{"wrapped by fmt", fmt.Errorf("x: %w", NotFoundf("a")), NotFound},
		{"joined", errors.Join(io.EOF, New("a", "b").WithCode(Pending)), Pending},
		{"cancelled", context.Canceled, Interrupted},
		{"deadline", fmt.Errorf("x: %w", context.DeadlineExceeded), Timeout},
		{"own code beats the cause", New("a", "b").WithCode(Denied).WithCause(context.Canceled), Denied},
		{"silent", Silent{Code: No}, No},
		{"silent wrapped", fmt.Errorf("x: %w", Silent{Code: Pending}), Pending},
		// An error is never success, even if its maker forgot the code.
		{"no code", &Error{What: "a"}, Failure},
		{"no code but a cause", &Error{What: "a", Cause: context.Canceled}, Interrupted},
		{"no code, cause with code", &Error{What: "a", Cause: NotFoundf("b")}, NotFound},
	} {
		if got := ExitOf(tt.err); got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestWrap(t *testing.T) {
	cause := NotFoundf("queue %q does not exist", "a").WithFact("available", "b").Suggest(Option("--queue", "b"))
	w := Wrap(cause, "cannot start x")
	if w.Error() != `cannot start x: queue "a" does not exist` || ExitOf(w) != NotFound || len(w.Facts) != 1 || len(w.Try) != 1 || !errors.Is(w, cause) {
		t.Errorf("got %+v", w)
	}
	plain := Wrap(fmt.Errorf("read: %w", io.ErrUnexpectedEOF), "cannot load")
	if plain.Error() != "cannot load: read: unexpected EOF" || ExitOf(plain) != Failure || !errors.Is(plain, io.ErrUnexpectedEOF) {
		t.Errorf("got %+v", plain)
	}
	if got := Wrap(context.Canceled, "stopped"); ExitOf(got) != Interrupted {
		t.Errorf("exit %d", got.Code)
	}
	// What lies between an Error and the wrapper may not get lost.
	between := Wrap(fmt.Errorf("in namespace team-a: %w", cause), "cannot start x")
	if want := `cannot start x: in namespace team-a: queue "a" does not exist`; between.Error() != want || len(between.Facts) != 1 {
		t.Errorf("got %q", between.Error())
	}
}

// Two wrappers of one error do not write over each other's lines.
func TestWrapDoesNotShare(t *testing.T) {
	cause := New("a", "b")
	cause.Facts = append(make([]Fact, 0, 8), Fact{"one", "1"})
	cause.Try = append(make([]Suggestion, 0, 8), Option("one"))
	x := Wrap(cause, "x").WithFact("x", "x").Suggest(Option("x"))
	y := Wrap(cause, "y").WithFact("y", "y").Suggest(Option("y"))
	if x.Facts[1].Text != "x" || x.Try[1].String() != "x" || y.Facts[1].Text != "y" || len(cause.Facts) != 1 || len(cause.Try) != 1 {
		t.Errorf("%v %v %v", x, y, cause)
	}
}

func TestText(t *testing.T) {
	e := NotFoundf("priority class %q does not exist on this cluster", "urgent").
		WithFact("available", "inference (100), training (40)").
		WithFact("queue", "one\ntwo").
		WithFact("empty", "").
		Suggest(Option("--priority", "inference"), Option("--priority", "training").WithNote("the lowest"))
	want := `Error: priority class "urgent" does not exist on this cluster
  available:  inference (100), training (40)
  queue:      one
              two
  empty:
  try:        --priority inference
              --priority training   # the lowest
`
	if got := Text(e, false); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := Text(fmt.Errorf("outer: %w", e), false); !strings.HasPrefix(got, "Error: outer: priority") || !strings.Contains(got, "\n  try:        --priority") {
		t.Errorf("got\n%s", got)
	}
	if got := Text(New("a", "b").Suggest(Other("c")), false); got != "Error: a: b\n  try:  c\n" {
		t.Errorf("got %q", got)
	}
	if got := Text(io.EOF, true); got != "Error: EOF\n" {
		t.Errorf("got %q", got)
	}
}

func TestTextOfTheChain(t *testing.T) {
	e := Wrap(fmt.Errorf("GET /x: %w", io.EOF), "cannot list jobs")
	want := "Error: cannot list jobs: GET /x: EOF\n  caused by: GET /x: EOF\n  caused by: EOF\n"
	if got := Text(e, true); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := Text(e, false); strings.Contains(got, "caused by") {
		t.Errorf("the chain shows without debug: %s", got)
	}
	joined := New("two failed", "").WithCause(errors.Join(fmt.Errorf("one: %w", io.EOF), errors.New("two")))
	want = "Error: two failed\n  caused by: one: EOF\n             two\n  caused by: one: EOF\n  caused by: EOF\n  caused by: two\n"
	if got := Text(joined, true); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestSeveral(t *testing.T) {
	one, two := NotFoundf("one"), New("two", "")
	if got := Also(nil, one); got != error(one) {
		t.Errorf("got %v", got)
	}
	first := Also(one, two)
	both, other := Also(first, io.EOF), Also(first, Usagef("x"))
	if got := Each(both); len(got) != 3 || got[0] != error(one) || got[2] != io.EOF {
		t.Errorf("got %v", got)
	}
	if ExitOf(both) != NotFound || !errors.Is(both, io.EOF) || both.Error() != "one\ntwo\nEOF" || errors.Is(other, io.EOF) {
		t.Errorf("%d, %q", ExitOf(both), both.Error())
	}
}

// A suggestion of several faults is one line.
func TestSuggestOnce(t *testing.T) {
	e := Usagef("x").Suggest(Option("--image", "IMAGE"), Option("--name", "NAME")).Suggest(Option("--image", "IMAGE"), Option("--image", "OTHER"))
	if got := fmt.Sprint(e.Try); got != "[--image IMAGE --name NAME --image OTHER]" {
		t.Error(got)
	}
}

// The path of a field as a label keeps its text behind it, and the other facts keep their column.
func TestWideLabel(t *testing.T) {
	e := New("a", "b").WithFact("spec.pytorchReplicaSpecs.Worker.template.spec", "1 -> 2").WithFact("since", "noon").Suggest(Option("--y", "1"))
	var got []string
	for _, l := range Lines(e, false)[1:] {
		got = append(got, l.Head+l.Text)
	}
	if want := "  spec.pytorchReplicaSpecs.Worker.template.spec:  1 -> 2\n  since:  noon\n  try:    --y 1"; strings.Join(got, "\n") != want {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}
