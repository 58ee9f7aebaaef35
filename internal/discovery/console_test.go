package discovery

import "testing"

func TestClusterConsole(t *testing.T) {
	for _, tt := range []struct{ server, context, cluster, want string }{
		{"https://x", "arn:aws:eks:us-west-2:123456789012:cluster/eks", "my-cluster", "https://us-west-2.console.aws.amazon.com/sagemaker/home?region=us-west-2#/cluster-management/my-cluster"},
		{"https://x", "arn:aws-cn:eks:cn-north-1:123456789012:cluster/eks", "c", "https://cn-north-1.console.amazonaws.cn/sagemaker/home?region=cn-north-1#/cluster-management/c"},
		{"https://x", "arn:aws-us-gov:eks:us-gov-west-1:123456789012:cluster/eks", "c", "https://us-gov-west-1.console.amazonaws-us-gov.com/sagemaker/home?region=us-gov-west-1#/cluster-management/c"},
		{"https://AB12.gr7.eu-central-1.eks.amazonaws.com", "mine", "c", "https://eu-central-1.console.aws.amazon.com/sagemaker/home?region=eu-central-1#/cluster-management/c"},
		{"https://AB12.yl4.cn-northwest-1.eks.amazonaws.com.cn", "mine", "c", "https://cn-northwest-1.console.amazonaws.cn/sagemaker/home?region=cn-northwest-1#/cluster-management/c"},
		{"https://AB12.gr7.us-gov-east-1.eks.amazonaws.com", "", "c", "https://us-gov-east-1.console.amazonaws-us-gov.com/sagemaker/home?region=us-gov-east-1#/cluster-management/c"},
		{"https://127.0.0.1:6443", "kind", "c", ""},
		{"https://x", "arn:aws-iso:eks:us-iso-east-1:123456789012:cluster/eks", "c", ""},
		{"https://x", "arn:aws:eks:us-west-2:123456789012:cluster/eks", "", ""},
		{"https://x", "arn:aws:eks:us-west-2:123456789012:cluster/eks", "a b#c", ""},
		{"::", "", "c", ""},
	} {
		site, _ := SiteOf(tt.server, tt.context)
		if got := site.ClusterConsole(tt.cluster); got != tt.want {
			t.Errorf("%s %s %s: got %q, want %q", tt.server, tt.context, tt.cluster, got, tt.want)
		}
	}
}
