package record

import (
	"cmp"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/permissions"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

const (
	objectName = "hyperpod-recorder"
	volumePath = "/var/lib/hyperpod"
)

func (o *Options) checkManifest() error {
	if _, err := resource.ParseQuantity(o.storage()); err != nil {
		return factory.Invalid("storage", o.Storage, "must be a quantity, for example "+defaultStorage)
	}
	return nil
}

// defaultStorage is the size of the volume in which the Deployment keeps the history.
const defaultStorage = "1Gi"

func (o *Options) storage() string { return cmp.Or(o.Storage, defaultStorage) }

// manifest returns the objects of a recorder in the cluster. Only one Pod may write the volume, so a new one waits
// until the old one has ended.
func (o *Options) manifest() (string, error) {
	ns := cmp.Or(o.Factory.Global.Namespace, "default")
	meta := metav1.ObjectMeta{Name: objectName, Namespace: ns, Labels: map[string]string{"app.kubernetes.io/name": objectName, permissions.ManagedByLabel: permissions.Manager}}
	global := meta
	global.Namespace = ""
	match := map[string]string{"app.kubernetes.io/name": objectName}
	user, yes, no, one := int64(65532), true, false, int32(1)
	var rules []rbacv1.PolicyRule
	for _, r := range permissions.Recorder() {
		rules = append(rules, rbacv1.PolicyRule{APIGroups: []string{r.Group}, Resources: []string{r.Resource}, Verbs: r.Verbs})
	}
	args := []string{"record", "--directory", volumePath, "--every", words.Exact(o.every()), "--retain", words.Exact(o.retain()), "--project-label", o.ProjectLabel}
	objects := []any{
		&corev1.ServiceAccount{TypeMeta: kind("v1", "ServiceAccount"), ObjectMeta: meta},
		&rbacv1.ClusterRole{TypeMeta: kind(rbacv1.SchemeGroupVersion.String(), "ClusterRole"), ObjectMeta: global, Rules: rules},
		&rbacv1.ClusterRoleBinding{TypeMeta: kind(rbacv1.SchemeGroupVersion.String(), "ClusterRoleBinding"), ObjectMeta: global,
			RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: objectName},
			Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Name: objectName, Namespace: ns}}},
		&corev1.PersistentVolumeClaim{TypeMeta: kind("v1", "PersistentVolumeClaim"), ObjectMeta: meta, Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(o.storage())}}}},
		&appsv1.Deployment{TypeMeta: kind("apps/v1", "Deployment"), ObjectMeta: meta, Spec: appsv1.DeploymentSpec{
			Replicas: &one, Selector: &metav1.LabelSelector{MatchLabels: match}, Strategy: appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: match}, Spec: corev1.PodSpec{
				ServiceAccountName: objectName,
				SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: &yes, RunAsUser: &user, FSGroup: &user,
					SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}},
				Containers: []corev1.Container{{Name: "recorder", Image: o.Image, Args: args,
					Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceMemory: resource.MustParse("128Mi")},
						Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("512Mi")}},
					SecurityContext: &corev1.SecurityContext{AllowPrivilegeEscalation: &no, ReadOnlyRootFilesystem: &yes, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}},
					VolumeMounts:    []corev1.VolumeMount{{Name: "store", MountPath: volumePath}}}},
				Volumes: []corev1.Volume{{Name: "store", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: objectName}}}},
			}}}},
	}
	parts := make([]string, len(objects))
	for i, object := range objects {
		text, err := yaml.Marshal(object)
		if err != nil {
			return "", err
		}
		parts[i] = string(text)
	}
	return strings.TrimSuffix(strings.Join(parts, "---\n"), "\n"), nil
}

func kind(version, name string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: version, Kind: name}
}
