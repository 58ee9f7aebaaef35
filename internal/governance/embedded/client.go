package embedded

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hyperpod-cli/hyperpod/internal/governance/decode"
)

// NoClient returns a client.Client without a cluster: it returns a [NotSupportedError] for every request, never a panic. Types
// embed it and serve the reads that Kueue's packages need.
func NoClient() client.Client { return noClient{} }

type noClient struct{}

// NotSupportedError is a request that no object in this process can answer.
type NotSupportedError struct{ What string }

func (n NotSupportedError) Error() string {
	return "in-process admission: " + n.What + " is not supported"
}

func (noClient) Get(_ context.Context, _ client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	return NotSupportedError{fmt.Sprintf("reading a %T", o)}
}

func (noClient) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	return NotSupportedError{fmt.Sprintf("listing a %T", list)}
}

var errWriting = NotSupportedError{"writing"}

func (noClient) Create(context.Context, client.Object, ...client.CreateOption) error {
	return errWriting
}
func (noClient) Delete(context.Context, client.Object, ...client.DeleteOption) error {
	return errWriting
}
func (noClient) Update(context.Context, client.Object, ...client.UpdateOption) error {
	return errWriting
}
func (noClient) Patch(context.Context, client.Object, client.Patch, ...client.PatchOption) error {
	return errWriting
}
func (noClient) Apply(context.Context, runtime.ApplyConfiguration, ...client.ApplyOption) error {
	return errWriting
}
func (noClient) DeleteAllOf(context.Context, client.Object, ...client.DeleteAllOfOption) error {
	return errWriting
}
func (noClient) Status() client.SubResourceWriter                { return noSubResource{} }
func (noClient) SubResource(string) client.SubResourceClient     { return noSubResource{} }
func (noClient) Scheme() *runtime.Scheme                         { return decode.Scheme() }
func (noClient) RESTMapper() meta.RESTMapper                     { return meta.NewDefaultRESTMapper(nil) }
func (noClient) IsObjectNamespaced(runtime.Object) (bool, error) { return false, errWriting }
func (noClient) GroupVersionKindFor(o runtime.Object) (schema.GroupVersionKind, error) {
	kinds, _, err := decode.Scheme().ObjectKinds(o)
	if err != nil {
		return schema.GroupVersionKind{}, err
	}
	return kinds[0], nil
}

type noSubResource struct{}

func (noSubResource) Get(context.Context, client.Object, client.Object, ...client.SubResourceGetOption) error {
	return errWriting
}
func (noSubResource) Create(context.Context, client.Object, client.Object, ...client.SubResourceCreateOption) error {
	return errWriting
}
func (noSubResource) Update(context.Context, client.Object, ...client.SubResourceUpdateOption) error {
	return errWriting
}
func (noSubResource) Patch(context.Context, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
	return errWriting
}
func (noSubResource) Apply(context.Context, runtime.ApplyConfiguration, ...client.SubResourceApplyOption) error {
	return errWriting
}
