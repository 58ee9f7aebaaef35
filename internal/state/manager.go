package state

import (
	"context"
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// Where Kueue and the HyperPod task governance add-on keep Kueue's configuration.
const (
	ManagerNamespace = "kueue-system"
	ManagerConfigMap = "kueue-manager-config"
	ManagerConfigKey = "controller_manager_config.yaml"
)

// gatesFlag is a flag of Kueue's controller, with one dash or two. Kueue does not start with both the flag and featureGates in
// its configuration.
const gatesFlag = "feature-gates"

// ManagerConfig is the ConfigMap with Kueue's configuration.
type ManagerConfig struct {
	// Text is the configuration as YAML, "" when the ConfigMap has none.
	Text   string
	Labels map[string]string
}

// GateFlags returns the values of the flag for feature gates among the arguments of Kueue's controller ("A=true,B=false").
func GateFlags(args []string) (out []string) {
	for i, a := range args {
		name, value, given := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(a, "-"), "-"), "=")
		switch {
		case !strings.HasPrefix(a, "-") || name != gatesFlag:
		case given:
			out = append(out, value)
		case i+1 < len(args):
			out = append(out, args[i+1])
		}
	}
	return out
}

// GateFlag is the argument with a value of GateFlags.
func GateFlag(value string) string { return "-" + gatesFlag + "=" + value }

// Gates reads values of GateFlags. What is not a name with true or false is left out.
func Gates(values []string) map[string]bool {
	var out map[string]bool
	for _, one := range strings.Split(strings.Join(values, ","), ",") {
		name, text, _ := strings.Cut(strings.TrimSpace(one), "=")
		if on, err := strconv.ParseBool(text); err == nil {
			if out == nil {
				out = map[string]bool{}
			}
			out[name] = on
		}
	}
	return out
}

// GetManagerConfig reads Kueue's configuration. The error is that of the request:
// few members of a team have permission to read it.
func GetManagerConfig(ctx context.Context, c *kube.Client) (ManagerConfig, error) {
	var m struct {
		Metadata struct {
			Labels map[string]string `json:"labels"`
		} `json:"metadata"`
		Data map[string]string `json:"data"`
	}
	if err := c.Get(ctx, kinds.ConfigMap, ManagerNamespace, ManagerConfigMap, &m); err != nil {
		return ManagerConfig{}, err
	}
	out := ManagerConfig{Text: m.Data[ManagerConfigKey], Labels: m.Metadata.Labels}
	if out.Text == "" && len(m.Data) == 1 {
		for _, text := range m.Data {
			out.Text = text
		}
	}
	return out, nil
}
