package overlay

import (
	"path"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
	"github.com/hyperpod-cli/hyperpod/internal/templates/values"
)

// volumeSource returns the volume's entry in a pod.
func volumeSource(v values.Volume) map[string]any {
	out := map[string]any{"name": v.VolumeName()}
	switch v.Type {
	case values.HostPath:
		host := map[string]any{"path": v.Path}
		if v.Create {
			host["type"] = "DirectoryOrCreate"
		}
		out["hostPath"] = host
	case values.PVC:
		claim := map[string]any{"claimName": v.Claim}
		if v.ReadOnly {
			claim["readOnly"] = true
		}
		out["persistentVolumeClaim"] = claim
	case values.EmptyDir:
		dir := map[string]any{}
		if v.Memory {
			dir["medium"] = "Memory"
		}
		if v.Size != "" {
			dir["sizeLimit"] = v.Size
		}
		out["emptyDir"] = dir
	}
	return out
}

// volumeMount returns the volume's entry in a container.
func volumeMount(v values.Volume) map[string]any {
	out := map[string]any{"name": v.VolumeName(), "mountPath": v.MountPath}
	if v.ReadOnly {
		out["readOnly"] = true
	}
	return out
}

// applyVolume puts the volume into a pod and mounts it in a container. What had the
// volume's name or mount path before is replaced.
func applyVolume(v values.Volume, pod, container map[string]any) {
	name := v.VolumeName()
	pod["volumes"] = append(jobobject.Without(pod["volumes"], func(m map[string]any) bool { return m["name"] == name }), volumeSource(v))
	mounts := jobobject.Without(container["volumeMounts"], func(m map[string]any) bool {
		return path.Clean(manifest.TextOf(m["mountPath"])) == path.Clean(v.MountPath)
	})
	container["volumeMounts"] = append(mounts, volumeMount(v))
}

// dropUnmounted removes the volumes among names that no container of the pod
// mounts any more. It returns their names.
func dropUnmounted(pod map[string]any, names []string) (dropped []string) {
	used := map[string]bool{}
	for _, list := range []string{"initContainers", "containers"} {
		for _, c := range jobobject.MapsIn(pod[list]) {
			for _, key := range []string{"volumeMounts", "volumeDevices"} {
				for _, m := range jobobject.MapsIn(c[key]) {
					used[manifest.TextOf(m["name"])] = true
				}
			}
		}
	}
	for _, name := range names {
		if !used[name] {
			pod["volumes"] = jobobject.Without(pod["volumes"], func(m map[string]any) bool { return m["name"] == name })
			dropped = append(dropped, name)
		}
	}
	return dropped
}

func (s *job) applyVolumes(pod, c map[string]any) {
	var before []string
	for _, m := range jobobject.MapsIn(c["volumeMounts"]) {
		before = append(before, manifest.TextOf(m["name"]))
	}
	for _, v := range s.Volumes {
		applyVolume(v, pod, c)
	}
	if len(s.Volumes) > 0 {
		if dropped := dropUnmounted(pod, before); s.Own() && len(dropped) > 0 {
			s.Notef("set by %s: removed %s, which nothing mounts now", setting.Volumes, strings.Join(dropped, ", "))
		}
	}
}
