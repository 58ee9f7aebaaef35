package upload

import (
	"encoding/base64"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
)

// Volume is the name of the volume in the pods.
const Volume = "hyperpod-code"

// suffix ends the name of the ConfigMap.
const suffix = "-code"

// maxName is what the API server accepts as the name of a ConfigMap.
const maxName = 253

// Modes of the files in the pods.
const (
	readable   = 0o444
	executable = 0o555
)

// Attached is what Attach made.
type Attached struct {
	ConfigMap map[string]any
	// Started are the containers that now start in the folder, and Kept those whose
	// manifest states another one.
	Started, Kept int
	// Replaces is the ConfigMap of an earlier upload that the job no longer uses, or "".
	Replaces string
}

// Attach makes a ConfigMap of the files, and mounts it at a path of all containers of the
// job. Containers start there unless the manifest states another folder.
func (f Files) Attach(job map[string]any, at string) (Attached, error) {
	name := kinds.Text(job, "metadata", "name")
	if len(name)+len(suffix) > maxName {
		return Attached{}, fmt.Errorf("the name of the job is too long for a ConfigMap: %d characters", len(name))
	}
	meta := map[string]any{"name": name + suffix}
	if ns := kinds.Text(job, "metadata", "namespace"); ns != "" {
		meta["namespace"] = ns
	}
	made := Attached{ConfigMap: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta}}
	text, binary := map[string]any{}, map[string]any{}
	var items []any
	for i, file := range f.Files {
		key := fmt.Sprintf("%03d-%s", i, plain(path.Base(file.Path)))
		if utf8.Valid(file.Data) {
			text[key] = string(file.Data)
		} else {
			binary[key] = base64.StdEncoding.EncodeToString(file.Data)
		}
		item := map[string]any{"key": key, "path": file.Path}
		if file.Executable {
			item["mode"] = int64(executable)
		}
		items = append(items, item)
	}
	if len(text) > 0 {
		made.ConfigMap["data"] = text
	}
	if len(binary) > 0 {
		made.ConfigMap["binaryData"] = binary
	}
	err := mount(&made, job, at, "", map[string]any{"configMap": map[string]any{"name": name + suffix, "defaultMode": int64(readable), "items": items}})
	return made, err
}

// AttachClaim mounts a folder of a claim, read-only, at a path of all containers of the job,
// as Attach mounts a ConfigMap.
func AttachClaim(job map[string]any, claim, folder, at string) (Attached, error) {
	var made Attached
	err := mount(&made, job, at, folder, map[string]any{"persistentVolumeClaim": map[string]any{"claimName": claim}})
	return made, err
}

// mount adds a volume to all pods of a job and mounts it in their containers.
func mount(made *Attached, job map[string]any, at, subPath string, source map[string]any) error {
	jobobject.Unfold([]map[string]any{job})
	templates := jobobject.PodTemplates(job)
	if len(templates) == 0 {
		return fmt.Errorf("the job has no pods")
	}
	for _, t := range templates {
		pod := jobobject.Child(t.Template, "spec")
		if old := jobobject.Named(pod["volumes"], Volume); old != nil {
			made.Replaces = kinds.Text(old, "configMap", "name")
		}
		volume := jobobject.CopyOf(source).(map[string]any)
		volume["name"] = Volume
		pod["volumes"] = append(without(pod["volumes"]), volume)
		for _, c := range jobobject.MapsIn(pod["containers"]) {
			there := map[string]any{"name": Volume, "mountPath": at, "readOnly": true}
			if subPath != "" {
				there["subPath"] = subPath
			}
			c["volumeMounts"] = append(without(c["volumeMounts"]), there)
			if kinds.Text(c, "workingDir") == "" && kinds.ChildOf(job) == nil {
				c["workingDir"] = at
				made.Started++
			} else {
				made.Kept++
			}
		}
	}
	return jobobject.Fold([]map[string]any{job})
}

// without drops the volume, or its mount, of an earlier upload.
func without(v any) []any {
	return jobobject.Without(v, func(m map[string]any) bool { return m["name"] == Volume })
}

// plain keeps of a name what a key of a ConfigMap may have.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '.', r == '_':
			return r
		}
		return '_'
	}, name[:min(len(name), 200)])
}
