// Package metrics writes measurements in the text exposition format of
// Prometheus, as node-exporter's textfile collector reads it.
package metrics

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Family is a metric and its samples. All families are gauges: what is measured
// is read at one moment, and nothing counts up between two runs.
type Family struct {
	Name    string
	Help    string
	Samples []Sample
}

// Label is a name and a value; the value may be any text.
type Label struct{ Name, Value string }

// Sample is one value.
type Sample struct {
	Labels []Label
	Value  float64
}

// Put adds a sample.
func (f *Family) Put(value float64, labels ...Label) {
	f.Samples = append(f.Samples, Sample{labels, value})
}

// Text writes families in their order, without those that have no sample, and
// samples in the order of their labels.
func Text(families []Family) []byte {
	var b bytes.Buffer
	for _, f := range families {
		if len(f.Samples) == 0 {
			continue
		}
		b.WriteString("# HELP " + f.Name + " " + escape(f.Help, false) + "\n# TYPE " + f.Name + " gauge\n")
		lines := make([]string, len(f.Samples))
		for i, s := range f.Samples {
			lines[i] = f.Name + labels(s.Labels) + " " + number(s.Value) + "\n"
		}
		slices.Sort(lines)
		for _, l := range lines {
			b.WriteString(l)
		}
	}
	return b.Bytes()
}

func labels(all []Label) string {
	if len(all) == 0 {
		return ""
	}
	parts := make([]string, len(all))
	for i, l := range all {
		parts[i] = l.Name + `="` + escape(l.Value, true) + `"`
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func number(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "+Inf"
	case math.IsInf(v, -1):
		return "-Inf"
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// escape writes what would end the line or the value. Text that is not UTF-8,
// which the format does not have, is replaced.
func escape(s string, quoted bool) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(s)
	if quoted {
		s = strings.ReplaceAll(s, `"`, `\"`)
	}
	return s
}
