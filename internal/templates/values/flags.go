package values

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/fieldpath"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
)

// ParsePairs reads the KEY=VALUE values of a repeatable flag. The last value of a key
// wins. Errors show no values: they may be secret.
func ParsePairs(of setting.Setting, pairs []string) (map[string]string, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	out := make(map[string]string, len(pairs))
	for _, p := range pairs {
		k, v, found := strings.Cut(p, "=")
		if k = strings.TrimSpace(k); !found || k == "" {
			return nil, of.InvalidSecret("must be KEY=VALUE")
		}
		out[k] = v
	}
	return out, nil
}

// ParseEnvironment reads --environment values: K=V, or a JSON object of several.
func ParseEnvironment(values []string) (map[string]string, error) {
	var pairs []string
	for _, v := range values {
		if !strings.HasPrefix(strings.TrimSpace(v), "{") {
			pairs = append(pairs, v)
			continue
		}
		object, err := parseObject(v)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, object...)
	}
	return ParsePairs(setting.Environment, pairs)
}

// parseObject reads a JSON object of scalars as K=V pairs. It refuses a key that is given twice or without a
// value, because nobody would notice that mistake later.
func parseObject(text string) ([]string, error) {
	bad := setting.Environment.InvalidSecret("must be KEY=VALUE or a JSON object").
		Suggest(setting.Environment.Option(`{"NCCL_DEBUG": "INFO"}`), setting.Environment.Option("NCCL_DEBUG=INFO"))
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return nil, bad
	}
	var pairs []string
	seen := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		key, isText := token.(string)
		var value any
		if err != nil || !isText || d.Decode(&value) != nil {
			return nil, bad
		}
		switch value.(type) {
		case map[string]any, []any:
			return nil, setting.Environment.InvalidSecret("%s must be a single value", manifest.QuoteText(key))
		case nil:
			return nil, setting.Environment.InvalidSecret("%s must have a value", manifest.QuoteText(key))
		}
		if seen[key] {
			return nil, setting.Environment.InvalidSecret("%s is given twice", manifest.QuoteText(key))
		}
		seen[key] = true
		pairs = append(pairs, key+"="+fmt.Sprint(value))
	}
	if _, err := d.Token(); err != nil || d.More() {
		return nil, bad
	}
	return pairs, nil
}

// ParseAssignments reads --set values in order.
func ParseAssignments(values []string) ([]fieldpath.Assignment, error) {
	var out []fieldpath.Assignment
	for _, v := range values {
		a, err := fieldpath.ParseAssignment(v)
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

// ParseVolumes reads the values of --volumes and --persistent-volume-claims. A value in the form with colons
// can have several volumes, separated by commas.
func ParseVolumes(volumes, claims []string) ([]Volume, error) {
	var out []Volume
	add := func(v Volume, err error) error {
		out = append(out, v)
		return err
	}
	for _, text := range volumes {
		if strings.Contains(text, "=") {
			if err := add(ParseVolume(text)); err != nil {
				return nil, err
			}
			continue
		}
		for _, one := range strings.Split(text, ",") {
			if err := add(ParseVolume(strings.TrimSpace(one))); err != nil {
				return nil, err
			}
		}
	}
	for _, text := range claims {
		for _, one := range strings.Split(text, ",") {
			if err := add(ParsePVC(strings.TrimSpace(one))); err != nil {
				return nil, err
			}
		}
	}
	return out, checkVolumes(out)
}

// checkVolumes refuses names and mount paths that are given twice.
func checkVolumes(volumes []Volume) error {
	mounts, sources := map[string]bool{}, map[string]string{}
	for _, v := range volumes {
		at := filepath.ToSlash(filepath.Clean(v.MountPath))
		if mounts[at] {
			return errs.Usagef("two volumes are mounted at %s", at)
		}
		mounts[at] = true
		source := string(v.Type) + " " + v.Path + v.Claim
		if s, ok := sources[v.VolumeName()]; ok && s != source {
			return errs.Usagef("two volumes are named %s", manifest.QuoteText(v.VolumeName()))
		}
		sources[v.VolumeName()] = source
	}
	return nil
}
