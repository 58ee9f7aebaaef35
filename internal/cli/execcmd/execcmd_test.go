package execcmd

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

func TestCommandLine(t *testing.T) {
	for _, c := range []struct {
		args    string
		name    string
		command []string
		prefix  bool
		code    errs.Exit
	}{
		{args: "train -- ls -la", name: "train", command: []string{"ls", "-la"}},
		{args: "--job-name train -p x -- ls", name: "train", command: []string{"ls"}},
		{args: "--name train --all-pods -- sh -c exit -- 1", name: "train", command: []string{"sh", "-c", "exit", "--", "1"}, prefix: true},
		{args: "train --all-pods --prefix=false -- ls", name: "train", command: []string{"ls"}},
		{args: "train --rank 0 -it -- bash", name: "train", command: []string{"bash"}},
		{args: "train ls", code: errs.Usage},
		{args: "train", code: errs.Usage},
		{args: "train --", code: errs.Usage},
		{args: "-- ls", code: errs.Usage},
		{args: "a b -- ls", code: errs.Usage},
		{args: "train --all-pods -p x -- ls", code: errs.Usage},
		{args: "train --rank -1 -- ls", code: errs.Usage},
		{args: "train --role worker -i -- ls", code: errs.Usage},
		{args: "train -t --prefix -- ls", code: errs.Usage},
	} {
		t.Run(c.args, func(t *testing.T) {
			s, _ := output.Test()
			var got *Options
			cmd := NewCmd(&factory.Factory{IO: s}, func(_ context.Context, o *Options) error { got = o; return nil })
			cmd.SilenceErrors, cmd.SilenceUsage = true, true
			cmd.SetArgs(strings.Fields(c.args))
			err := cmd.Execute()
			if errs.ExitOf(err) != c.code {
				t.Fatalf("%v, want exit code %d", err, c.code)
			}
			if err == nil && (got.Name != c.name || !slices.Equal(got.Command, c.command) || got.Prefix != c.prefix) {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestText(t *testing.T) {
	for name, c := range map[string]struct {
		tty    bool
		prefix string
		in     []string
		want   string
	}{
		"a pipe":                  {in: []string{"a\x1b[2J\x00", "\xff\r\n"}, want: "a\x1b[2J\x00\xff\r\n"},
		"a terminal":              {tty: true, in: []string{"a\x1b[2", "J\x00\r\nb"}, want: `a\x1b[2J\x00` + "\nb"},
		"a prefix":                {prefix: "pod-1", in: []string{"one\ntw", "o\n\nlast"}, want: "pod-1 | one\npod-1 | two\npod-1 | \npod-1 | last\n"},
		"half a character":        {tty: true, in: []string{"gr\xc3", "\xb6\xc3\x9fe\n"}, want: "größe\n"},
		"an incomplete character": {tty: true, in: []string{"\xe2\x82"}, want: `\xe2\x82`},
	} {
		t.Run(name, func(t *testing.T) {
			s, b := output.Test()
			s.OutTTY = c.tty
			x := newText(s, c.prefix)
			x.shared = &sync.Mutex{}
			for _, p := range c.in {
				if n, err := x.Write([]byte(p)); n != len(p) || err != nil {
					t.Fatal(n, err)
				}
			}
			if err := x.Close(); err != nil {
				t.Fatal(err)
			}
			if b.Out.String() != c.want {
				t.Errorf("%q, want %q", b.Out.String(), c.want)
			}
		})
	}
}

func TestExitCodes(t *testing.T) {
	s, b := output.Test()
	o := &Options{Factory: &factory.Factory{IO: s}}
	targets := []target{{pod: "a"}, {pod: "b"}, {pod: "c"}}
	denied := &errs.Error{What: "cannot", Code: errs.Denied}
	for _, c := range []struct {
		codes    []int
		failures []error
		want     errs.Exit
	}{
		{[]int{0, 0, 0}, []error{nil, nil, nil}, errs.OK},
		{[]int{0, 9, 7}, []error{nil, nil, nil}, 9},
		{[]int{0, 0, 7}, []error{nil, denied, nil}, errs.Denied},
	} {
		if got := errs.ExitOf(o.sum(targets, c.codes, c.failures)); got != c.want {
			t.Errorf("%v %v: exit code %d, want %d", c.codes, c.failures, got, c.want)
		}
	}
	if err := o.exit(5, nil); errs.ExitOf(err) != 5 || !errors.As(err, new(errs.Silent)) || !strings.Contains(b.Err.String(), "the command exited with code 5") {
		t.Errorf("%v, %q", err, b.Err.String())
	}
}
