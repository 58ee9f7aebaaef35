package recipe

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/pattern"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
)

// launcherKeys are what an override can say outside of the recipe.
var launcherKeys = []string{"container", "instance_type", "base_results_dir", "cluster_type",
	"git.repo_url_or_path", "git.branch", "git.commit", "git.entry_script", "git.entry_module", "git.use_default",
	"cluster.namespace", "cluster.service_account_name", "cluster.pullPolicy", "cluster.restartPolicy", "cluster.cleanPodPolicy",
	"cluster.priority_class_name", "cluster.queue_name"}

// override applies a JSON object to the recipe.
func (r *reader) override(text string) error {
	if text == "" {
		return nil
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var object map[string]any
	if err := d.Decode(&object); err != nil || d.More() {
		return setting.Overrides.InvalidSecret("must be a JSON object").
			Suggest(setting.Overrides.Option(`{"recipes.trainer.num_nodes": 2}`))
	}
	flat := map[string]any{}
	flatten("", object, flat)
	var unknown []string
	for _, key := range slices.Sorted(maps.Keys(flat)) {
		path, adds := strings.CutPrefix(key, "+")
		if inside, ok := strings.CutPrefix(path, "recipes."); ok {
			if err := r.assign(inside, flat[key], adds); err != nil {
				return err
			}
			continue
		}
		value, isText := scalar(flat[key])
		if !slices.Contains(launcherKeys, path) && !strings.HasPrefix(path, "env_vars.") || !isText {
			unknown = append(unknown, path)
			continue
		}
		r.launcher[path] = value
	}
	if len(unknown) > 0 {
		e := setting.Overrides.InvalidSecret("%s cannot be converted", strings.Join(unknown, ", "))
		if near := errs.Near(unknown[0], launcherKeys); len(near) > 0 {
			e.WithFact("did you mean", strings.Join(near, ", "))
		}
		return e.WithFact("supported", "recipes.*, env_vars.*, "+strings.Join(launcherKeys, ", ")).
			WithAdvice("set volumes, labels, annotations and nodes with flags")
	}
	if t := r.launcher["cluster_type"]; t != "" && t != "k8s" {
		return setting.Overrides.InvalidSecret("cluster_type %q must be k8s", t)
	}
	return nil
}

// flatten turns nested objects into dotted keys.
func flatten(at string, v any, out map[string]any) {
	if m, ok := v.(map[string]any); ok && (len(m) > 0 || at == "") {
		for k, c := range m {
			if at != "" {
				k = at + "." + k
			}
			flatten(k, c, out)
		}
		return
	}
	out[at] = v
}

func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case json.Number:
		return v.String(), true
	}
	return "", false
}

// assign sets a value of the recipe. A path that the recipe does not have is an error unless + adds it, as in
// Hydra.
func (r *reader) assign(path string, v any, adds bool) error {
	keys := strings.Split(path, ".")
	at := r.root
	for i, key := range keys {
		last := i == len(keys)-1
		next := child(at, key)
		if next == nil {
			if !adds {
				return setting.Overrides.InvalidSecret("the recipe has no %s%s", path, manifest.Suggest(key, keysOf(at))).
					WithAdvice("+recipes." + path + " adds it")
			}
			if at.Kind != yaml.MappingNode {
				return setting.Overrides.InvalidSecret("recipes.%s: %s is not a map", path, strings.Join(keys[:i], "."))
			}
			next = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
			at.Content = append(at.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, next)
		}
		if last {
			var n yaml.Node
			if err := n.Encode(plain(v)); err != nil {
				return setting.Overrides.InvalidSecret("the value of recipes.%s is not valid", path)
			}
			*next = n
			return nil
		}
		at = next
	}
	return nil
}

// plain turns JSON's numbers into YAML's.
func plain(v any) any {
	switch v := v.(type) {
	case json.Number:
		n := &yaml.Node{Kind: yaml.ScalarNode, Value: v.String()}
		if strings.ContainsAny(n.Value, ".eE") {
			n.Tag = "!!float"
		} else {
			n.Tag = "!!int"
		}
		return n
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = plain(v[i])
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k := range v {
			out[k] = plain(v[k])
		}
		return out
	}
	return v
}

func keysOf(n *yaml.Node) []string {
	var out []string
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		out = append(out, n.Content[i].Value)
	}
	return out
}

var interpolation = pattern.Lazy(`\$\{([^${}]*)\}`)

// resolveAll resolves the interpolations of OmegaConf in the whole recipe.
func (r *reader) resolveAll() error { return r.resolveIn(r.root, nil, 0) }

func (r *reader) resolveIn(n *yaml.Node, path []string, depth int) error {
	if depth > 100 {
		return errs.Usagef("%s is nested too deeply", r.path)
	}
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if err := r.resolveIn(n.Content[i+1], append(slices.Clone(path), n.Content[i].Value), depth+1); err != nil {
				return err
			}
		}
	case yaml.SequenceNode:
		for i, item := range n.Content {
			if err := r.resolveIn(item, append(slices.Clone(path), strconv.Itoa(i)), depth+1); err != nil {
				return err
			}
		}
	case yaml.ScalarNode:
		return r.resolve(n, path)
	}
	return nil
}

// resolve resolves the interpolations of one scalar, innermost first.
func (r *reader) resolve(n *yaml.Node, path []string) error {
	at := strings.Join(path, ".")
	for range 20 {
		m := interpolation().FindStringSubmatchIndex(n.Value)
		if m == nil {
			return nil
		}
		value, err := r.lookup(n.Value[m[2]:m[3]], path)
		if err != nil {
			return errs.Usagef("%s, line %d: %s: %v", r.path, n.Line, at, err)
		}
		if m[0] == 0 && m[1] == len(n.Value) { // alone it takes the value's type
			line := n.Line
			*n = *value
			n.Line, n.Anchor = line, ""
			if n.Kind != yaml.ScalarNode {
				return nil
			}
			continue
		}
		if value.Kind != yaml.ScalarNode {
			return errs.Usagef("%s, line %d: %s: a map or list inside of text", r.path, n.Line, at)
		}
		text := value.Value
		if value.ShortTag() == "!!null" {
			text = "null"
		}
		n.Value = n.Value[:m[0]] + text + n.Value[m[1]:]
		n.Tag, n.Style = "!!str", 0
	}
	return errs.Usagef("%s, line %d: %s: the interpolations form a cycle", r.path, n.Line, at)
}

// lookup returns the value of ${name}: another value, or one that the launcher computes.
func (r *reader) lookup(name string, path []string) (*yaml.Node, error) {
	if resolver, args, has := strings.Cut(name, ":"); has {
		return calculate(resolver, args)
	}
	if rest, ok := strings.CutPrefix(name, "recipes."); ok {
		name = rest
	} else if v, ok := r.launcher[name]; ok {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: v}, nil
	}
	if strings.HasPrefix(name, ".") {
		up := len(name) - len(strings.TrimLeft(name, "."))
		if up > len(path) {
			return nil, fmt.Errorf("${%s} leads out of the recipe", name)
		}
		name = strings.Join(append(slices.Clone(path[:len(path)-up]), strings.TrimLeft(name, ".")), ".")
	}
	if name == strings.Join(path, ".") {
		return nil, fmt.Errorf("${%s} is part of a cycle", name)
	}
	n := r.find(name)
	if n == nil {
		return nil, fmt.Errorf("there is no %s", name)
	}
	return n, nil
}

// calculate computes the launcher's own resolvers.
func calculate(resolver, args string) (*yaml.Node, error) {
	x, y, found := strings.Cut(args, ",")
	a, err1 := strconv.Atoi(strings.TrimSpace(x))
	b, err2 := strconv.Atoi(strings.TrimSpace(y))
	if !slices.Contains([]string{"multiply", "divide_ceil", "divide_floor"}, resolver) {
		return nil, fmt.Errorf("the resolver %q is not understood: override the value", resolver)
	}
	if !found || err1 != nil || err2 != nil || resolver != "multiply" && b == 0 {
		return nil, fmt.Errorf("%s takes two whole numbers", resolver)
	}
	n := a * b
	if resolver != "multiply" {
		n = a / b
		rest := a % b
		switch {
		case rest != 0 && resolver == "divide_ceil" && (rest > 0) == (b > 0):
			n++
		case rest != 0 && resolver == "divide_floor" && (rest > 0) != (b > 0):
			n--
		}
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.Itoa(n)}, nil
}
