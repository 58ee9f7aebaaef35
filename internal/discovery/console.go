package discovery

import (
	"context"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
)

// Site is a cluster as the AWS console knows it.
type Site struct {
	// Partition is aws, aws-cn, aws-us-gov, ...
	Partition string
	Region    string
}

var (
	eksARN  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^arn:(aws[a-z-]*):eks:([a-z0-9-]+):\d{12}:cluster/`) })
	eksHost = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\.([a-z]{2}(?:-[a-z]+)+-\d+)\.eks\.amazonaws\.com(\.cn)?$`)
	})
)

// SiteOf returns where an EKS cluster is, from the name in its kubeconfig (`aws eks update-kubeconfig` uses the
// cluster's ARN) or from the address of its server.
func SiteOf(server string, names ...string) (Site, bool) {
	for _, n := range names {
		if m := eksARN().FindStringSubmatch(n); m != nil {
			return Site{Partition: m[1], Region: m[2]}, true
		}
	}
	u, err := url.Parse(server)
	if err != nil {
		return Site{}, false
	}
	m := eksHost().FindStringSubmatch(strings.ToLower(u.Hostname()))
	if m == nil {
		return Site{}, false
	}
	s := Site{Partition: "aws", Region: m[1]}
	switch {
	case m[2] != "":
		s.Partition = "aws-cn"
	case strings.HasPrefix(s.Region, "us-gov-"):
		s.Partition = "aws-us-gov"
	case strings.HasPrefix(s.Region, "eusc-"):
		s.Partition = "aws-eusc"
	}
	return s, true
}

// consoles are the domains of the partitions' web consoles. The isolated
// partitions' are not published.
var consoles = map[string]string{
	"aws":        "console.aws.amazon.com",
	"aws-cn":     "console.amazonaws.cn",
	"aws-us-gov": "console.amazonaws-us-gov.com",
	"aws-eusc":   "console.amazonaws-eusc.eu",
}

// Console returns the address of the region's web console, "" if it is unknown.
func (s Site) Console() string {
	if domain := consoles[s.Partition]; domain != "" && s.Region != "" {
		return "https://" + s.Region + "." + domain
	}
	return ""
}

var clusterName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9](-*[A-Za-z0-9]){0,62}$`) })

// ClusterConsole returns the console page of a HyperPod cluster, "" if it is unknown.
func (s Site) ClusterConsole(cluster string) string {
	base := s.Console()
	if base == "" || !clusterName().MatchString(cluster) {
		return ""
	}
	return base + "/sagemaker/home?region=" + s.Region + "#/cluster-management/" + cluster
}

// HyperPodName returns the name of the HyperPod cluster from the labels of its nodes. It is "" if nodes have no such label, or if
// the user has no permission to list nodes.
func HyperPodName(ctx context.Context, c *kube.Client) string {
	nodes, err := kube.List[struct {
		Metadata struct{ Labels map[string]string } `json:"metadata"`
	}](ctx, c, kinds.Node, "", kube.ListOptions{LabelSelector: kinds.ClusterNameLabel, MetadataOnly: true})
	if err != nil || len(nodes.Items) == 0 {
		return ""
	}
	return nodes.Items[0].Metadata.Labels[kinds.ClusterNameLabel]
}
