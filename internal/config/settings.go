package config

import (
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

// The keys of the configuration file.
const (
	keyOutput             = "output"
	keyColor              = "color"
	keyDefaultTemplate    = "default-template"
	keySandboxDirectory   = "sandbox-directory"
	keyTemplatesDirectory = "templates-directory"
	keyRequestTimeout     = "request-timeout"
	keyQuiet              = "quiet"
	keyConfirm            = "confirm"
	keyNamespace          = "namespace"
	keyContext            = "context"
	keyScheduler          = "scheduler"
	keyPrometheus         = "prometheus"
	keyPrometheusToken    = "prometheus-token-file"
	keyCompletionCache    = "completion-cache"
)

// The values of confirm.
const (
	// ConfirmAlways asks before a start that preempts jobs, and before one that can never run.
	ConfirmAlways = "always"
	// ConfirmPreempt asks only before a start that preempts jobs.
	ConfirmPreempt = "preempt"
	// ConfirmNever asks nothing.
	ConfirmNever = "never"
)

// The values of scheduler.
const (
	// Kubernetes runs jobs with Kueue on the cluster of the kubeconfig.
	Kubernetes = "kubernetes"
	// Slurm runs jobs with the Slurm commands of this machine.
	Slurm = "slurm"
)

// Setting describes a key for help and completion.
type Setting struct{ Key, Variable, Default, Takes, Help string }

// setting is one row of the table of keys: everything about a key is here.
type setting struct {
	key, standard string
	// takes says in words what a value may be.
	takes, help string
	// normal returns the one way to write a value, or why it is not one.
	normal func(string) (string, error)
	set    func(*Config, string)
	// tag is the YAML type a value has in the file.
	tag string
}

func (s setting) variable() string {
	return "HYPERPOD_" + strings.ToUpper(strings.ReplaceAll(s.key, "-", "_"))
}

var settings = []setting{
	{keyOutput, "", "json, jsonl, yaml, table or wide", "default output format",
		oneOf("json", "jsonl", "yaml", "table", "wide"), func(c *Config, v string) { c.Output = v }, "!!str"},
	{keyColor, "auto", "auto, always or never", "when to use color",
		oneOf("auto", "always", "never"), func(c *Config, v string) { c.Color = v }, "!!str"},
	{keyDefaultTemplate, "", "the name of a template", "default template of start-job",
		text, func(c *Config, v string) { c.DefaultTemplate = v }, "!!str"},
	{keySandboxDirectory, "", "a folder", "directory of the sandboxes",
		text, func(c *Config, v string) { c.SandboxDirectory = v }, "!!str"},
	{keyTemplatesDirectory, "", "a folder", "directory of your templates",
		text, func(c *Config, v string) { c.TemplatesDirectory = v }, "!!str"},
	{keyRequestTimeout, "0s", "a duration with its unit, for example 2m; 0: no limit", "maximum time for a single request",
		duration, func(c *Config, v string) { c.RequestTimeout, _ = time.ParseDuration(v) }, "!!str"},
	{keyQuiet, "false", "true or false", "suppress notices and progress on stderr",
		boolean, func(c *Config, v string) { c.Quiet = v == "true" }, "!!bool"},
	{keyConfirm, ConfirmAlways, "always, preempt or never", "when start-job prompts on a terminal: always (before it preempts jobs, and for a job that can never run), preempt (only before it preempts jobs) or never",
		oneOf(ConfirmAlways, ConfirmPreempt, ConfirmNever), func(c *Config, v string) { c.Confirm = v }, "!!str"},
	{keyNamespace, "", "the name of a namespace", "default for -n; the namespace of the kubeconfig's context comes after it",
		namespace, func(c *Config, v string) { c.Namespace = v }, "!!str"},
	{keyContext, "", "the name of a context", "default for --context: the cluster to use, instead of the kubeconfig's current context",
		text, func(c *Config, v string) { c.Context = v }, "!!str"},
	{keyScheduler, "", "kubernetes or slurm", "what runs jobs: the cluster of the kubeconfig, or the Slurm cluster of this machine (default slurm where its commands are installed and no kubeconfig exists)",
		oneOf(Kubernetes, Slurm), func(c *Config, v string) { c.Scheduler = v }, "!!str"},
	{keyPrometheus, "", "an address that begins with http:// or https://", "Prometheus server with the metrics of accelerators, for the utilization of jobs",
		address, func(c *Config, v string) { c.Prometheus = v }, "!!str"},
	{keyPrometheusToken, "", "a file", "file with the bearer token for the Prometheus server",
		text, func(c *Config, v string) { c.PrometheusTokenFile = v }, "!!str"},
	{keyCompletionCache, "15s", "a duration with its unit, for example 30s; 0: off", "how long shell completion keeps names that it read from a cluster",
		duration, func(c *Config, v string) { c.CompletionCache, _ = time.ParseDuration(v) }, "!!str"},
}

// Settings describes every key.
func Settings() []Setting {
	var out []Setting
	for _, s := range settings {
		out = append(out, Setting{s.key, s.variable(), s.standard, s.takes, s.help})
	}
	return out
}

// Keys returns the names of all keys.
func Keys() []string {
	var out []string
	for _, s := range settings {
		out = append(out, s.key)
	}
	return out
}

// Words returns the values of a setting that takes fixed words, nil for another one.
func Words(key string) (out []string) {
	s, err := settingNamed(key)
	if err != nil {
		return nil
	}
	for _, part := range strings.Split(s.takes, ", ") {
		for _, word := range strings.Split(part, " or ") {
			if normal, err := s.normal(word); err == nil && normal == word && !strings.Contains(word, " ") {
				out = append(out, word)
			}
		}
	}
	return out
}

// CheckKey returns an error (exit code 2) if no setting has the name.
func CheckKey(key string) error {
	_, err := settingNamed(key)
	return err
}

func settingNamed(key string) (setting, error) {
	for _, s := range settings {
		if s.key == key {
			return s, nil
		}
	}
	e := errs.Usagef("setting %q not found", key).WithFact("available", strings.Join(Keys(), ", "))
	if near := errs.Near(key, Keys()); len(near) > 0 {
		e.WithFact("did you mean", strings.Join(near, ", "))
	}
	return setting{}, e
}

// badValue is the error about a value that a setting cannot have.
type badValue struct {
	near []string // values that were probably meant
}

func (*badValue) Error() string { return "invalid value" }

// invalid returns the error about a value of the setting, or of the variable or flag that sets it.
func (s setting) invalid(name, value string, err error) *errs.Error {
	e := errs.Usagef("invalid %s %q: must be %s", name, value, s.takes)
	if s.key == keyPrometheus && value != "" { // it may hold a password
		e = errs.Usagef("invalid %s: must be %s", name, s.takes)
	}
	var bad *badValue
	if errors.As(err, &bad) && len(bad.near) > 0 {
		e.WithFact("did you mean", strings.Join(bad.near, ", "))
	}
	return e
}

func oneOf(choices ...string) func(string) (string, error) {
	return func(v string) (string, error) {
		for _, c := range choices {
			if strings.EqualFold(c, v) {
				return c, nil
			}
		}
		return "", &badValue{near: errs.Near(v, choices)}
	}
}

func text(v string) (string, error) {
	if strings.ContainsAny(v, "\n\r\x00") {
		return "", &badValue{}
	}
	return v, nil
}

func address(v string) (string, error) {
	if u, err := url.Parse(v); v != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
		return "", &badValue{}
	}
	return v, nil
}

func namespace(v string) (string, error) {
	if v == "" || kinds.NotNamespace(v) == "" {
		return v, nil
	}
	return "", &badValue{}
}

func duration(v string) (string, error) {
	d, err := time.ParseDuration(v)
	if minutes, bad := time.ParseDuration(v + "m"); err != nil && bad == nil && minutes >= 0 { // a number without a unit
		return "", &badValue{near: []string{v + "s", v + "m"}}
	}
	switch {
	case err != nil || d < 0:
		return "", &badValue{}
	}
	return d.String(), nil
}

func boolean(v string) (string, error) {
	switch strings.ToLower(v) {
	case "true", "1", "yes", "on":
		return "true", nil
	case "false", "0", "no", "off":
		return "false", nil
	}
	return "", &badValue{}
}
