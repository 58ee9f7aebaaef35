package cluster

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Rule is a rule of RBAC.
type Rule struct {
	Groups    []string `json:"apiGroups"`
	Resources []string `json:"resources"`
	Verbs     []string `json:"verbs"`
}

// Without returns rules that lack a verb on a resource; "" is every verb.
func Without(rules []Rule, resource, verb string) []Rule {
	var out []Rule
	for _, r := range rules {
		for _, one := range r.Resources {
			verbs := slices.Clone(r.Verbs)
			if one == resource {
				verbs = slices.DeleteFunc(verbs, func(v string) bool { return verb == "" || v == verb })
			}
			if len(verbs) > 0 {
				out = append(out, Rule{r.Groups, []string{one}, verbs})
			}
		}
	}
	return out
}

// BatchUserRules are the rules of the role that Kueue ships for people who run jobs.
func (b *Bed) BatchUserRules(ctx context.Context) ([]Rule, error) {
	var roles struct{ Items []struct{ Rules []Rule } }
	path := "/apis/rbac.authorization.k8s.io/v1/clusterroles?labelSelector=" + url.QueryEscape("rbac.kueue.x-k8s.io/batch-user=true")
	if err := b.Get(ctx, path, &roles); err != nil {
		return nil, err
	}
	var out []Rule
	for _, r := range roles.Items {
		out = append(out, r.Rules...)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("Kueue ships no roles for batch users")
	}
	return out, nil
}

// UserKubeconfig makes a kubeconfig, without a namespace, for a user with exactly the
// rules in one namespace, and waits until the API server grants the first of them.
func (b *Bed) UserKubeconfig(ctx context.Context, name, namespace string, rules []Rule) (string, error) {
	const rbac = "rbac.authorization.k8s.io"
	err := b.ApplyObjects(ctx,
		Object{"apiVersion": rbac + "/v1", "kind": "Role", "metadata": Object{"name": name, "namespace": namespace}, "rules": rules},
		Object{"apiVersion": rbac + "/v1", "kind": "RoleBinding", "metadata": Object{"name": name, "namespace": namespace},
			"roleRef":  Object{"apiGroup": rbac, "kind": "Role", "name": name},
			"subjects": []any{Object{"kind": "User", "name": name, "apiGroup": rbac}}})
	if err != nil {
		return "", err
	}
	cert, err := b.pki.ca.client(name)
	if err != nil {
		return "", err
	}
	resource, sub, _ := strings.Cut(rules[0].Resources[0], "/")
	review := Object{"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": Object{"user": name,
		"resourceAttributes": Object{"namespace": namespace, "verb": rules[0].Verbs[0], "group": rules[0].Groups[0], "resource": resource, "subresource": sub}}}
	err = b.WaitFor(ctx, "the permissions of "+name, func(ctx context.Context) error {
		var answer struct{ Status struct{ Allowed bool } }
		if err := b.post(ctx, "/apis/authorization.k8s.io/v1/subjectaccessreviews", review, &answer); err != nil {
			return err
		}
		if !answer.Status.Allowed {
			return fmt.Errorf("not granted yet")
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return b.writeKubeconfig(name, "", cert)
}
