package values

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
)

// SecretEnv gives containers environment variables from a Secret of their namespace: the variable Name with the
// value of Key, or, if Name is "", one variable for every key of the Secret.
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
		return e, secretEnvError("the name of the variable is missing")
	}
	return e, e.check()
}

func secretEnvError(why string) error {
	return setting.SecretEnvironment.InvalidSecret("%s", why).
		Suggest(setting.SecretEnvironment.Option("HF_TOKEN=my-secret:token"), setting.SecretEnvironment.Option("my-secret"))
}

// check validates the names. Errors show them: names of Secrets are not secret.
func (e SecretEnv) check() error {
	switch {
	case e.Name != "" && !envName().MatchString(e.Name):
		return secretEnvError(manifest.QuoteText(e.Name) + " is not a valid name of an environment variable")
	case len(validation.IsDNS1123Subdomain(e.Secret)) > 0:
		return secretEnvError(manifest.QuoteText(e.Secret) + " is not a valid name of a Secret")
	case e.Name != "" && len(validation.IsConfigMapKey(e.Key)) > 0:
		return secretEnvError(manifest.QuoteText(e.Key) + " is not a valid key of a Secret")
	}
	return nil
}

// checkEnvironment validates names, and refuses variables that are given twice.
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
			return errs.Usagef("both %s and %s set %s", setting.Environment, setting.SecretEnvironment, e.Name)
		}
	}
	return nil
}
