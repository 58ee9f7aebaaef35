package factory

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// snapshotEnv names the snapshot where --snapshot does not.
const snapshotEnv = "HYPERPOD_SNAPSHOT"

// SnapshotPath returns the file of the snapshot to work on, "" for none. A flag
// wins over the environment; two of one sort that name different clusters are an
// error.
func (f *Factory) SnapshotPath() (string, error) {
	g := f.Global
	other := live(g)
	if g.Sandbox != "" {
		other = "--sandbox"
	}
	switch {
	case g.Sandbox != "" && live(g) != "":
		return "", errs.Usagef("--sandbox cannot be used with %s", live(g)).WithAdvice("choose one of them")
	case g.Snapshot != "" && other != "":
		return "", errs.Usagef("--snapshot cannot be used with %s", other).WithAdvice("choose one of them")
	case g.Snapshot != "" || other != "":
		return snapshotFile(g.Snapshot), nil
	}
	path := f.Env(snapshotEnv)
	if path != "" && f.SandboxName("") != "" {
		return "", errs.Usagef("%s cannot be used with %s", sandboxEnv, snapshotEnv).
			WithAdvice("unset one of them, or choose with --sandbox or --snapshot")
	}
	return snapshotFile(path), nil
}

// snapshotFile returns the path in "snapshot/PATH", which save-snapshot -o name prints,
// unless a folder of that name has the file.
func snapshotFile(path string) string {
	if _, err := os.Stat(path); err == nil {
		return path
	}
	return BareName(path, "snapshot")
}

// live returns the flag that names a live cluster, "" when there is none.
func live(g Global) string {
	switch {
	case g.Context != "":
		return "--context"
	case g.Kubeconfig != "":
		return "--kubeconfig"
	}
	return ""
}

func (f *Factory) openSnapshot(ctx context.Context, path string) (*Cluster, error) {
	s, err := Interruptible(ctx, func() (*Snapshot, error) { return f.Offline.OpenSnapshot(path) })
	if err == nil {
		err = f.tooOld(s)
	}
	if err != nil {
		return nil, err
	}
	now := s.Taken
	if !f.completing {
		f.Notef("note: %s", describeSnapshot(s, f.Now(), f.ClockGiven))
	}
	o := f.clientOptions()
	o.CacheDir = "" // the versions served are in the file
	c := kube.NewInProcess(s.Handler, "snapshot "+path, o)
	return &Cluster{Client: c, Snapshot: s, Context: s.Context, ContextNamespace: s.Namespace, Now: func() time.Time { return now }}, nil
}

// CheckMaxAge refuses --max-age without a snapshot, or with an invalid duration.
func (f *Factory) CheckMaxAge(given bool) error {
	if !given {
		return nil
	}
	path, err := f.SnapshotPath()
	switch {
	case err != nil:
		return err
	case f.Global.MaxAge <= 0:
		return Invalid("max-age", f.Global.MaxAge, "must be greater than 0").Suggest(errs.Option("--max-age", "1h"))
	case path == "":
		return Requires("max-age", "--snapshot").Suggest(errs.Option("--snapshot", "FILE"))
	}
	return nil
}

// tooOld refuses a snapshot that is older than --max-age.
func (f *Factory) tooOld(s *Snapshot) error {
	age := f.Now().Sub(s.Taken)
	if most := f.Global.MaxAge; most <= 0 || age <= most {
		return nil
	}
	return errs.New("snapshot "+s.Path+" is too old", fmt.Sprintf("it is %s old, --max-age is %s", words.Age(age), words.Exact(f.Global.MaxAge))).
		WithFact("taken", s.Taken.Format(time.RFC3339)).Suggest(errs.Run("save-snapshot", s.Path).WithNote("on the cluster: saves it again"))
}

// describeSnapshot says which snapshot is used in place of a cluster, and how old it is.
func describeSnapshot(s *Snapshot, now time.Time, clockGiven bool) string {
	at := s.Taken.Format(time.RFC3339)
	switch {
	case s.Plain && clockGiven:
		return "using snapshot " + s.Path
	case s.Plain:
		return "using snapshot " + s.Path + ", whose newest time is " + at
	}
	text := "using snapshot " + s.Path + " of " + at
	if age := now.Sub(s.Taken); age > time.Minute && !clockGiven {
		text += ", " + words.Age(age) + " ago"
	}
	if s.Scope != "" {
		text += " (namespace " + s.Scope + ")"
	}
	return text
}
