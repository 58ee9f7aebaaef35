package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
)

// waitWebhooks waits until requests really pass through the webhooks, then registers Kueue's visibility API and waits for it.
func (b *Bed) waitWebhooks(ctx context.Context, apiServices []Object) error {
	flavor := Object{"apiVersion": b.kueueAPIVersion(), "kind": "ResourceFlavor", "metadata": Object{"name": "probe"}}
	container := Object{"name": "pytorch", "image": "probe"}
	job := Object{
		"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": Object{"name": "probe"},
		"spec": Object{"pytorchReplicaSpecs": Object{"Worker": Object{"replicas": 1, "template": Object{"spec": Object{"containers": []any{container}}}}}},
	}
	err := b.poll(ctx, "the webhooks to answer", func(ctx context.Context) error {
		err := b.post(ctx, "/apis/"+b.kueueAPIVersion()+"/resourceflavors?dryRun=All", flavor, nil)
		if b.options.KueueOnly {
			return err
		}
		return errors.Join(err, b.post(ctx, "/apis/kubeflow.org/v1/namespaces/default/pytorchjobs?dryRun=All", job, nil))
	})
	if err != nil {
		return err
	}
	if err := b.install(ctx, apiServices); err != nil {
		return fmt.Errorf("cannot register Kueue's visibility API: %w", err)
	}
	return b.poll(ctx, "Kueue's visibility API", func(ctx context.Context) error {
		for _, s := range apiServices {
			if err := b.Get(ctx, "/apis/"+field(s, "spec", "group")+"/"+field(s, "spec", "version"), nil); err != nil {
				return err
			}
		}
		return nil
	})
}

// caBundles says which webhooks and converted CRDs of the shipped objects must carry the operator's authority before it can be called.
func (b *Bed) caBundles(ctx context.Context, objects []Object) error {
	for _, o := range objects {
		var path string
		switch name := field(o, "metadata", "name"); field(o, "kind") {
		case "MutatingWebhookConfiguration":
			path = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/" + name
		case "ValidatingWebhookConfiguration":
			path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/" + name
		case "CustomResourceDefinition":
			spec, _ := o["spec"].(Object)
			// What has one version is never converted, and some projects give that no authority.
			if versions, _ := spec["versions"].([]any); len(versions) < 2 || field(o, "spec", "conversion", "strategy") != "Webhook" {
				continue
			}
			path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" + name
		default:
			continue
		}
		text, err := b.Request(ctx, http.MethodGet, path, "", nil)
		if err != nil {
			return err
		}
		if calls := bytes.Count(text, []byte(`"clientConfig"`)); bytes.Count(text, []byte(`"caBundle"`)) < calls {
			return fmt.Errorf("%s has no authority yet", path)
		}
	}
	return nil
}
