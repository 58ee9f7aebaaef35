package governancecmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/hyperpod-cli/hyperpod/internal/clusters"
	"github.com/hyperpod-cli/hyperpod/internal/discovery/aws"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/output"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// entryRequest is an EKS access entry, as the AWS CLI takes it (aws eks
// create-access-entry --cli-input-yaml).
type entryRequest struct {
	ClusterName      string   `json:"clusterName"`
	PrincipalArn     string   `json:"principalArn"`
	Type             string   `json:"type"`
	KubernetesGroups []string `json:"kubernetesGroups"`
}

// entriesDocument is the JSON of access entries.
type entriesDocument struct {
	AccessEntries []entryRequest `json:"accessEntries"`
}

// accessEntries prints, creates or verifies the EKS access entries that make IAM
// principals members of the team's group. They get no access policy of EKS: the group's
// Roles are all that they have.
func (o *RBACOptions) accessEntries(ctx context.Context) error {
	f := o.Factory
	format, err := f.Format()
	if err != nil {
		return err
	}
	client, err := f.AWS(ctx, o.Target.account, "")
	if err != nil {
		return err
	}
	cluster, err := client.DescribeCluster(ctx, o.Target.cluster)
	if err != nil {
		return err
	}
	if err := aws.Governed(cluster); err != nil {
		return err
	}
	e, err := client.Endpoint(ctx, cluster.EKSARN)
	if err != nil {
		return err
	}
	if e.AuthMode == "CONFIG_MAP" {
		return errs.New("cannot use access entries", "EKS cluster "+e.Name+" maps users with the ConfigMap aws-auth only").WithFact("authentication mode", e.AuthMode)
	}
	doc := entriesDocument{}
	for _, p := range o.Principals {
		doc.AccessEntries = append(doc.AccessEntries, entryRequest{e.Name, p, clusters.StandardAccess, []string{o.group(o.Team)}})
	}
	switch {
	case o.Verify:
		return o.verifyEntries(ctx, client, e, doc)
	case o.Apply:
		return o.createEntries(ctx, client, e, doc)
	case f.Global.Output == "" || format.Name == output.YAML:
		for i, entry := range doc.AccessEntries {
			text, err := yaml.Marshal(entry)
			if err != nil {
				return err
			}
			if i > 0 {
				text = append([]byte("---\n"), text...)
			}
			if _, err := fmt.Fprint(f.IO.Out, output.SafeLines(string(text))); err != nil {
				return err
			}
		}
		return nil
	}
	return output.Print(f.IO, format, doc, nil, nil)
}

// createEntries creates the entries that are missing; those that exist keep their other
// groups.
func (o *RBACOptions) createEntries(ctx context.Context, client *aws.Client, e clusters.Endpoint, doc entriesDocument) error {
	f := o.Factory
	group := o.group(o.Team)
	question := fmt.Sprintf("Give %s access to EKS cluster %s as %s?", words.Count(len(doc.AccessEntries), "principal", "principals"), e.Name, group)
	if err := f.Agree(ctx, o.Yes, question); err != nil {
		return err
	}
	for _, entry := range doc.AccessEntries {
		old, err := client.AccessEntry(ctx, e.Region, e.Name, entry.PrincipalArn)
		if err != nil {
			return err
		}
		if old != nil && old.Type != clusters.StandardAccess {
			return errs.New("cannot change the access entry of "+entry.PrincipalArn, "entries of type "+old.Type+" have no groups")
		}
		changed, err := client.GrantAccess(ctx, e.Region, clusters.AccessEntry{Cluster: e.Name, Principal: entry.PrincipalArn, Type: entry.Type, Groups: entry.KubernetesGroups}, old)
		if err != nil {
			return err
		}
		verb := "Created"
		switch {
		case !changed:
			verb = "Kept"
		case old != nil:
			verb = "Changed"
		}
		fmt.Fprintln(f.IO.Out, output.Safe(fmt.Sprintf("%s access entry %s with group %s", verb, entry.PrincipalArn, group)))
		o.warnPolicies(old)
	}
	return nil
}

// warnPolicies reports access policies, which grant more than the group.
func (o *RBACOptions) warnPolicies(e *clusters.AccessEntry) {
	if e != nil && len(e.Policies) > 0 {
		o.Factory.Notef("warning: %s also has EKS access policies: %s", e.Principal, strings.Join(e.Policies, ", "))
	}
}

// verifyEntries compares the entries with least privilege: the group, and nothing else.
func (o *RBACOptions) verifyEntries(ctx context.Context, client *aws.Client, e clusters.Endpoint, doc entriesDocument) error {
	f := o.Factory
	good := true
	t := output.Table{Columns: []output.Column{{Title: "PRINCIPAL", Keep: true}, {Title: "ALLOWED"}, {Title: "MESSAGE", Wrap: true, Below: true}}}
	review := EntriesReview{Schema: "hyperpod.governance-rbac-entries/v1", Team: o.Team, Allowed: true, AccessEntries: []EntryReview{}}
	for _, want := range doc.AccessEntries {
		have, err := client.AccessEntry(ctx, e.Region, e.Name, want.PrincipalArn)
		if err != nil {
			return err
		}
		r := reviewEntry(want, have)
		review.AccessEntries = append(review.AccessEntries, r)
		good = good && r.Allowed && r.LeastPrivilege
		t.Rows = append(t.Rows, output.T(want.PrincipalArn, map[bool]string{true: "yes", false: "no"}[r.Allowed], r.Message))
	}
	review.Allowed = good
	format, err := f.Format()
	if err != nil {
		return err
	}
	code := errs.OK
	if !good {
		code = errs.No
	}
	return answered(f, output.Print(f.IO, format, review, func() output.Table { return t }, nil), code)
}

// EntriesReview is the JSON of governance rbac --verify with principals.
type EntriesReview struct {
	Schema        string
	Team          string
	Allowed       bool // every principal has exactly the group
	AccessEntries []EntryReview
}

// EntryReview compares the access entry of a principal with least privilege.
type EntryReview struct {
	Principal      string
	Allowed        bool
	LeastPrivilege bool
	Message        string
}

func reviewEntry(want entryRequest, have *clusters.AccessEntry) EntryReview {
	r := EntryReview{Principal: want.PrincipalArn}
	if have == nil {
		r.Message = "no access entry"
		return r
	}
	r.Allowed = slices.Contains(have.Groups, want.KubernetesGroups[0])
	var more []string
	for _, g := range have.Groups {
		if g != want.KubernetesGroups[0] {
			more = append(more, "group "+g)
		}
	}
	for _, p := range have.Policies {
		more = append(more, p[strings.LastIndexByte(p, '/')+1:])
	}
	r.LeastPrivilege = len(more) == 0
	switch {
	case !r.Allowed:
		r.Message = "the access entry lacks group " + want.KubernetesGroups[0]
	case r.LeastPrivilege:
		r.Message = "exactly group " + want.KubernetesGroups[0]
	}
	if len(more) > 0 {
		r.Message = strings.TrimPrefix(r.Message+"; ", "; ") + "has also " + strings.Join(more, ", ")
	}
	return r
}
