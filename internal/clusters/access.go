package clusters

import "github.com/hyperpod-cli/hyperpod/internal/pattern"

var principalForm = pattern.Lazy(`^arn:aws[a-z-]*:iam::\d{12}:(role|user)/[A-Za-z0-9+=,.@_/-]+$`)

// ValidPrincipal reports the ARN of an IAM role or user.
func ValidPrincipal(arn string) bool { return principalForm().MatchString(arn) }

// AccessEntry lets an IAM principal into an EKS cluster, as a member of Kubernetes
// groups.
type AccessEntry struct {
	Cluster string
	// Principal is the ARN of an IAM role or user.
	Principal string
	// Type is STANDARD for people; groups belong to entries of this type only.
	Type   string
	Groups []string
	// Policies are the ARNs of EKS's access policies, which grant more than the groups.
	Policies []string
}

// StandardAccess is the type of access entries for people.
const StandardAccess = "STANDARD"
