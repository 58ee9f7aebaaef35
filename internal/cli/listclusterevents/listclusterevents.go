// Package listclusterevents is `hyperpod list-cluster-events`.
package listclusterevents

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/clusters"
	"github.com/hyperpod-cli/hyperpod/internal/discovery/aws"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// Options are what was typed.
type Options struct {
	factory.OneCluster
	Factory *factory.Factory
	Group   string
	Node    string
	Since   *factory.PointInTime
	Tail    int
	Follow  bool
	// Tick paces --follow; nil is every 15 seconds.
	Tick <-chan time.Time
}

// pace is how often --follow asks for new events. The rate of ListClusterEvents is
// limited for an account.
const pace = 15 * time.Second

// NewCmd returns the command. Tests pass runF to check the options alone.
func NewCmd(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Factory: f}
	cmd := &cobra.Command{
		Use:     "list-cluster-events CLUSTER",
		Aliases: []string{"list-cluster-event"},
		Short:   "List the events of a HyperPod cluster",
		Long: `List what happened to a HyperPod cluster, its instance groups and its nodes, the
oldest event first. With --follow, the command prints new events as they come,
one per line.`,
		Example: `  hyperpod list-cluster-events ml-prod --since 24h
  hyperpod list-cluster-events ml-prod --node i-0d64806b32c3ee282
  hyperpod list-cluster-events ml-prod --follow`,
		RunE: factory.RunE(o, o.Take, Run, runF),
	}
	fs := cmd.Flags()
	o.AddFlags(f, cmd)
	o.AddGroup(f, cmd, &o.Group, "only events of this instance group")
	fs.StringVar(&o.Node, "node", "", "only events of this instance, or of the Kubernetes node on it")
	o.CompleteNodes(f, cmd, "node")
	factory.OptionalPointInTime(fs, &o.Since, "since", "only events since then: how long ago, or a date in UTC, for example 24h or 2026-01-31 (default: all)")
	fs.IntVar(&o.Tail, "tail", 0, "show at most this many events, the newest (0: all)")
	fs.BoolVarP(&o.Follow, "follow", "f", false, "print new events until interrupted")
	return cmd
}

// Validate checks the options alone.
func (o *Options) Validate() error {
	switch {
	case o.Since != nil && o.Since.Ago < 0:
		return factory.Invalid("since", o.Since.Ago, "must be at least 0")
	case o.Tail < 0:
		return factory.Invalid("tail", o.Tail, "must be at least 0")
	case o.Node != "" && clusters.InstanceOf(o.Node) == "":
		return factory.Invalid("node", o.Node, "must be an instance id or the name of a HyperPod node, for example i-0d64806b32c3ee282")
	}
	return nil
}

// Row is an event.
type Row struct {
	Time          time.Time
	Level         string
	ResourceType  string
	InstanceGroup *string
	InstanceID    *string `json:"InstanceId"`
	Message       string
	EventID       string `json:"EventId"`
}

// Document is what -o json prints.
type Document struct {
	Events []Row `json:"events"`
}

// Run lists the events, or follows them.
func Run(ctx context.Context, o *Options) error {
	f := o.Factory
	format, err := f.Format()
	if err != nil {
		return err
	}
	if err := o.Since.CheckPast("since", f.Now()); err != nil {
		return err
	}
	client, err := f.AWS(ctx, o.Account, "")
	if err != nil {
		return err
	}
	q := aws.EventQuery{Group: o.Group, InstanceID: clusters.InstanceOf(o.Node), Most: o.Tail}
	if o.limited() {
		q.After = o.Since.At(f.Now())
	}
	list, err := client.ListEvents(ctx, o.Cluster, q)
	if err != nil {
		return err
	}
	if o.Follow {
		return o.follow(ctx, client, q, list, format)
	}
	rows := rowsOf(list)
	return output.Print(f.IO, format, Document{rows}, func() output.Table { return table(rows, o.empty()) }, func() (out []string) {
		for _, r := range rows {
			out = append(out, r.EventID)
		}
		return out
	})
}

// follow prints events and those that come after them, one per line. It ends with the
// context.
func (o *Options) follow(ctx context.Context, client *aws.Client, q aws.EventQuery, list []clusters.Event, format output.Format) error {
	tick, stop := factory.Ticks(o.Tick, pace)
	defer stop()
	seen := map[string]bool{}
	for q.Most = 0; ; {
		for _, r := range rowsOf(slices.DeleteFunc(list, func(e clusters.Event) bool { return seen[e.ID] })) {
			seen[r.EventID] = true
			q.After = r.Time
			if err := o.line(r, format); err != nil {
				return err
			}
		}
		if err := o.Factory.IO.Flush(); err != nil {
			return err
		}
		more, err := factory.Next(ctx, tick)
		if !more {
			return err
		}
		if list, err = client.ListEvents(ctx, o.Cluster, q); err != nil {
			return err
		}
	}
}

// line prints one event.
func (o *Options) line(r Row, format output.Format) error {
	text := []byte(output.Safe(strings.Join([]string{r.Time.Format(time.RFC3339), r.Level, subject(r), r.Message}, "  ")) + "\n")
	if !format.IsTable() {
		var err error
		if text, err = output.JSONLine(r); err != nil {
			return err
		}
	}
	_, err := o.Factory.IO.Out.Write(text)
	return err
}

func rowsOf(list []clusters.Event) []Row {
	out := []Row{}
	for _, e := range list {
		r := Row{Time: e.Time, Level: e.Level, ResourceType: e.ResourceType, Message: e.Description, EventID: e.ID}
		if e.Group != "" {
			r.InstanceGroup = &e.Group
		}
		if e.InstanceID != "" {
			r.InstanceID = &e.InstanceID
		}
		out = append(out, r)
	}
	return out
}

// place is what an event is about.
func subject(r Row) string {
	switch {
	case r.InstanceID != nil:
		return *r.InstanceID
	case r.InstanceGroup != nil:
		return *r.InstanceGroup
	}
	return "cluster"
}

// limited reports whether --since leaves out events; 0 does not.
func (o *Options) limited() bool {
	return o.Since != nil && (!o.Since.Time.IsZero() || o.Since.Ago > 0)
}

// empty is the notice about no events.
func (o *Options) empty() string {
	text := "no events of " + o.about()
	switch {
	case !o.limited():
	case o.Since.Time.IsZero():
		text += " in the last " + words.Age(o.Since.Ago)
	default:
		text += " since " + o.Since.Time.UTC().Format(time.RFC3339)
	}
	return text
}

// about names what the requested events are about.
func (o *Options) about() string {
	switch {
	case o.Node != "":
		return "node " + o.Node + " of cluster " + o.Cluster
	case o.Group != "":
		return "instance group " + o.Group + " of cluster " + o.Cluster
	}
	return "cluster " + o.Cluster
}

func table(rows []Row, empty string) output.Table {
	t := output.Table{Columns: []output.Column{{Title: "TIME", Keep: true}, {Title: "LEVEL"}, {Title: "GROUP"}, {Title: "INSTANCE", Keep: true}, {Title: "MESSAGE", Wrap: true}, {Title: "ID", Wide: true}},
		Empty: empty}
	dash := func(s *string) string {
		if s == nil {
			return "-"
		}
		return *s
	}
	for _, r := range rows {
		style := output.Plain
		if strings.HasPrefix(r.Level, "Err") {
			style = output.Bad
		} else if strings.HasPrefix(r.Level, "Warn") {
			style = output.Warn
		}
		t.Rows = append(t.Rows, []output.Cell{{Text: r.Time.Format(time.RFC3339)}, {Text: r.Level, Style: style}, {Text: dash(r.InstanceGroup)}, {Text: dash(r.InstanceID)}, {Text: r.Message}, {Text: r.EventID}})
	}
	return t
}
