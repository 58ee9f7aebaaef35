package discovery

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"k8s.io/client-go/rest"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

var eksName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^arn:aws[a-z-]*:eks:[a-z0-9-]+:\d{12}:cluster/([A-Za-z0-9][A-Za-z0-9_-]{0,99})$`)
})

// EKSName returns the name of an EKS cluster, from the ARN that its kubeconfig uses as a name, or from the
// arguments of its credential plugin (`aws eks get-token --cluster-name NAME`, `aws-iam-authenticator token -i
// NAME`). It is "" if neither has it.
func EKSName(cfg *rest.Config, names ...string) string {
	for _, n := range names {
		if m := eksName().FindStringSubmatch(n); m != nil {
			return m[1]
		}
	}
	if cfg == nil || cfg.ExecProvider == nil {
		return ""
	}
	args := cfg.ExecProvider.Args
	for _, flag := range []string{"--cluster-name", "--cluster-id", "-i"} {
		if i := slices.Index(args, flag); i >= 0 && i+1 < len(args) {
			return args[i+1]
		}
		for _, a := range args {
			if value, ok := strings.CutPrefix(a, flag+"="); ok {
				return value
			}
		}
	}
	return ""
}

// LogStream names the log of one run of a container as the CloudWatch agent's
// add-on does.
type LogStream struct {
	Node, Pod, Namespace, Container string
	ContainerID                     string // as the pod's status has it: containerd://...
}

// LogLink returns the page of a container's log in CloudWatch Container Insights,
// "" where something that it is made of is not known. The form is the official
// CLI's (v2).
func (s Site) LogLink(eks string, l LogStream) string {
	base := s.Console()
	_, id, ok := strings.Cut(l.ContainerID, "://")
	if base == "" || eks == "" || !ok || id == "" || l.Node == "" {
		return ""
	}
	return fmt.Sprintf("%s/cloudwatch/home?region=%s#logsV2:log-groups/log-group/$252Faws$252Fcontainerinsights$252F%s$252Fapplication/log-events/"+
		"%s-application.var.log.containers.%s_%s_%s-%s.log", base, s.Region, eks, l.Node, l.Pod, l.Namespace, l.Container, id)
}

// LogGroupLink returns the page of the log group with the logs of all containers, "" if it is
// unknown. It keeps the logs of deleted pods.
func (s Site) LogGroupLink(eks string) string {
	base := s.Console()
	if base == "" || eks == "" {
		return ""
	}
	return fmt.Sprintf("%s/cloudwatch/home?region=%s#logsV2:log-groups/log-group/$252Faws$252Fcontainerinsights$252F%s$252Fapplication", base, s.Region, eks)
}

// fluentBit is what the add-on amazon-cloudwatch-observability runs on every node
// to send containers' logs.
var fluentBit = kinds.Resource{Group: "apps", Version: "v1", Plural: "daemonsets", Kind: "DaemonSet", Namespaced: true}

// SendsLogs reports whether the cluster sends the logs of its containers to CloudWatch. If kube.IsForbidden
// holds for the error, the user has no permission to find out.
func SendsLogs(ctx context.Context, c *kube.Client) (bool, error) {
	var found struct{}
	err := c.Get(ctx, fluentBit, "amazon-cloudwatch", "fluent-bit", &found)
	if kube.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}
