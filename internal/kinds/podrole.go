package kinds

import (
	"strconv"
	"strings"
)

// PodRole is where a pod belongs in its job.
type PodRole struct {
	// Role is the name that Parts gives the role; "" when the labels do not say.
	Role string
	// Index numbers the pods of the role from 0; -1 when the labels do not say.
	Index int
	// Rank numbers the training pods of the whole job from 0, as the operator
	// numbers them; -1 for a pod that does not train (a launcher, a Ray head) or
	// whose labels do not say.
	Rank int
}

// PodRole returns a pod's role and numbers in a job of this kind, by the pod's labels and the
// number of pods of each of the job's roles (as Parts has them).
func (j Job) PodRole(labels map[string]string, roles map[string]int64) PodRole {
	p := PodRole{Index: -1}
	name := ""
	switch n := j.Numbers; {
	case n.Place != nil:
		name, p.Index = n.Place(labels, roles)
	case n.Index != "":
		name, p.Index = labels[n.Role], index(labels[n.Index])
	}
	for r := range roles {
		if strings.EqualFold(r, name) || name == "" && len(roles) == 1 {
			p.Role = r
		}
	}
	p.Rank = j.rank(p, roles)
	return p
}

// rank returns the RANK that the operator gives a pod.
func (j Job) rank(p PodRole, roles map[string]int64) int {
	switch first := j.Numbers.First; {
	case p.Index < 0 || j.Numbers.Unranked || strings.EqualFold(p.Role, launcher):
		return -1
	case first != "" && !strings.EqualFold(p.Role, first):
		return p.Index + int(roles[first])
	}
	return p.Index
}

func index(s string) int {
	if n, err := strconv.Atoi(s); err == nil && n >= 0 {
		return n
	}
	return -1
}
