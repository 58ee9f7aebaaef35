package state

import (
	"context"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// Where Kueue and the HyperPod task governance add-on keep Kueue's configuration.
const (
	ManagerNamespace = "kueue-system"
	ManagerConfigMap = "kueue-manager-config"
	ManagerConfigKey = "controller_manager_config.yaml"
)

// ManagerConfig is the ConfigMap with Kueue's configuration.
type ManagerConfig struct {
	// Text is the configuration as YAML, "" when the ConfigMap has none.
	Text   string
	Labels map[string]string
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
