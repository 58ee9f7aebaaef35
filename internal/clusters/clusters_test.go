package clusters

import "testing"

func TestParseARN(t *testing.T) {
	for text, want := range map[string]ARN{
		"arn:aws:eks:us-west-2:123456789012:cluster/ml":              {"aws", "eks", "us-west-2", "123456789012", "cluster", "ml"},
		"arn:aws-us-gov:eks:us-gov-west-1:123456789012:cluster/a_b":  {"aws-us-gov", "eks", "us-gov-west-1", "123456789012", "cluster", "a_b"},
		"arn:aws-cn:sagemaker:cn-north-1:123456789012:cluster/abc12": {"aws-cn", "sagemaker", "cn-north-1", "123456789012", "cluster", "abc12"},
		"arn:aws-iso-b:eks:us-isob-east-1:123456789012:cluster/x":    {"aws-iso-b", "eks", "us-isob-east-1", "123456789012", "cluster", "x"},
	} {
		if got, ok := ParseARN(text); !ok || got != want {
			t.Errorf("%s: %+v", text, got)
		}
	}
	for _, text := range []string{"", "ml", "arn:aws:eks:us-west-2:1:cluster/ml", "arn:aws:eks:us-west-2:123456789012:cluster/", "arn:aws:eks:us-west-2:123456789012:cluster/a/b"} {
		if got, ok := ParseARN(text); ok {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

func TestInstanceOf(t *testing.T) {
	for name, want := range map[string]string{"hyperpod-i-0d64806b32c3ee282": "i-0d64806b32c3ee282", "i-0abc": "i-0abc", "ip-10-0-0-1": "", "mini-x": "", "": ""} {
		if got := InstanceOf(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestRegionAndID(t *testing.T) {
	s := Summary{ARN: "arn:aws-cn:sagemaker:cn-north-1:123456789012:cluster/abcdef123456"}
	if s.Region() != "cn-north-1" || s.ID() != "abcdef123456" {
		t.Errorf("%s, %s", s.Region(), s.ID())
	}
}
