package shell

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/tarball"
)

// fileCommands returns the programs that work on files, with the options that copies use.
func fileCommands() map[string]command {
	return map[string]command{
		"tar":       tarCommand,
		"test":      testCommand,
		"sha256sum": sha256sum,
		"head":      head,
		"tail":      tailCommand,
		"wc":        wc,
		"ls":        ls,
		"mkdir":     mkdir,
		"mv":        mv,
		"rm":        rm,
		"chmod":     chmod,
	}
}

// open opens a file for reading.
func (s *Shell) open(name string) (*os.File, error) {
	if s.Files == nil {
		return nil, fs.ErrNotExist
	}
	f, err := s.Files.Root.Open(s.at(name))
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		_ = f.Close()
		return nil, errors.New("Is a directory")
	}
	return f, nil
}

// create opens a file for writing.
func (s *Shell) create(name string, flags int) (*os.File, error) {
	at, err := s.writable(name)
	if err != nil {
		return nil, err
	}
	return s.Files.Root.OpenFile(at, os.O_CREATE|os.O_WRONLY|flags, 0o644)
}

// reason returns an error as programs word it.
func reason(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "No such file or directory"
	case errors.Is(err, fs.ErrExist):
		return "File exists"
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

func complain(std Streams, program, name string, err error) int {
	fmt.Fprintf(std.Err, "%s: %s: %s\n", program, name, reason(err))
	return 1
}

// tarCommand packs (c) to stdout or unpacks (x) from stdin; -C DIR, other letters are
// accepted.
func tarCommand(s *Shell, _ context.Context, args []string, std Streams) int {
	if len(args) == 0 {
		fmt.Fprintln(std.Err, "tar: nothing to do")
		return misuse
	}
	letters, dir := strings.TrimPrefix(args[0], "-"), "/"
	var names []string
	for i := 1; i < len(args); i++ {
		switch {
		case args[i] == "-C" && i+1 < len(args):
			i++
			dir = args[i]
		case args[i] == "-", args[i] == "--", strings.HasPrefix(args[i], "--no-same-"): // the file of f; the owner is the pod's user in any case
		default:
			names = append(names, args[i])
		}
	}
	if s.Files == nil {
		return complain(std, "tar", dir, errReadOnly)
	}
	info, err := s.Files.Root.Stat(s.at(dir))
	if err == nil && !info.IsDir() {
		err = errors.New("Not a directory")
	}
	if err != nil {
		fmt.Fprintf(std.Err, "tar: %s: Cannot open: %s\n", dir, reason(err))
		return misuse
	}
	switch {
	case strings.Contains(letters, "x"):
		at, err := s.writable(dir)
		if err == nil {
			_, err = tarball.Unpack(std.In, tarball.Unpacking{Root: s.Files.Root, Base: ".", As: at, InPlace: true, AllLinks: true, Begun: func(string, int64) {}, Skipped: func(string, string) {}})
		}
		if err != nil {
			fmt.Fprintf(std.Err, "tar: %s\n", reason(err))
			return misuse
		}
		return 0
	case strings.Contains(letters, "c"):
		return s.pack(dir, names, std)
	}
	fmt.Fprintf(std.Err, "tar: unsupported options %q\n", args[0])
	return misuse
}

func (s *Shell) pack(dir string, names []string, std Streams) int {
	code := 0
	var entries []tarball.Entry
	for _, name := range names {
		from := name
		if !path.IsAbs(name) {
			from = path.Join(dir, name)
		}
		as := path.Clean(strings.TrimLeft(name, "/"))
		if as == "" {
			as = "."
		}
		found, err := tarball.List(s.Files.Root, s.at(from), as, nil, func(string, fs.FileMode) {})
		if err != nil {
			fmt.Fprintf(std.Err, "tar: %s: Cannot stat: %s\n", name, reason(err))
			code = misuse
		}
		entries = append(entries, found...)
	}
	if err := tarball.Pack(std.Out, s.Files.Root, entries, func(int) {}); err != nil {
		return misuse
	}
	return code
}

func testCommand(s *Shell, _ context.Context, args []string, _ Streams) int {
	if len(args) != 2 || s.Files == nil {
		return 1
	}
	info, err := s.Files.Root.Stat(s.at(args[1]))
	switch {
	case err != nil, args[0] == "-d" && !info.IsDir(), args[0] == "-f" && !info.Mode().IsRegular():
		return 1
	}
	return 0
}

// each opens the named files, or stdin where there are none, and sums up the codes.
func (s *Shell) each(program string, names []string, std Streams, do func(name string, in io.Reader) error) int {
	if len(names) == 0 {
		names = []string{"-"}
	}
	code := 0
	for _, name := range names {
		in, end := std.In, func() {}
		if name != "-" {
			f, err := s.open(name)
			if err != nil {
				code = complain(std, program, name, err)
				continue
			}
			in, end = f, func() { _ = f.Close() }
		}
		err := do(name, in)
		end()
		if err != nil {
			code = 1
		}
	}
	return code
}

func sha256sum(s *Shell, _ context.Context, args []string, std Streams) int {
	return s.each("sha256sum", args, std, func(name string, in io.Reader) error {
		sum := sha256.New()
		if _, err := io.Copy(sum, in); err != nil {
			return err
		}
		mark := ""
		if strings.ContainsAny(name, "\\\n\r") { // as GNU coreutils does
			mark, name = `\`, strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`).Replace(name)
		}
		_, err := fmt.Fprintf(std.Out, "%s%x  %s\n", mark, sum.Sum(nil), name)
		return err
	})
}

// bytesOf reads "-c N" or "-cN"; names are the rest.
func bytesOf(args []string) (count string, names []string) {
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "-c" && i+1 < len(args):
			i++
			count = args[i]
		case strings.HasPrefix(args[i], "-c"):
			count = args[i][2:]
		default:
			names = append(names, args[i])
		}
	}
	return count, names
}

func head(s *Shell, _ context.Context, args []string, std Streams) int {
	count, names := bytesOf(args)
	n, err := strconv.ParseInt(count, 10, 64)
	if err != nil || n < 0 {
		fmt.Fprintln(std.Err, "head: only -c BYTES is supported")
		return misuse
	}
	return s.each("head", names, std, func(_ string, in io.Reader) error {
		_, err := io.Copy(std.Out, io.LimitReader(in, n))
		return err
	})
}

func tailCommand(s *Shell, _ context.Context, args []string, std Streams) int {
	count, names := bytesOf(args)
	n, err := strconv.ParseInt(strings.TrimPrefix(count, "+"), 10, 64)
	if err != nil || n < 0 || !strings.HasPrefix(count, "+") {
		fmt.Fprintln(std.Err, "tail: only -c +BYTES is supported")
		return misuse
	}
	return s.each("tail", names, std, func(_ string, in io.Reader) error {
		if _, err := io.CopyN(io.Discard, in, max(n-1, 0)); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		_, err := io.Copy(std.Out, in)
		return err
	})
}

func wc(s *Shell, _ context.Context, args []string, std Streams) int {
	if len(args) == 0 || args[0] != "-c" {
		fmt.Fprintln(std.Err, "wc: only -c is supported")
		return misuse
	}
	return s.each("wc", args[1:], std, func(name string, in io.Reader) error {
		n, err := io.Copy(io.Discard, in)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(std.Out, strings.TrimSpace(fmt.Sprintf("%d %s", n, strings.TrimPrefix(name, "-"))))
		return err
	})
}

func ls(s *Shell, _ context.Context, args []string, std Streams) int {
	if len(args) == 0 {
		args = []string{"/"}
	}
	code := 0
	for _, name := range args {
		if strings.HasPrefix(name, "-") {
			continue
		}
		if s.Files == nil {
			return complain(std, "ls", name, fs.ErrNotExist)
		}
		info, err := s.Files.Root.Stat(s.at(name))
		switch {
		case err != nil:
			code = complain(std, "ls", name, err)
			continue
		case !info.IsDir():
			fmt.Fprintln(std.Out, name)
			continue
		}
		entries, err := fs.ReadDir(s.Files.Root.FS(), s.at(name))
		if err != nil {
			code = complain(std, "ls", name, err)
		}
		for _, e := range entries {
			fmt.Fprintln(std.Out, e.Name())
		}
	}
	return code
}

func mkdir(s *Shell, _ context.Context, args []string, std Streams) int {
	code := 0
	for _, name := range args {
		if name == "-p" {
			continue
		}
		at, err := s.writable(name)
		switch {
		case err != nil:
		case args[0] == "-p":
			err = s.Files.Root.MkdirAll(at, 0o755)
		default:
			err = s.Files.Root.Mkdir(at, 0o755)
		}
		if err != nil {
			code = complain(std, "mkdir", name, err)
		}
	}
	return code
}

func rm(s *Shell, _ context.Context, args []string, std Streams) int {
	code := 0
	force, all := false, false
	for _, name := range args {
		if letters, ok := strings.CutPrefix(name, "-"); ok {
			force, all = force || strings.Contains(letters, "f"), all || strings.Contains(letters, "r")
			continue
		}
		at, err := s.writable(name)
		switch {
		case s.Files == nil:
			err = fs.ErrNotExist
		case err != nil:
		case all && !s.mounted(name):
			err = s.Files.Root.RemoveAll(at)
		default:
			err = s.Files.Root.Remove(at)
		}
		if err != nil && !(force && errors.Is(err, fs.ErrNotExist)) {
			code = complain(std, "rm", name, err)
		}
	}
	return code
}

// mv renames one file or folder.
func mv(s *Shell, _ context.Context, args []string, std Streams) int {
	if len(args) != 2 {
		fmt.Fprintln(std.Err, "mv: a source and a destination are required")
		return misuse
	}
	from, err := s.writable(args[0])
	if err != nil {
		return complain(std, "mv", args[0], err)
	}
	to, err := s.writable(args[1])
	if err != nil {
		return complain(std, "mv", args[1], err)
	}
	if info, err := s.Files.Root.Stat(to); err == nil && info.IsDir() {
		to = path.Join(to, path.Base(from))
	}
	if err := s.Files.Root.Rename(from, to); err != nil {
		return complain(std, "mv", args[0], err)
	}
	return 0
}

func chmod(s *Shell, _ context.Context, args []string, std Streams) int {
	if len(args) < 2 {
		fmt.Fprintln(std.Err, "chmod: a mode and a file are required")
		return misuse
	}
	mode, err := strconv.ParseUint(args[0], 8, 9)
	if err != nil {
		fmt.Fprintf(std.Err, "chmod: invalid mode %q\n", args[0])
		return misuse
	}
	code := 0
	for _, name := range args[1:] {
		at, err := s.writable(name)
		if err == nil {
			err = s.Files.Root.Chmod(at, fs.FileMode(mode))
		}
		if err != nil {
			code = complain(std, "chmod", name, err)
		}
	}
	return code
}
