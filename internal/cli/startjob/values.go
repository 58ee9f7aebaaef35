package startjob

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates"
)

// oneOf checks a word and gives it its own spelling: "--dry-run Client" is fine.
func oneOf(flag string, value *string, words []string) error {
	if *value == "" {
		return nil
	}
	for _, w := range words {
		if strings.EqualFold(w, *value) {
			*value = w
			return nil
		}
	}
	return errs.Usagef("--%s has no value %q", flag, *value).WithFact("it has", strings.Join(words, ", "))
}

// values turns the flags into the values that are laid over the template. What
// the cluster decides - namespace, queue, priority - is not in them yet.
func (o *Options) values() (templates.Values, error) {
	v := templates.Values{
		Name: o.Name, Image: o.Image, PullPolicy: o.PullPolicy, InstanceType: o.InstanceType,
		VCPU: o.VCPU, Memory: o.Memory, Command: o.Command, EntryScript: o.EntryScript,
		PreScript: o.PreScript, PostScript: o.PostScript, DeepHealthOnly: o.DeepHealthOnly,
		ServiceAccount: o.ServiceAccount, RestartPolicy: o.RestartPolicy, AutoResume: o.AutoResume,
		NodeCount:    o.given("node-count", o.NodeCount),
		TasksPerNode: o.given("tasks-per-node", o.TasksPerNode),
		Accelerators: o.given("accelerators", o.Accelerators),
		EFA:          o.given("efa", o.EFA),
		MaxRetry:     o.given("max-retry", o.MaxRetry),
	}
	var err error
	read := func(f func() error) {
		if err == nil {
			err = f()
		}
	}
	read(func() (e error) { v.ScriptArgs, e = templates.SplitWords(o.ScriptArgs); return e })
	read(func() (e error) { v.Environment, e = pairs("environment", o.Environment); return e })
	read(func() (e error) { v.Labels, e = pairs("label", o.Labels); return e })
	read(func() (e error) { v.Annotations, e = pairs("annotation", o.Annotations); return e })
	read(func() (e error) { v.Set, e = each(o.Set, templates.ParseAssignment); return e })
	read(func() (e error) { v.Volumes, e = each(volumeWords(o.Volumes), templates.ParseVolume); return e })
	read(func() error {
		claims, e := each(split(o.PersistentVolumeClaims), templates.ParsePVC)
		v.Volumes = append(v.Volumes, claims...)
		return e
	})
	if o.LabelSelector != "" {
		read(func() (e error) { v.LabelSelector, e = templates.ParseSelector(o.LabelSelector); return e })
	}
	return v, err
}

func (o *Options) given(flag string, n int) *int {
	if o.changed == nil || !o.changed(flag) {
		return nil
	}
	return templates.Int(n)
}

func each[T any](texts []string, parse func(string) (T, error)) ([]T, error) {
	var out []T
	for _, text := range texts {
		v, err := parse(text)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// split takes the lists apart that v2 separates by commas.
func split(texts []string) []string {
	var out []string
	for _, t := range texts {
		for part := range strings.SplitSeq(t, ",") {
			out = append(out, strings.TrimSpace(part))
		}
	}
	return out
}

// volumeWords splits v2's form; the key=value form has commas of its own.
func volumeWords(texts []string) []string {
	var out []string
	for _, t := range texts {
		if strings.Contains(t, "=") {
			out = append(out, t)
		} else {
			out = append(out, split([]string{t})...)
		}
	}
	return out
}

// pairs reads K=V texts, or a JSON object, into a map.
func pairs(flag string, texts []string) (map[string]string, error) {
	out := map[string]string{}
	for _, t := range texts {
		if strings.HasPrefix(strings.TrimSpace(t), "{") {
			var object map[string]any
			if err := json.Unmarshal([]byte(t), &object); err != nil {
				return nil, errs.Usagef("--%s is no JSON object: %v", flag, err)
			}
			for k, v := range object {
				out[k] = fmt.Sprint(v)
			}
			continue
		}
		k, v, ok := strings.Cut(t, "=")
		if !ok || k == "" {
			return nil, errs.Usagef("--%s wants K=V", flag).WithTry(fmt.Sprintf("--%s NAME=value --%s OTHER=value", flag, flag))
		}
		out[k] = v
	}
	return out, nil
}
