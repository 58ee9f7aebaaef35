// Package config reads hyperpod's settings: defaults, then the configuration file, then HYPERPOD_ variables.
// The command line puts flags on top (With). Every value has its origin.
package config

import (
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/viper"
)

// Config holds the settings.
type Config struct {
	// Output is the format of -o; empty lets the terminal decide.
	Output string
	// Color is auto, always or never.
	Color string
	// DefaultTemplate is the template of a start-job that names none.
	DefaultTemplate string
	// SandboxDirectory holds sandboxes; empty is the state directory's.
	SandboxDirectory string
	// TemplatesDirectory holds the user's templates; empty is "templates" beside
	// the configuration file.
	TemplatesDirectory string
	// RequestTimeout bounds one request; 0 is no bound.
	RequestTimeout time.Duration
	// Quiet suppresses notices and progress.
	Quiet bool
	// Confirm says when start-job prompts: ConfirmAlways, ConfirmPreempt or ConfirmNever.
	Confirm string
	// Namespace is the default for -n, Context that for --context.
	Namespace, Context string
	// Scheduler is Kubernetes or Slurm; empty lets the machine decide.
	Scheduler string
	// Prometheus is the address of a Prometheus server, which may have a user and a password; empty is none.
	// PrometheusTokenFile has the bearer token for it.
	Prometheus, PrometheusTokenFile string

	// CompletionCache is how long names that completion reads from a cluster are kept; 0 keeps none.
	CompletionCache time.Duration

	// Path is the configuration file, which need not exist.
	Path string

	values map[string]Value
}

// Origin says where a value came from.
type Origin string

// The origins, from the strongest to the weakest.
const (
	FromFlag    Origin = "flag"
	FromEnv     Origin = "env"
	FromFile    Origin = "file"
	FromDefault Origin = "default"
)

// Value is a setting as text, and its origin.
type Value struct {
	Key    string
	Value  string
	Origin Origin
	// Source is the variable or the file, where the origin is one.
	Source string
}

// Shown returns the value as it is shown: without the password of an address.
func (v Value) Shown() string {
	if u, err := url.Parse(v.Value); v.Key == keyPrometheus && err == nil && u.User != nil {
		return u.Redacted()
	}
	return v.Value
}

// Load reads the settings. env is os.Getenv, or a replacement in tests. The warnings name keys of the file that
// do not exist. If the file is missing, the defaults apply. Errors name the file or variable and the key, and
// have exit code 2.
func Load(env func(string) string) (Config, []string, error) {
	path, named, err := location(env)
	if err != nil {
		// Without a home there is no file, but variables still count.
		path = ""
	}
	v := viper.NewWithOptions(viper.KeyDelimiter("::"))
	values := map[string]Value{}
	for _, s := range settings {
		v.SetDefault(s.key, s.standard)
		values[s.key] = Value{s.key, s.standard, FromDefault, ""}
	}
	warnings, err := loadFile(v, values, path, named)
	if err != nil {
		return Config{}, nil, err
	}
	if err := loadEnv(v, values, env); err != nil {
		return Config{}, nil, err
	}
	return decode(v, values, path, env), warnings, nil
}

// loadFile lays the file's values over the defaults.
func loadFile(v *viper.Viper, values map[string]Value, path string, named bool) ([]string, error) {
	if path == "" {
		return nil, nil
	}
	f, err := readFile(path)
	if os.IsNotExist(err) {
		if named {
			return []string{path + ", the file of " + locationVariable + ", does not exist"}, nil
		}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	found, warnings, err := f.values()
	if err != nil {
		return nil, err
	}
	layer := map[string]any{}
	for key, text := range found {
		layer[key] = text
		values[key] = Value{key, text, FromFile, path}
	}
	return warnings, v.MergeConfigMap(layer)
}

// loadEnv lays HYPERPOD_ variables over everything. viper could read them by
// itself, but only from the process.
func loadEnv(v *viper.Viper, values map[string]Value, env func(string) string) error {
	for _, s := range settings {
		name := s.variable()
		text := env(name)
		if text == "" {
			continue
		}
		text, err := s.normal(text)
		if err != nil {
			return s.invalid(name, env(name), err)
		}
		v.Set(s.key, text)
		values[s.key] = Value{s.key, text, FromEnv, name}
	}
	return nil
}

func decode(v *viper.Viper, values map[string]Value, path string, env func(string) string) Config {
	folder := func(key string) string {
		dir := v.GetString(key)
		base := ""
		if values[key].Origin == FromFile {
			base = filepath.Dir(path)
		}
		return expand(dir, base, env)
	}
	return Config{
		Output: v.GetString(keyOutput), Color: v.GetString(keyColor),
		DefaultTemplate:    v.GetString(keyDefaultTemplate),
		SandboxDirectory:   folder(keySandboxDirectory),
		TemplatesDirectory: folder(keyTemplatesDirectory),
		RequestTimeout:     v.GetDuration(keyRequestTimeout),
		Quiet:              v.GetBool(keyQuiet),
		Confirm:            v.GetString(keyConfirm),
		Namespace:          v.GetString(keyNamespace),
		Context:            v.GetString(keyContext),
		Scheduler:          v.GetString(keyScheduler),
		Prometheus:         v.GetString(keyPrometheus), PrometheusTokenFile: folder(keyPrometheusToken),
		CompletionCache: v.GetDuration(keyCompletionCache),
		Path:            path,
		values:          values,
	}
}

// Values returns every setting with its origin, in the order of Keys.
func (c Config) Values() []Value {
	var out []Value
	for _, s := range settings {
		if v, ok := c.values[s.key]; ok {
			out = append(out, v)
		}
	}
	return out
}

// Value returns one setting and its origin; ok is false for an unknown key.
func (c Config) Value(key string) (v Value, ok bool) {
	v, ok = c.values[key]
	return v, ok
}

// With returns the settings with one given by a flag.
func (c Config) With(key, value string) (Config, error) {
	s, err := settingNamed(key)
	if err != nil {
		return c, err
	}
	given := value
	if value, err = s.normal(given); err != nil {
		return c, s.invalid("--"+key, given, err)
	}
	values := make(map[string]Value, len(c.values))
	for k, v := range c.values {
		values[k] = v
	}
	values[key] = Value{key, value, FromFlag, "--" + key}
	c.values = values
	s.set(&c, value)
	return c, nil
}
