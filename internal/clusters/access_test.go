package clusters

import "testing"

func TestValidPrincipal(t *testing.T) {
	for arn, want := range map[string]bool{
		"arn:aws:iam::123456789012:role/a": true, "arn:aws-cn:iam::123456789012:user/path/b@c.example": true,
		"arn:aws:iam::123456789012:root": false, "arn:aws:sts::123456789012:assumed-role/a/b": false, "a": false, "arn:aws:iam::12:role/a": false,
	} {
		if ValidPrincipal(arn) != want {
			t.Errorf("%s: %v", arn, !want)
		}
	}
}
