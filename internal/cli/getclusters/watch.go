package getclusters

import (
	"context"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/discovery/aws"
	"github.com/hyperpod-cli/hyperpod/internal/output"
)

// pace is how often --watch reads the clusters. The rate of DescribeCluster is limited
// for an account.
const pace = 30 * time.Second

// watch shows the clusters until the context ends. Once they could be listed, a read that
// fails is a note, and the next one is tried. Each note is printed once.
func (o *Options) watch(ctx context.Context, client *aws.Client, format output.Format) error {
	f := o.Factory
	var show func([]cluster) error
	switch {
	case format.IsTable():
		live := output.NewLiveTable(f.IO, format.Name == output.Wide, 1)
		show = func(found []cluster) error { return live.Update(o.liveTable(found, client.Region())) }
	case format.Name == output.JSON:
		lines := output.NewLines(f.IO)
		show = func(found []cluster) error { return lines.Update(o.lines(found)) }
	default:
		return factory.NoWatch(format)
	}
	tick, stop := factory.Ticks(o.Tick, pace)
	defer stop()
	told := map[string]bool{}
	tell := func(text string) {
		if !told[text] {
			told[text] = true
			f.Notef("%s", text)
		}
	}
	for first := true; ; first = false {
		switch found, err := o.find(ctx, client); {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && first:
			return err
		case err != nil:
			tell("warning: " + err.Error())
		default:
			for _, text := range notes(found, format) {
				tell(text)
			}
			if err := show(found); err != nil {
				return err
			}
		}
		if err := f.IO.Flush(); err != nil {
			return err
		}
		if more, err := factory.Next(ctx, tick); !more {
			return err
		}
	}
}

// liveTable returns the table with the keys of its rows.
func (o *Options) liveTable(found []cluster, region string) output.Table {
	rows := flat(found)
	t := o.table(rows, region)
	for _, r := range rows {
		t.Keys = append(t.Keys, r.key())
	}
	return t
}

// lines returns the rows by their keys.
func (o *Options) lines(found []cluster) (out []output.Line) {
	if o.Group {
		for _, g := range grouped(found) {
			out = append(out, output.Line{Key: g.Cluster, Value: g})
		}
		return out
	}
	for _, r := range flat(found) {
		out = append(out, output.Line{Key: r.key(), Value: r})
	}
	return out
}

// key tells rows apart.
func (r Row) key() string { return r.Cluster + " " + r.InstanceType }
