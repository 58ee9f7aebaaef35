package templates

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
)

// SecretEnv gives containers environment variables out of a Secret of their
// namespace: the variable Name with the value of Key, or, with Name "", one
// variable for every key of the Secret.
type SecretEnv struct{ Name, Secret, Key string }

// ParseSecretEnv reads --environment-from-secret: NAME=SECRET:KEY, NAME=SECRET
// (the key is NAME) or SECRET (all of its keys).
func ParseSecretEnv(text string) (SecretEnv, error) {
	var e SecretEnv
	name, source, named := strings.Cut(text, "=")
	if !named {
		e = SecretEnv{Secret: text}
		return e, e.check()
	}
	secret, key, keyed := strings.Cut(source, ":")
	if !keyed {
		key = name
	}
	e = SecretEnv{Name: name, Secret: secret, Key: key}
	if name == "" {
		return e, secretEnvError("a variable's name is missing")
	}
	return e, e.check()
}

func secretEnvError(why string) error {
	return errs.Usagef("--environment-from-secret is not understood: %s", why).
		WithTry("--environment-from-secret HF_TOKEN=my-secret:token", "--environment-from-secret my-secret")
}

// check validates the names. They are shown: names of Secrets are not secret.
func (e SecretEnv) check() error {
	switch {
	case e.Name != "" && !envName.MatchString(e.Name):
		return secretEnvError(manifest.QuoteText(e.Name) + " cannot be the name of an environment variable")
	case len(validation.IsDNS1123Subdomain(e.Secret)) > 0:
		return secretEnvError(manifest.QuoteText(e.Secret) + " cannot be a Secret's name")
	case e.Name != "" && len(validation.IsConfigMapKey(e.Key)) > 0:
		return secretEnvError(manifest.QuoteText(e.Key) + " cannot be a Secret's key")
	}
	return nil
}

// checkEnvironment validates names, and that nothing is said twice.
func (v Values) checkEnvironment() error {
	for _, name := range manifest.SortedKeys(v.Environment) {
		if why := NotVariable(name); why != "" {
			return errs.Usagef("%s", why)
		}
	}
	for _, e := range v.SecretEnv {
		if err := e.check(); err != nil {
			return err
		}
		if _, twice := v.Environment[e.Name]; twice && e.Name != "" {
			return errs.Usagef("%s is given by --environment and by --environment-from-secret", e.Name)
		}
	}
	return nil
}

// laySecretEnv gives a container the variables out of Secrets, instead of what it
// has under their names.
func (s *settings) laySecretEnv(c map[string]any) {
	for _, e := range s.SecretEnv {
		if e.Name == "" {
			ref := func(m map[string]any) bool { return jobobject.Inner(m, "secretRef")["name"] == e.Secret }
			c["envFrom"] = append(jobobject.Without(c["envFrom"], ref), map[string]any{"secretRef": map[string]any{"name": e.Secret}})
			continue
		}
		setFrom(c, e.Name, map[string]any{"secretKeyRef": map[string]any{"name": e.Secret, "key": e.Key}})
	}
}

// setFrom sets a variable whose value comes from elsewhere.
func setFrom(c map[string]any, name string, source map[string]any) {
	if old := jobobject.Named(c["env"], name); old != nil {
		delete(old, "value")
		old["valueFrom"] = source
		return
	}
	list, _ := c["env"].([]any)
	c["env"] = append(list, map[string]any{"name": name, "valueFrom": source})
}

// layEnvironment sets variables in the order of their names; with replace those
// that the manifest has are overwritten.
func layEnvironment(c map[string]any, env map[string]string, replace bool) {
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
