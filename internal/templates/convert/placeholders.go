package convert

import (
	"maps"
	"slices"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/fieldpath"
	"github.com/hyperpod-cli/hyperpod/internal/templates/instances"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/origin"
	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
	"github.com/hyperpod-cli/hyperpod/internal/templates/resolve"
	"github.com/hyperpod-cli/hyperpod/internal/templates/secret"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
	"github.com/hyperpod-cli/hyperpod/internal/templates/validate"
)

// field adds a substitution for a field of a map, or another place of the same parameter.
func (m *maker) field(p parse.Param, at map[string]any, key string) {
	p.Default = at[key]
	m.substitutions = append(m.substitutions, substitution{p, func(placeholder string) { at[key] = placeholder }})
}

// findImage finds the image of the main container, wherever it occurs.
func (m *maker) findImage(view *jobobject.View) {
	image := ""
	for _, r := range view.Roles() {
		if c := jobobject.Container(r.Pod()); r.Trains && c != nil && image == "" {
			image = manifest.TextOf(c["image"])
		}
	}
	for _, r := range view.Roles() {
		for _, list := range []string{"initContainers", "containers"} {
			for _, c := range jobobject.MapsIn(r.Pod()[list]) {
				if image != "" && c["image"] == image {
					m.field(parse.Param{Name: setting.Image.Placeholder(), Type: "string", Help: "container image"}, c, "image")
				}
			}
		}
	}
}

// findNodes finds the number of workers, if one role counts them.
func (m *maker) findNodes(view *jobobject.View) {
	var counted []jobobject.Role
	for _, r := range view.Roles() {
		if r.Trains && slices.Equal(r.Counter(), []string{"replicas"}) {
			counted = append(counted, r)
		}
	}
	if len(counted) != 1 {
		return
	}
	if _, ok := manifest.Count(counted[0].Part["replicas"]); ok {
		m.optional = append(m.optional, setting.NodeCount.Placeholder())
		m.field(parse.Param{Name: setting.NodeCount.Placeholder(), Type: "int", Help: "number of worker pods"}, counted[0].Part, "replicas")
	}
}

// findCounts finds the numbers of pods and processes in the launching command. As placeholders they follow the
// flags.
func (m *maker) findCounts(view *jobobject.View) {
	seen := map[string]bool{}
	for _, r := range view.Starters() {
		c := jobobject.Container(r.Pod())
		for _, key := range []string{"command", "args"} {
			list, _ := c[key].([]any)
			_, found := countsIn(strings.Join(wordsOf(list), " "), nil)
			for _, name := range found {
				if name != setting.NodeCount.Placeholder() && !seen[name] {
					seen[name] = true
					m.optional = append(m.optional, name)
					m.substitutions = append(m.substitutions, substitution{parse.Param{Name: name, Type: "int", Help: countHelp[name]}, func(string) {}})
				}
			}
		}
	}
}

var countHelp = map[string]string{setting.TasksPerNode.Placeholder(): "processes in each pod", setting.Processes.Placeholder(): "processes of all pods (computed)"}

func wordsOf(list []any) []string {
	out := make([]string, len(list))
	for i := range list {
		out[i] = manifest.TextOf(list[i])
	}
	return out
}

// countParams are the parameters that stand for the numbers of launching flags.
var countParams = map[string]string{"-np": setting.Processes.Placeholder(), "--nnodes": setting.NodeCount.Placeholder(),
	"--nproc-per-node": setting.TasksPerNode.Placeholder(), "--nproc_per_node": setting.TasksPerNode.Placeholder()}

// countsIn puts placeholders into the counts of a launching command and returns
// the parameters that it has numbers for.
func countsIn(text string, params map[string]bool) (string, []string) {
	var found []string
	out := validate.CountFlag().ReplaceAllStringFunc(text, func(match string) string {
		g := validate.CountFlag().FindStringSubmatch(match)
		name := countParams[g[1]]
		if g[3] != "" || name == "" {
			return match
		}
		found = append(found, name)
		if !params[name] {
			return match
		}
		return strings.TrimSuffix(match, g[2]) + "${" + name + "}"
	})
	return out, found
}

// findType finds the instance type in the node selector.
func (m *maker) findType(r jobobject.Role) {
	selector := jobobject.Inner(r.Pod(), "nodeSelector")
	if _, ok := selector[kinds.InstanceTypeLabel].(string); ok && r.Trains {
		m.optional = append(m.optional, setting.InstanceType.Placeholder())
		m.field(typeParam, selector, kinds.InstanceTypeLabel)
	}
	affinity := jobobject.Inner(r.Pod(), "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
	for _, term := range jobobject.MapsIn(affinity["nodeSelectorTerms"]) {
		for _, e := range jobobject.MapsIn(term["matchExpressions"]) {
			values, _ := e["values"].([]any)
			if e["key"] != kinds.InstanceTypeLabel || e["operator"] != "In" || len(values) != 1 || !r.Trains {
				continue
			}
			p := typeParam
			p.Default = values[0]
			m.optional = append(m.optional, setting.InstanceType.Placeholder())
			m.substitutions = append(m.substitutions, substitution{p, func(placeholder string) { values[0] = placeholder }})
		}
	}
}

var typeParam = parse.Param{Name: setting.InstanceType.Placeholder(), Type: "string", Help: "instance type of the nodes"}

// findDevices finds accelerators and EFA interfaces, in requests and limits.
func (m *maker) findDevices(r jobobject.Role) {
	c := jobobject.Container(r.Pod())
	for _, list := range []string{"requests", "limits"} {
		amounts := jobobject.Inner(c, "resources", list)
		for _, k := range manifest.SortedKeys(amounts) {
			p := parse.Param{Type: "int"}
			switch {
			case resolve.IsAccelerator(k) && !strings.HasPrefix(k, instances.MIGPrefix):
				p.Name, p.Help = setting.Accelerators.Placeholder(), "accelerators for each pod"
			case k == instances.EFA:
				p.Name, p.Help = setting.EFA.Placeholder(), "EFA interfaces for each pod"
			default:
				continue
			}
			if n, ok := manifest.Count(amounts[k]); ok && r.Trains {
				amounts[k] = int64(n)
				m.optional = append(m.optional, p.Name)
				m.field(p, amounts, k)
			}
		}
	}
}

// findSecrets turns environment values and options that look secret into required parameters, because others read a
// template.
func (m *maker) findSecrets(view *jobobject.View) {
	m.secrets = map[string]any{}
	for _, r := range view.Roles() {
		for _, list := range []string{"initContainers", "containers"} {
			for _, c := range jobobject.MapsIn(r.Pod()[list]) {
				for _, e := range jobobject.MapsIn(c["env"]) {
					name, value := manifest.TextOf(e["name"]), manifest.TextOf(e["value"])
					if value == "" || !secret.Name(name) || !parse.ParamName().MatchString(name) {
						continue
					}
					if v, twice := m.secrets[name]; twice && v != value {
						continue // another value under the same name: see the note
					}
					m.keepSecret(name, value, "environment variable with this name", func(p string) { e["value"] = p })
				}
			}
		}
	}
	for _, r := range view.Roles() {
		for _, list := range []string{"initContainers", "containers"} {
			for _, c := range jobobject.MapsIn(r.Pod()[list]) {
				for _, key := range []string{"command", "args"} {
					words, _ := c[key].([]any)
					m.findSecretOptions(words)
				}
			}
		}
	}
}

// keepSecret makes a required parameter of a secret value.
func (m *maker) keepSecret(name, value, help string, replace func(string)) {
	m.secrets[name] = value
	m.notef("the value of %s may be secret and is not copied: %[1]s is now a required parameter", name)
	m.substitutions = append(m.substitutions, substitution{parse.Param{Name: name, Type: "string", Required: true, Help: help}, replace})
}

// findSecretOptions does the same with options whose names suggest secrets: --token=VALUE, or --token and VALUE. The
// text of a shell is left as it is.
func (m *maker) findSecretOptions(words []any) {
	for i, word := range words {
		text := manifest.TextOf(word)
		option, value, joined := strings.Cut(text, "=")
		if !joined && i+1 < len(words) {
			value = manifest.TextOf(words[i+1])
		}
		bare := strings.TrimLeft(option, "-")
		if bare == option || bare == "" || strings.ContainsAny(option, " \t\n") || !secret.Name(bare) || value == "" || strings.HasPrefix(value, "-") || strings.Contains(value, "$") {
			continue
		}
		name := strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(bare))
		if have, twice := m.secrets[name]; twice && have != value {
			name += "_OPTION"
		}
		if have, twice := m.secrets[name]; twice && have != value || !parse.ParamName().MatchString(name) {
			continue
		}
		m.keepSecret(name, value, "value of "+option, func(p string) {
			if joined {
				words[i] = option + "=" + p
			} else {
				words[i+1] = p
			}
		})
	}
}

// findOrigin finds the fields that the parameters of the job's template filled in. A
// parameter whose fields do not agree any more is left out.
func (m *maker) findOrigin() {
	r := origin.Parse(m.Origin)
	values, places := map[string]string{}, map[string][]string{}
	bad := map[string]bool{}
	for _, path := range r.Paths() {
		steps, err := fieldpath.Parse(path)
		if err != nil {
			continue
		}
		v, found := fieldpath.Lookup(m.job, steps)
		own, fits := r.Values(path, manifest.TextOf(v))
		if !found || !fits {
			continue
		}
		for name, value := range own {
			if before, twice := values[name]; twice && before != value {
				bad[name] = true
			}
			values[name] = value
			places[name] = append(places[name], path)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		p := parse.Param{Name: name, Type: r.Types[name], Help: "parameter of the template of the job"}
		value, err := p.Convert(values[name])
		if bad[name] || err != nil || !parse.ParamName().MatchString(name) {
			continue
		}
		p.SetDefault(value)
		m.optional = append(m.optional, name)
		for _, path := range places[name] {
			m.substitutions = append(m.substitutions, substitution{p, func(string) { _ = fieldpath.Set(m.job, path, m.original(r, path)) }})
		}
	}
}

// original returns the text of the template for a field, with placeholders for the numbers of
// pods and processes where the job has them.
func (m *maker) original(r origin.Record, path string) string {
	counted := map[string]bool{}
	for _, s := range m.substitutions {
		counted[s.param.Name] = true
	}
	text, _ := countsIn(r.Fields[path], counted)
	return text
}
