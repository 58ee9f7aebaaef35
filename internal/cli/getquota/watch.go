package getquota

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/findteam"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/quota"
	"github.com/hyperpod-cli/hyperpod/internal/state"
)

// pace is how often a change is shown at most.
const pace = 500 * time.Millisecond

// watch goes on showing the quota until Ctrl-C.
func (o *Options) watch(ctx context.Context, c *factory.Cluster, format output.Format) error {
	f := o.Factory
	var show func(view) error
	switch {
	case format.IsTable():
		wide := format.Name == output.Wide
		// A row is known by its team, resource and flavor.
		live := output.NewLiveTable(f.IO, wide, 1)
		show = func(v view) error {
			t := v.table(wide)
			live.Key(keyColumns(t, wide))
			for _, p := range v.problems {
				t.Notes = append(t.Notes, "warning: "+p.Text)
			}
			return live.Update(t)
		}
	case format.Name == output.JSON:
		show = (&changes{out: f.IO}).show
	default:
		return errs.Usagef("--watch has no output format %s", format.Name).WithFact("it has", "table, wide, json")
	}
	tick := o.Tick
	if tick == nil {
		t := time.NewTicker(pace)
		defer t.Stop()
		tick = t.C
	}
	said := false
	return state.Follow(ctx, c.Client, o.want(c), state.Pace{Tick: tick, Now: c.Now}, func(s *state.State) error {
		if !said {
			findteam.Notes(f, s.Missing)
			said = true
		}
		v, err := o.view(s)
		if err != nil {
			return err
		}
		if err := show(v); err != nil {
			return err
		}
		return f.IO.Flush()
	})
}

// keyColumns is how many of the first columns that are shown tell rows apart.
func keyColumns(t output.Table, wide bool) int {
	n := 0
	for _, c := range t.Columns {
		switch {
		case c.Wide && !wide:
		case c.Right || c.Bar:
			return max(n, 1)
		default:
			n++
		}
	}
	return max(n, 1)
}

// changes prints one JSON object a line for each row that is new, changed or gone.
type changes struct {
	out  *output.IO
	last map[string][]byte
}

func (c *changes) show(v view) error {
	var b bytes.Buffer
	now := map[string][]byte{}
	put := func(kind string, row []byte) {
		b.WriteString(`{"Type":"` + kind + `",`)
		b.Write(row[1:])
		b.WriteByte('\n')
	}
	for _, r := range rowsOf(v.document) {
		var row bytes.Buffer
		e := json.NewEncoder(&row)
		e.SetEscapeHTML(false)
		if err := e.Encode(r.value); err != nil {
			return err
		}
		data := bytes.TrimSpace(row.Bytes())
		now[r.key] = data
		switch old, had := c.last[r.key]; {
		case !had:
			put("ADDED", data)
		case !bytes.Equal(old, data):
			put("MODIFIED", data)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.last)) {
		if _, here := now[key]; !here {
			put("DELETED", c.last[key])
		}
	}
	c.last = now
	if b.Len() == 0 {
		return nil
	}
	_, err := c.out.Out.Write(b.Bytes())
	return err
}

type keyed struct {
	key   string
	value any
}

func rowsOf(document any) []keyed {
	var out []keyed
	switch d := document.(type) {
	case quota.Document:
		for _, q := range d.Quota {
			out = append(out, keyed{q.ClusterQueue + "\x00" + q.Resource, q})
		}
	case nodesDocument:
		for _, c := range d.Capacity {
			out = append(out, keyed{strings.Join([]string{c.InstanceType, c.NodeGroup}, "\x00"), c})
		}
	}
	return out
}
