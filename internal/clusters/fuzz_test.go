package clusters

import (
	"strings"
	"testing"
)

// FuzzParseARN: the parts of an ARN are parts of its text.
func FuzzParseARN(f *testing.F) {
	f.Add("arn:aws:sagemaker:us-west-2:123456789012:cluster/abc123")
	f.Add("arn:aws-us-gov:eks:us-gov-west-1:123456789012:cluster/ml")
	f.Add("hyperpod-i-0aaaaaaaaaaaaaaa1")
	f.Add("arn::::::")
	f.Fuzz(func(t *testing.T, text string) {
		if arn, ok := ParseARN(text); ok && !(strings.HasPrefix(text, "arn:") && strings.Contains(text, arn.Region)) {
			t.Errorf("%q: %+v", text, arn)
		}
		if id := InstanceOf(text); !strings.Contains(text, id) {
			t.Errorf("%q: %q", text, id)
		}
		ValidPrincipal(text)
	})
}
