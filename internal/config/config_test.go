package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

// world is a user's environment: a home folder and variables.
type world struct {
	t    *testing.T
	home string
	vars map[string]string
}

func newWorld(t *testing.T) *world {
	home := t.TempDir()
	return &world{t: t, home: home, vars: map[string]string{"HOME": home, "USERPROFILE": home, "AppData": filepath.Join(home, ".config"), "LocalAppData": filepath.Join(home, "local")}}
}

func (w *world) env(name string) string { return w.vars[name] }

func (w *world) path() string { return filepath.Join(w.home, ".config", "hyperpod", "config.yaml") }

func (w *world) write(text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path()), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(w.path(), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) read() string {
	w.t.Helper()
	data, err := os.ReadFile(w.path())
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

func TestDefaults(t *testing.T) {
	w := newWorld(t)
	for _, text := range []string{"", "# nothing but a comment\n", "---\n", "null\n", "output:\ncolor: ~\n"} {
		if text != "" {
			w.write(text)
		}
		c, warnings, err := Load(w.env)
		if err != nil || len(warnings) > 0 {
			t.Fatalf("%q: %v %v", text, warnings, err)
		}
		if c.Output != "" || c.Color != "auto" || c.Quiet || c.RequestTimeout != 0 || c.SandboxDirectory != "" || c.DefaultTemplate != "" || c.Path != w.path() {
			t.Errorf("%q: %+v", text, c)
		}
		if values := c.Values(); len(values) != len(Keys()) || values[0].Key != "output" {
			t.Errorf("%q: %+v", text, values)
		}
	}
}

func TestLayers(t *testing.T) {
	w := newWorld(t)
	w.write("output: yaml\ncolor: never\ndefault-template: fsdp-llama\nsandbox-directory: boxes\ntemplates-directory: ~/templates\nrequest-timeout: 1m30s\nquiet: true\n")
	w.vars["HYPERPOD_COLOR"] = "ALWAYS"
	w.vars["HYPERPOD_QUIET"] = "no"
	w.vars["HYPERPOD_REQUEST_TIMEOUT"] = ""
	c, warnings, err := Load(w.env)
	if err != nil || len(warnings) > 0 {
		t.Fatal(warnings, err)
	}
	c, err = c.With("output", "wide")
	if err != nil {
		t.Fatal(err)
	}
	if c.Output != "wide" || c.Color != "always" || c.Quiet || c.RequestTimeout != 90*time.Second || c.DefaultTemplate != "fsdp-llama" ||
		c.SandboxDirectory != filepath.Join(filepath.Dir(w.path()), "boxes") || c.TemplatesDirectory != filepath.Join(w.home, "templates") {
		t.Errorf("%+v", c)
	}
	for key, want := range map[string]Value{
		"output":          {"output", "wide", FromFlag, "--output"},
		"color":           {"color", "always", FromEnv, "HYPERPOD_COLOR"},
		"quiet":           {"quiet", "false", FromEnv, "HYPERPOD_QUIET"},
		"request-timeout": {"request-timeout", "1m30s", FromFile, w.path()},
	} {
		if got, ok := c.Value(key); !ok || got != want {
			t.Errorf("%s: %+v", key, got)
		}
	}
	if _, ok := c.Value("colour"); ok {
		t.Error("a key that does not exist has a value")
	}
	delete(w.vars, "HYPERPOD_COLOR")
	c, _, err = Load(w.env)
	if v, _ := c.Value("templates-directory"); err != nil || c.Color != "never" || v.Origin != FromFile || v.Value != "~/templates" {
		t.Errorf("%v %+v %v", c.Color, v, err)
	}
}

func TestEveryKeyByEveryWay(t *testing.T) {
	value := map[string]string{"output": "json", "color": "never", "request-timeout": "5s", "quiet": "true", "confirm": "preempt", "namespace": "team", "scheduler": Slurm, "prometheus": "https://ada:s3cret@prometheus.example.com", "completion-cache": "1m0s"}
	for _, s := range Settings() {
		v := value[s.Key]
		if v == "" {
			v = filepath.Join(t.TempDir(), "x")
		}
		w := newWorld(t)
		if _, err := Set(w.env, s.Key, v); err != nil {
			t.Fatal(err)
		}
		fromFile, warnings, err := Load(w.env)
		if err != nil || len(warnings) > 0 {
			t.Fatal(warnings, err)
		}
		w = newWorld(t)
		w.vars[s.Variable] = v
		fromEnv, _, err := Load(w.env)
		if err != nil {
			t.Fatal(err)
		}
		base, _, err := Load(newWorld(t).env)
		if err != nil {
			t.Fatal(err)
		}
		fromFlag, err := base.With(s.Key, v)
		if err != nil {
			t.Fatal(err)
		}
		if with, _ := base.Value(s.Key); with.Origin != FromDefault || with.Value != s.Default {
			t.Errorf("%s: With changed its receiver: %+v", s.Key, with)
		}
		for origin, c := range map[Origin]Config{FromFile: fromFile, FromEnv: fromEnv, FromFlag: fromFlag} {
			if got, _ := c.Value(s.Key); got.Value != v || got.Origin != origin {
				t.Errorf("%s by %s: %+v", s.Key, origin, got)
			}
			c.values, c.Path, base.values, base.Path = nil, "", nil, ""
			if same(c, base) {
				t.Errorf("%s by %s changes nothing", s.Key, origin)
			}
			other := fromFlag
			other.values, other.Path = nil, ""
			if !same(c, other) {
				t.Errorf("%s by %s: %+v, by flag: %+v", s.Key, origin, c, other)
			}
		}
	}
}

func same(a, b Config) bool {
	return a.Output == b.Output && a.Color == b.Color && a.DefaultTemplate == b.DefaultTemplate && a.SandboxDirectory == b.SandboxDirectory &&
		a.TemplatesDirectory == b.TemplatesDirectory && a.RequestTimeout == b.RequestTimeout && a.Quiet == b.Quiet && a.Confirm == b.Confirm && a.Namespace == b.Namespace &&
		a.Context == b.Context && a.Scheduler == b.Scheduler && a.Prometheus == b.Prometheus && a.PrometheusTokenFile == b.PrometheusTokenFile &&
		a.CompletionCache == b.CompletionCache
}

func TestWrongFiles(t *testing.T) {
	for text, want := range map[string]string{
		"output: 3\n":                     "config.yaml:1: invalid output \"3\": must be json, jsonl, yaml, table or wide\n  found:  a number",
		"color: auto\nquiet: \"yes\"\n":   "config.yaml:2: invalid quiet \"yes\": must be true or false\n  found:  text",
		"quiet: 1\n":                      "invalid quiet \"1\": must be true or false\n  found:  a number",
		"output: [json]\n":                "config.yaml:1: invalid output \"\": must be json, jsonl, yaml, table or wide\n  found:  a list",
		"output:\n  format: json\n":       "config.yaml:2: invalid output \"\": must be json, jsonl, yaml, table or wide\n  found:  a mapping",
		"output: jsno\n":                  "invalid output \"jsno\": must be json, jsonl, yaml, table or wide\n  did you mean:  json",
		"output: jsonpath={.a}\n":         `invalid output "jsonpath={.a}"`,
		"color: true\n":                   "invalid color \"true\": must be auto, always or never\n  found:  true or false",
		"request-timeout: 30\n":           "invalid request-timeout \"30\": must be a duration with its unit, for example 2m; 0: no limit\n  did you mean:  30s, 30m",
		"request-timeout: soon\n":         `invalid request-timeout "soon": must be a duration`,
		"request-timeout: -3s\n":          `invalid request-timeout "-3s": must be a duration`,
		"namespace: A_b\n":                `invalid namespace "A_b": must be the name of a namespace`,
		"output: json\noutput: yaml\n":    "config.yaml:2: output: is set twice",
		"- a\n":                           `config.yaml:1: must be a mapping of "key: value"`,
		"just text\n":                     `config.yaml:1: must be a mapping of "key: value"`,
		"output: json\n bad: [\n":         "config.yaml: line 2",
		"default-template: 2026-01-02\n":  "invalid default-template \"2026-01-02\": must be the name of a template\n  found:  a date",
		"default-template: \"a\\nb\"\n":   `invalid default-template "a\nb": must be the name of a template`,
		"a: &a [*a]\noutput: *nosuch\n":   "config.yaml: ",
		"output: json\n\tcolor: always\n": "config.yaml: line",
		strings.Repeat("#", 1<<20+1):      "larger than 1 MiB",
		"quiet: !!str true\n":             "invalid quiet \"true\": must be true or false\n  found:  text",
	} {
		w := newWorld(t)
		w.write(text)
		_, _, err := Load(w.env)
		if err == nil || !strings.Contains(errs.Text(err, false), want) || errs.ExitOf(err) != errs.Usage {
			t.Errorf("%.40q: got %v (exit %d), want %s", text, err, errs.ExitOf(err), want)
		}
	}
}

func TestTruthValues(t *testing.T) {
	for text, want := range map[string]bool{"true": true, "True": true, "yes": true, "On": true, "no": false, "false": false, "off": false} {
		w := newWorld(t)
		w.write("quiet: " + text + "\n")
		if c, _, err := Load(w.env); err != nil || c.Quiet != want {
			t.Errorf("%s: %v %v", text, c.Quiet, err)
		}
	}
	w := newWorld(t)
	w.write("request-timeout: 0\n")
	if c, _, err := Load(w.env); err != nil || c.RequestTimeout != 0 {
		t.Errorf("0: %v %v", c.RequestTimeout, err)
	}
}

func TestUnknownKeysAreWarnings(t *testing.T) {
	w := newWorld(t)
	w.write("colour: always\nnonsense: x\noutput: json\nQuiet: true\n")
	c, warnings, err := Load(w.env)
	want := []string{w.path() + `:1: setting "colour" not found, did you mean color?`, w.path() + `:2: setting "nonsense" not found`, w.path() + `:4: setting "Quiet" not found, did you mean quiet?`}
	if err != nil || !slices.Equal(warnings, want) || c.Output != "json" || c.Color != "auto" || c.Quiet {
		t.Errorf("%q %v %+v", warnings, err, c)
	}
}

func TestWrongVariables(t *testing.T) {
	for name, value := range map[string]string{"HYPERPOD_OUTPUT": "tabel", "HYPERPOD_QUIET": "maybe", "HYPERPOD_REQUEST_TIMEOUT": "5", "HYPERPOD_COLOR": "red"} {
		w := newWorld(t)
		w.vars[name] = value
		if _, _, err := Load(w.env); err == nil || !strings.HasPrefix(err.Error(), "invalid "+name+" \""+value+"\": must be ") || errs.ExitOf(err) != errs.Usage {
			t.Errorf("%s=%s: %v", name, value, err)
		}
	}
}

func TestWith(t *testing.T) {
	c, _, err := Load(newWorld(t).env)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.With("colour", "x"); errs.ExitOf(err) != errs.Usage || !strings.Contains(errs.Text(err, false), "did you mean:  color") {
		t.Errorf("unknown key: %v", err)
	}
	if _, err := c.With("request-timeout", "5"); err == nil || !strings.HasPrefix(err.Error(), `invalid --request-timeout "5": must be a duration`) {
		t.Errorf("wrong value: %v", err)
	}
	if _, err := (Config{}).With("quiet", "on"); err != nil {
		t.Errorf("zero Config: %v", err)
	}
}

func TestNamedFile(t *testing.T) {
	w := newWorld(t)
	w.write("output: json\n")
	other := filepath.Join(w.home, "other.yaml")
	w.vars["HYPERPOD_CONFIG"] = "~/other.yaml"
	c, warnings, err := Load(w.env)
	if err != nil || c.Output != "" || c.Path != other || len(warnings) != 1 || !strings.Contains(warnings[0], other) {
		t.Errorf("missing: %+v %q %v", c, warnings, err)
	}
	if path, err := Set(w.env, "output", "wide"); err != nil || path != other {
		t.Errorf("set: %s %v", path, err)
	}
	if c, warnings, err = Load(w.env); err != nil || c.Output != "wide" || len(warnings) != 0 {
		t.Errorf("there: %+v %q %v", c, warnings, err)
	}
	w.vars["HYPERPOD_CONFIG"] = w.home
	if _, _, err := Load(w.env); errs.ExitOf(err) != errs.Failure || !strings.Contains(err.Error(), "cannot read the configuration") {
		t.Errorf("a folder: %v", err)
	}
}

func TestNoHome(t *testing.T) {
	for _, home := range []string{"", "relative"} {
		env := func(name string) string {
			return map[string]string{"HOME": home, "USERPROFILE": home, "HYPERPOD_OUTPUT": "json"}[name]
		}
		c, warnings, err := Load(env)
		if err != nil || len(warnings) > 0 || c.Output != "json" || c.Path != "" {
			t.Errorf("Load: %+v %v %v", c, warnings, err)
		}
		for _, dir := range []func(func(string) string) (string, error){ConfigDir, StateDir, CacheDir} {
			if got, err := dir(env); err == nil || !strings.Contains(err.Error(), "no home directory: ") || got != "" {
				t.Errorf("got %q, %v", got, err)
			}
		}
		if _, err := Set(env, "output", "json"); err == nil || !strings.Contains(err.Error(), "no home directory") {
			t.Errorf("Set: %v", err)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	home := b.TempDir()
	env := func(name string) string {
		return map[string]string{"HOME": home, "HYPERPOD_COLOR": "never"}[name]
	}
	for _, key := range []string{"output", "default-template"} {
		if _, err := Set(env, key, "json"); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := Load(env); err != nil {
			b.Fatal(err)
		}
	}
}

// TestPasswords: an address with a password is used as it is, and shown without it.
func TestPasswords(t *testing.T) {
	w := newWorld(t)
	w.vars["HYPERPOD_PROMETHEUS"] = "https://ada:s3cret@prometheus.example.com/x"
	c, _, err := Load(w.env)
	if err != nil || c.Prometheus != w.vars["HYPERPOD_PROMETHEUS"] {
		t.Fatal(c.Prometheus, err)
	}
	if v, _ := c.Value("prometheus"); v.Shown() != "https://ada:xxxxx@prometheus.example.com/x" {
		t.Error(v.Shown())
	}
	w.vars["HYPERPOD_PROMETHEUS"] = "ada:s3cret@prometheus.example.com"
	if _, _, err := Load(w.env); err == nil || strings.Contains(errs.Text(err, true), "s3cret") {
		t.Error(err)
	}
}

// TestNearDurationsAreValid: what an error suggests for a number without a unit can be set.
func TestNearDurationsAreValid(t *testing.T) {
	for value, near := range map[string]string{"30": "did you mean:  30s, 30m", "1.5": "did you mean:  1.5s, 1.5m", "1e9": "", "-30": "", "99999999999999999999": "", "nan": "", "1h5": "did you mean:  1h5s, 1h5m"} {
		_, err := Config{}.With("request-timeout", value)
		if text := errs.Text(err, false); err == nil || strings.Contains(text, "did you mean") != (near != "") || !strings.Contains(text, near) {
			t.Errorf("%s: %s", value, text)
		}
	}
}
