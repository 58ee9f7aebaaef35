// Package copyfile is `hyperpod copy-file`.
package copyfile

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/podcopy"
	"github.com/hyperpod-cli/hyperpod/internal/cli/podflags"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/transfer"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/tarball"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Options are what was typed on the command line.
type Options struct {
	Factory *factory.Factory
	Kind    string
	Pods    podflags.Flags
	Args    []string
}

// NewCmd returns the command. Tests pass runF to check the options alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	cmd := &cobra.Command{
		Use:     "copy-file SRC DST",
		Aliases: []string{"cp"},
		Short:   "Copy files and folders from or to a pod of a job",
		Long: `Copy a file or a folder from or to a pod of a job: the launcher, head or rank 0,
or the pod that you choose. One side is [NAMESPACE/]JOB:PATH, the other a path
on this machine. A copy into an existing folder keeps its name.

The container's image needs the program tar. After a lost connection, copy-file
compares sizes and SHA-256 hashes and sends what is missing. This needs sh,
sha256sum, head and tail in the image. A file that shrinks during the copy is an
error.

SRC must be a file or a folder: copy-file refuses pipes, sockets and devices. It
follows a link on this machine, and refuses one in a pod. Within a folder, it
skips links that lead out of the folder, with a warning. It refuses an archive
with names outside that folder.

A download keeps the mode of a file that it replaces. A new file has the mode of
the one in the pod, without the bits of the umask.`,
		Example: `  hyperpod copy-file smpv2-llama2:/workspace/checkpoints ./checkpoints
  hyperpod copy-file train.py smpv2-llama2:/workspace/
  hyperpod copy-file smpv2-llama2:/tmp/trace.json . --rank 1`,
		Args: func(*cobra.Command, []string) error { return nil }, // Validate has better words
		RunE: factory.RunE(o, func(cmd *cobra.Command, args []string) error {
			o.Args = args
			if err := o.takeNamespace(cmd); err != nil {
				return err
			}
			return o.Pods.Settle(cmd)
		}, Run, runF),
	}
	factory.AddKindFlag(cmd, &o.Kind)
	o.Pods.AddSingle(f, cmd)
	cmd.ValidArgsFunction = o.complete
	return cmd
}

// takeNamespace takes the namespace of NAMESPACE/NAME:PATH.
func (o *Options) takeNamespace(cmd *cobra.Command) error {
	for i, arg := range o.Args {
		at := transfer.ParseLocation(arg)
		if at.Job == "" {
			continue
		}
		a, err := factory.SplitJob(at.Job, "")
		if err != nil {
			return err
		}
		if a.Namespace == "" {
			continue
		}
		if err := a.Choose(cmd); err != nil {
			return err
		}
		o.Args = slices.Clone(o.Args)
		o.Args[i] = a.Name + strings.TrimPrefix(arg, at.Job)
	}
	return nil
}

// complete completes names of jobs with a colon, beside files.
func (o *Options) complete(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 1 || strings.ContainsAny(prefix, ":/.") {
		return nil, cobra.ShellCompDirectiveDefault
	}
	names, _ := o.Factory.CompleteWith(cmd, prefix, factory.Jobs)
	for i := range names {
		name, note, noted := strings.Cut(names[i], "\t")
		names[i] = name + ":"
		if noted {
			names[i] += "\t" + note
		}
	}
	return names, cobra.ShellCompDirectiveNoSpace
}

// Validate checks the options without looking at a cluster.
func (o *Options) Validate() error {
	form := errs.Run("copy-file", "JOB:/workspace/out", "./out")
	if len(o.Args) != 2 {
		return errs.Usagef("copy-file requires a source and a destination").Suggest(form)
	}
	from, to := transfer.ParseLocation(o.Args[0]), transfer.ParseLocation(o.Args[1])
	switch {
	case from.Path == "" || to.Path == "":
		return errs.Usagef("the path in %q is empty", o.Args[map[bool]int{true: 0, false: 1}[from.Path == ""]]).Suggest(form)
	case from.Job == "" && to.Job == "":
		return errs.Usagef("neither the source nor the destination is in a job: one must be JOB:PATH").Suggest(errs.Run("copy-file", o.Args[0], "JOB:"+o.Args[1]))
	case from.Job != "" && to.Job != "":
		return errs.Usagef("both the source and the destination are in a job: one must be a path of this machine").Suggest(form)
	}
	return nil
}

// Run copies.
func Run(ctx context.Context, o *Options) error {
	from, to := transfer.ParseLocation(o.Args[0]), transfer.ParseLocation(o.Args[1])
	remote := from
	if from.Job == "" {
		remote = to
		info, err := os.Stat(from.Path) // before anything is requested
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return errs.NotFoundf("cannot copy %s: no such file or folder", from.Path).WithCause(err)
		case err != nil:
			return errs.New("cannot copy "+from.Path, errs.FileReason(err)).WithCause(err)
		}
		if err := tarball.CheckSource(from.Path, info.Mode()); err != nil {
			return (&copying{from: from, to: to}).explained(ctx, err)
		}
	}
	job, err := factory.SplitJob(remote.Job, o.Kind)
	if err != nil {
		return err
	}
	f := o.Factory
	cluster, err := f.Cluster(ctx)
	if err != nil {
		return err
	}
	target, err := o.Pods.Single(ctx, f, cluster, podflags.Job{Name: job.Name, Kind: job.Kind}, "copy files")
	if err != nil {
		return err
	}
	c := &copying{podcopy.Copy{Factory: f, Cluster: cluster, Target: target}, from, to}
	if from.Job != "" {
		return c.explained(ctx, c.download(ctx))
	}
	return c.explained(ctx, c.upload(ctx))
}

// copying is one copy.
type copying struct {
	podcopy.Copy
	from, to transfer.Location
}

// download copies from the pod. A folder that exists gets the source below its name.
func (c *copying) download(ctx context.Context) error {
	dir, name := filepath.Split(filepath.Clean(c.to.Path))
	if info, err := os.Stat(c.to.Path); err == nil && info.IsDir() {
		dir, name = c.to.Path, path.Base(path.Clean(c.from.Path))
		if name == "/" || name == "." || name == ".." {
			name = "."
		}
	} else if strings.HasSuffix(c.to.Path, "/") {
		return errs.New("cannot copy to "+c.to.Path, "no such folder")
	}
	dir, name, err := place(dir, name)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return errs.New("cannot copy to "+c.to.Path, errs.FileReason(err)).WithCause(err)
	}
	defer root.Close()
	stop := c.Show(ctx)
	counts, err := transfer.Download{Pod: c.Pod(ctx), From: c.from.Path, Progress: &c.Moved, To: tarball.Unpacking{Root: root, As: filepath.ToSlash(name),
		Begun:   func(string, int64) {},
		Skipped: c.leftOut}}.Copy(ctx)
	stop()
	if err != nil {
		return err
	}
	return c.done(counts, filepath.Join(dir, name))
}

// leftOut says that a link, or what is neither a file, a folder nor a link, is not copied.
func (c *copying) leftOut(name, link string) {
	if link == "" {
		c.Factory.Notef("warning: left out %s: neither a file, a folder nor a link", name)
		return
	}
	c.Factory.Notef("warning: left out %s: a link that leads out of the copied folder (%s)", name, link)
}

// place returns the folder and the name that a download writes: what a link leads to. It refuses what a file must not
// replace, such as a device.
func place(dir, name string) (string, string, error) {
	if dir == "" {
		dir = "."
	}
	file := filepath.Join(dir, name)
	info, err := os.Lstat(file)
	if err != nil || name == "." {
		return dir, name, nil
	}
	what := "cannot copy to " + file
	link := info.Mode()&fs.ModeSymlink != 0
	if link {
		if info, err = os.Stat(file); err != nil {
			return "", "", errs.New(what, "it is a link to a path that does not exist").WithCode(errs.Usage).WithCause(err)
		}
	}
	if mode := info.Mode(); !mode.IsRegular() && !mode.IsDir() {
		return "", "", errs.New(what, "it is "+(&tarball.SourceError{Mode: mode}).Kind()).WithCode(errs.Usage)
	}
	if link && info.Mode().IsRegular() {
		target, err := filepath.EvalSymlinks(file)
		if err != nil {
			return "", "", errs.New(what, errs.FileReason(err)).WithCause(err)
		}
		dir, name = filepath.Split(target)
		if dir == "" {
			dir = "."
		}
	}
	return dir, name, nil
}

// upload copies to the pod. A folder that exists gets the source below its name.
func (c *copying) upload(ctx context.Context) error {
	source, err := filepath.EvalSymlinks(c.from.Path)
	if err != nil {
		return errs.New("cannot copy "+c.from.Path, errs.FileReason(err)).WithCause(err)
	}
	if source, err = filepath.Abs(source); err != nil {
		return errs.New("cannot copy "+c.from.Path, errs.FileReason(err)).WithCause(err)
	}
	folder, err := c.Pod(ctx).IsFolder(ctx, c.to.Path)
	if err != nil && errs.ExitOf(err) != programNotFound { // without test, the path is what it says
		return err
	}
	dir, as := path.Split(path.Clean(c.to.Path))
	switch {
	case folder:
		dir, as = c.to.Path, filepath.Base(source)
	case strings.HasSuffix(c.to.Path, "/"):
		return errs.New("cannot copy to "+c.to.Path, "the container has no such folder").Suggest(errs.Run("exec", c.Target.Job.Name, "-n", c.Target.Job.Namespace, "--", "mkdir", "-p", c.to.Path))
	}
	if dir == "" {
		dir = "."
	}
	root, err := os.OpenRoot(filepath.Dir(source))
	if err != nil {
		return errs.New("cannot copy "+c.from.Path, errs.FileReason(err)).WithCause(err)
	}
	defer root.Close()
	entries, err := tarball.List(root, filepath.Base(source), as, nil, func(path string, _ fs.FileMode) {
		c.leftOut(path, "")
	})
	if err != nil {
		return errs.New("cannot copy "+c.from.Path, c.reason(err)).WithCause(err)
	}
	entries = slices.DeleteFunc(entries, func(e tarball.Entry) bool {
		leaves := e.Link != "" && tarball.Leaves(e.Name, e.Link, as)
		if leaves {
			c.leftOut(e.Path, e.Link)
		}
		return leaves
	})
	stop := c.Show(ctx)
	counts, err := transfer.Upload{Pod: c.Pod(ctx), Root: root, Entries: entries, To: dir, Progress: &c.Moved}.Copy(ctx)
	stop()
	if err != nil {
		return err
	}
	return c.done(counts, c.Target.Pod.Name+":"+path.Join(dir, as))
}

// programNotFound is the exit code of a program that the image does not have.
const programNotFound errs.Exit = 127

func (c *copying) done(n tarball.Counts, where string) error {
	return c.Factory.PrintDone("Copied "+words.Count(n.Files, "file", "files")+" ("+podcopy.Size(n.Bytes)+") to "+where, where)
}

// unfit is the error of a source that is neither a file nor a folder, or of a file that something else replaced.
func (c *copying) unfit(what string, source *tarball.SourceError) error {
	e := errs.New(what, "it is "+source.Kind()).WithCode(errs.Usage).WithCause(source)
	switch {
	case source.Link != "":
		e.WithFact("target", source.Link)
		target := source.Link
		if !path.IsAbs(target) {
			target = path.Join(path.Dir(c.from.Path), target)
		}
		return e.Suggest(errs.Run("copy-file", c.from.Job+":"+target, c.to.Path, "-n", c.Target.Job.Namespace, "--pod", c.Target.Pod.Name, "-c", c.Target.Container).
			WithNote("copies the target of the link"))
	case c.from.Job == "" && path.Clean(filepath.ToSlash(source.Path)) != path.Clean(filepath.ToSlash(c.from.Path)):
		e.Why = source.Error() // within the folder
	}
	return e.WithAdvice("write its content to a file, and copy the file")
}

// explained words the error of a copy.
func (c *copying) explained(ctx context.Context, err error) error {
	var known *errs.Error
	var command *transfer.CommandError
	var shrunk *tarball.ShrunkError
	var outside *tarball.OutsideError
	var source *tarball.SourceError
	what := "cannot copy " + c.from.Path
	switch {
	case err == nil, ctx.Err() != nil:
		return err
	case errors.As(err, &source):
		return c.unfit(what, source)
	case errors.As(err, &shrunk):
		return errs.New(what, shrunk.Error()).WithCause(err).WithAdvice("the copy in the pod is not complete; copy again when the file no longer changes")
	case errors.As(err, &outside):
		return errs.New(what, outside.Error()).WithCause(err)
	case errors.Is(err, transfer.ErrChanged):
		return errs.New(what, "the connection was lost, and the files in the pod changed meanwhile").WithCause(err).WithAdvice("copy again when they no longer change")
	case errors.As(err, &command) && command.Full():
		e := errs.New("cannot copy to "+c.to.Path, "no space left in container "+c.Target.Container).WithFact("message", command.Message).WithCause(err)
		if command.Removed > 0 {
			e.WithFact("removed", words.Count(command.Removed, "incomplete file", "incomplete files"))
		}
		return e
	case errors.As(err, &command) && command.NotFound() && c.from.Job == "":
		return errs.NotFoundf("cannot copy to %s: no such folder in container %s", c.to.Path, c.Target.Container).WithFact("message", command.Message).WithCause(err)
	case errors.As(err, &command) && command.NotFound():
		return errs.NotFoundf("%s: no such file or folder in container %s", what, c.Target.Container).WithFact("message", command.Message).WithCause(err)
	case errors.As(err, &command):
		if c.from.Job == "" {
			what = "cannot copy to " + c.to.Path
		}
		return errs.New(what, command.Command+" failed in container "+c.Target.Container+"; the copy may not be complete").WithFact("message", command.Message).WithCause(err)
	case errs.ExitOf(err) == programNotFound && errors.As(err, &known):
		return errs.New(what, known.Why).WithCause(err).WithAdvice("copying needs the program tar in the image")
	case (kube.LostConnection(err) || errs.ExitOf(err) == errs.NotFound) && c.End().Over(ctx, c.Cluster):
		return c.End().Why(ctx, c.Cluster, "the copy ended").WithAdvice("what was copied so far is not complete").WithCause(err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errs.New(what, "the connection was lost").WithCause(err)
	case errors.As(err, &known):
		return err
	}
	var local *os.LinkError
	var file *fs.PathError
	if c.from.Job != "" && (errors.As(err, &local) || errors.As(err, &file)) {
		what = "cannot copy to " + c.to.Path // a file of this machine
	}
	return errs.New(what, c.reason(err)).WithCause(err)
}

// reason returns why a file of this machine cannot be read or written, with its name if it is one of several.
func (c *copying) reason(err error) string {
	var file *fs.PathError
	own := c.from
	if own.Job != "" {
		own = c.to
	}
	if errors.As(err, &file) && file.Path == filepath.Base(own.Path) {
		return errs.FileReason(err)
	}
	return podcopy.Reason(err)
}
