package overlay

import (
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

// applySecretEnv sets the variables that come from Secrets, and replaces variables with the same names.
func (s *job) applySecretEnv(c map[string]any) {
	for _, e := range s.SecretEnv {
		if e.Name == "" {
			ref := func(m map[string]any) bool { return jobobject.Inner(m, "secretRef")["name"] == e.Secret }
			c["envFrom"] = append(jobobject.Without(c["envFrom"], ref), map[string]any{"secretRef": map[string]any{"name": e.Secret}})
			continue
		}
		setFrom(c, e.Name, map[string]any{"secretKeyRef": map[string]any{"name": e.Secret, "key": e.Key}})
	}
}

// setFrom sets a variable whose value comes from another object.
func setFrom(c map[string]any, name string, source map[string]any) {
	if old := jobobject.Named(c["env"], name); old != nil {
		delete(old, "value")
		old["valueFrom"] = source
		return
	}
	list, _ := c["env"].([]any)
	c["env"] = append(list, map[string]any{"name": name, "valueFrom": source})
}

// applyEnvironment sets variables in the order of their names. With replace it overwrites those of the
// manifest.
func applyEnvironment(c map[string]any, env map[string]string, replace bool) {
	for _, name := range manifest.SortedKeys(env) {
		if old := jobobject.Named(c["env"], name); old != nil {
			if replace {
				delete(old, "valueFrom")
				old["value"] = env[name]
			}
			continue
		}
		list, _ := c["env"].([]any)
		c["env"] = append(list, map[string]any{"name": name, "value": env[name]})
	}
}
