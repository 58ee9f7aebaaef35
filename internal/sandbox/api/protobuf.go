package api

import (
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

const protobufMedia = "application/vnd.kubernetes.protobuf"

var protobufDecoder = sync.OnceValue(func() *protobuf.Serializer {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, batchv1.AddToScheme, schedulingv1.AddToScheme,
		coordinationv1.AddToScheme, authorizationv1.AddToScheme, authenticationv1.AddToScheme, rbacv1.AddToScheme, policyv1.AddToScheme,
		appsv1.AddToScheme, networkingv1.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err) // the same for every process, so a test would see it
		}
	}
	metav1.AddToGroupVersion(scheme, corev1.SchemeGroupVersion)
	return protobuf.NewSerializer(scheme, scheme)
})

// fromProtobuf converts the protobuf bodies of typed clients (kubectl create configmap,
// kubectl auth can-i) to decoded JSON.
func fromProtobuf(body []byte) (map[string]any, error) {
	o, gvk, err := protobufDecoder().Decode(body, nil, nil)
	if err != nil {
		return nil, badRequest("the body of the request could not be decoded: " + err.Error())
	}
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return nil, badRequest(err.Error())
	}
	m["apiVersion"], m["kind"] = gvk.GroupVersion().String(), gvk.Kind
	return m, nil
}
