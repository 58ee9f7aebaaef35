package discovery

import (
	"testing"

	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

func TestEKSName(t *testing.T) {
	plugin := func(args ...string) *rest.Config {
		return &rest.Config{ExecProvider: &clientcmdapi.ExecConfig{Command: "aws", Args: args}}
	}
	for _, c := range []struct {
		cfg   *rest.Config
		names []string
		want  string
	}{
		{nil, []string{"arn:aws-us-gov:eks:us-gov-west-1:123456789012:cluster/my-eks"}, "my-eks"},
		{plugin("--region", "us-west-2", "eks", "get-token", "--cluster-name", "other"), []string{"dev"}, "other"},
		{plugin("eks", "get-token", "--cluster-name=third"), nil, "third"},
		{plugin("token", "-i", "fourth"), nil, "fourth"},
		{plugin("--cluster-name"), nil, ""},
		{&rest.Config{}, []string{"kind-kind"}, ""},
	} {
		if got := EKSName(c.cfg, c.names...); got != c.want {
			t.Errorf("%q: %q, want %q", c.names, got, c.want)
		}
	}
}

// The form is that of the official CLI v2.
func TestLogLink(t *testing.T) {
	s := Site{Partition: "aws", Region: "us-west-2"}
	l := LogStream{Node: "hyperpod-i-0abc", Pod: "llama-worker-0", Namespace: "hyperpod-ns-research", Container: "pytorch", ContainerID: "containerd://0123abcd"}
	want := "https://us-west-2.console.aws.amazon.com/cloudwatch/home?region=us-west-2#logsV2:log-groups/log-group/$252Faws$252Fcontainerinsights$252Fmy-eks$252Fapplication/log-events/" +
		"hyperpod-i-0abc-application.var.log.containers.llama-worker-0_hyperpod-ns-research_pytorch-0123abcd.log"
	if got := s.LogLink("my-eks", l); got != want {
		t.Errorf("%s", got)
	}
	for _, missing := range []func(*LogStream){func(l *LogStream) { l.Node = "" }, func(l *LogStream) { l.ContainerID = "" }} {
		m := l
		missing(&m)
		if got := s.LogLink("my-eks", m); got != "" {
			t.Errorf("%+v: %s", m, got)
		}
	}
	if got := s.LogGroupLink("my-eks"); got != "https://us-west-2.console.aws.amazon.com/cloudwatch/home?region=us-west-2#logsV2:log-groups/log-group/$252Faws$252Fcontainerinsights$252Fmy-eks$252Fapplication" {
		t.Errorf("%s", got)
	}
	if got := s.LogGroupLink(""); got != "" {
		t.Errorf("no cluster: %s", got)
	}
	if got := s.LogLink("", l); got != "" {
		t.Errorf("no cluster: %s", got)
	}
}
