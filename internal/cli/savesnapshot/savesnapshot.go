// Package savesnapshot is `hyperpod save-snapshot`.
package savesnapshot

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/snapshot"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Options are the settings of one run.
type Options struct {
	Factory *factory.Factory
	// File is where the snapshot goes; "-" is stdout.
	File string
	// Force replaces a file that is not a snapshot.
	Force bool
	// Pseudonyms replaces the names in the file.
	Pseudonyms bool
}

// NewCmd returns the command. Tests pass runF to check the options alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	cmd := &cobra.Command{
		Use:   "save-snapshot FILE",
		Short: "Save the state of the cluster in a file",
		Long: `Save what the read commands, the dry run and simulate use: namespaces, queues,
cohorts, flavors, topologies, priority classes, workloads, jobs, nodes, pods and
Kueue's configuration, as far as you have permission to read them. These
commands then work without a cluster: add --snapshot FILE.

The snapshot has no values of environment variables, commands and arguments, no
secrets, no managed fields, and only the annotations that influence a decision.
It keeps names, labels, images and resource requests. Only you can read the
file. A name that ends in .gz compresses it; - writes to standard output.

With --pseudonyms, you can show the file to people outside your company. The
names of teams, users, jobs, nodes, queues and cohorts, labels, images and the
names of environment variables are replaced, each one by the same pseudonym
everywhere. Commands give the same answers for this file. The names of resources
and instance types, amounts, times and UIDs stay. Nothing records which name a
pseudonym stands for.`,
		Example: `  hyperpod save-snapshot cluster.json.gz
  hyperpod save-snapshot for-support.json.gz --pseudonyms
  hyperpod start-job -f train.yaml --dry-run --snapshot cluster.json.gz
  hyperpod list-jobs -A --snapshot cluster.json.gz`,
		RunE: factory.RunE(o, o.take, Run, runF),
	}
	cmd.Flags().BoolVar(&o.Force, "force", false, "replace the file even if it is not a snapshot")
	cmd.Flags().BoolVar(&o.Pseudonyms, "pseudonyms", false, "replace the names of teams, users, jobs and nodes, labels, images and names of environment variables")
	return cmd
}

func (o *Options) take(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return noFile()
	}
	o.File = args[0]
	return nil
}

// Validate requires the name of a file.
func (o *Options) Validate() error {
	if o.File == "" {
		return noFile()
	}
	return nil
}

func noFile() error {
	return errs.Usagef("exactly one file name is required").Suggest(errs.Run("save-snapshot", "cluster.json.gz"))
}

// Document is the result in JSON and YAML.
type Document struct {
	File    string
	Time    time.Time // of the capture, by the cluster's clock
	Server  string
	Bytes   int64 // of the file
	Objects map[string]int
	Missing []Missing
}

// Missing is a list that could not be read.
type Missing struct {
	Resource  string
	Namespace string
	Reason    string
}

// Run takes the snapshot and writes it.
func Run(ctx context.Context, o *Options) error {
	f := o.Factory
	format, cluster, err := f.Connect(ctx)
	if err != nil {
		return err
	}
	s, err := snapshot.Capture(ctx, cluster.Client, snapshot.Options{
		Namespace: f.Global.Namespace,
		Namespaces: func(ctx context.Context) ([]string, error) {
			return cluster.KnownNamespaces(ctx, "", kinds.PyTorchJob.Resource)
		},
		Context: cluster.Context, ContextNamespace: cluster.ContextNamespace,
		By: "hyperpod " + f.Version, Now: cluster.Now(), Pseudonyms: o.Pseudonyms,
	})
	if err != nil {
		return err
	}
	f.Notes(lacks(s))
	if o.File == "-" {
		return output.Outcome(s.Write(f.IO.JSONOut()), factory.Failures(s.Info.Unread))
	}
	size, err := s.Save(o.File, snapshot.SaveOptions{Force: o.Force})
	if err != nil {
		return err
	}
	err = output.Print(f.IO, format, document(o, s, size), func() output.Table { return table(o, s, size) },
		func() []string { return []string{"snapshot/" + o.File} })
	return output.Outcome(err, factory.Failures(s.Info.Unread))
}

// lacks returns what the snapshot does not have, a line for each reason.
func lacks(s *snapshot.Snapshot) []string {
	why := map[string]string{snapshot.Forbidden: "because of missing permissions: ", snapshot.NotInFile: "because the source file has none: "}
	counts := map[string]int{}
	for _, r := range kinds.All() {
		counts[r.FullName()] = s.Count(r)
	}
	everywhere := map[string]bool{} // the kinds that are missing in more than single namespaces
	for _, m := range s.Lacks() {
		everywhere[m.Resource] = everywhere[m.Resource] || m.Namespace == ""
	}
	var out []string
	for _, reason := range []string{snapshot.Forbidden, snapshot.NotInFile} {
		var none, some []string
		for _, m := range s.Lacks() {
			if m.Reason == reason {
				name := m.Resource
				if m.Namespace != "" && !everywhere[name] {
					name += " (" + m.Namespace + ")"
				}
				if counts[m.Resource] == 0 {
					none = append(none, name)
				} else {
					some = append(some, name)
				}
			}
		}
		if len(none) > 0 {
			out = append(out, "not in the snapshot, "+why[reason]+words.Some(slices.Compact(none), 12))
		}
		if len(some) > 0 {
			out = append(out, "incomplete in the snapshot, "+why[reason]+words.Some(slices.Compact(some), 12))
		}
	}
	return out
}

func document(o *Options, s *snapshot.Snapshot, size int64) Document {
	d := Document{File: o.File, Time: s.Info.Taken, Server: s.Info.Server, Bytes: size, Objects: map[string]int{}, Missing: []Missing{}}
	for _, r := range kinds.All() {
		if n := s.Count(r); n > 0 {
			d.Objects[r.FullName()] = n
		}
	}
	for _, m := range s.Lacks() {
		d.Missing = append(d.Missing, Missing{m.Resource, m.Namespace, m.Reason})
	}
	return d
}

func table(o *Options, s *snapshot.Snapshot, size int64) output.Table {
	t := output.Table{Columns: []output.Column{{Title: "KIND", Keep: true}, {Title: "OBJECTS", Right: true}}}
	for _, r := range kinds.All() {
		if n := s.Count(r); n > 0 {
			t.Rows = append(t.Rows, output.T(r.FullName(), fmt.Sprint(n)))
		}
	}
	t.Notes = []string{fmt.Sprintf("saved %s: %d objects, %s", o.File, s.Objects(), megabytes(size))}
	return t
}

func megabytes(n int64) string {
	if n < 1e6 {
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}
