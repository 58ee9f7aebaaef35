package podrules

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/hyperpod-cli/hyperpod/internal/faults"
)

// volumes checks the volumes of a pod and returns their names.
func (c *checker) volumes(spec map[string]any) map[string]bool {
	names := map[string]bool{}
	for _, name := range c.options.Volumes {
		names[name] = true
	}
	own := map[string]bool{}
	faults.Each(spec["volumes"], func(i int, m map[string]any) {
		p := at{"volumes", i}
		c.named(p, m, "name", validation.IsDNS1123Label)
		name, _ := m["name"].(string)
		if own[name] && !c.Open(name) {
			c.Add(p.To("name"), field.ErrorTypeDuplicate, name, "")
		}
		own[name], names[name] = true, true
		c.volume(p, m)
	})
	return names
}

// sources are the fields of a volume, in the order in which the API server looks at them.
var sources = []string{"emptyDir", "hostPath", "gitRepo", "gcePersistentDisk", "awsElasticBlockStore", "secret", "nfs", "iscsi", "glusterfs", "flexVolume",
	"configMap", "projected", "cinder", "cephfs", "flocker", "rbd", "quobyte", "downwardAPI", "fc", "persistentVolumeClaim", "azureFile", "vsphereVolume",
	"azureDisk", "portworxVolume", "storageos", "photonPersistentDisk", "scaleIO", "csi", "ephemeral", "image"}

func (c *checker) volume(p at, m map[string]any) {
	kind := ""
	for _, key := range sources {
		switch {
		case m[key] == nil:
		case kind == "":
			kind = key
		default:
			c.Forbidden(p.To(key), "may not specify more than 1 volume type")
		}
	}
	source := faults.Inner(m, kind)
	if kind == "" || source == nil {
		return
	}
	p = p.To(kind)
	switch kind {
	case "hostPath":
		c.named(p, source, "path", nil)
		c.OneOf(p, source, "type", "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket")
	case "persistentVolumeClaim":
		c.named(p, source, "claimName", nil)
	case "secret":
		c.named(p, source, "secretName", nil)
		c.files(p, source)
	case "configMap":
		c.named(p, source, "name", nil)
		c.files(p, source)
	case "nfs":
		c.named(p, source, "server", nil)
		c.named(p, source, "path", func(s string) []string {
			if !strings.HasPrefix(s, "/") {
				return []string{"must be an absolute path"}
			}
			return nil
		})
	case "csi":
		c.named(p, source, "driver", nil)
	}
}

// files checks the modes and paths of the files of a ConfigMap or Secret.
func (c *checker) files(p at, m map[string]any) {
	mode := func(n int) []string {
		if n < 0 || n > 0o777 {
			return []string{"must be a number between 0 and 0777 (octal), both inclusive"}
		}
		return nil
	}
	c.within(p, m, "defaultMode", mode)
	faults.Each(m["items"], func(i int, item map[string]any) {
		c.named(p.To("items", i), item, "key", nil)
		c.named(p.To("items", i), item, "path", nil)
		c.within(p.To("items", i), item, "mode", mode)
	})
}

func (c *checker) container(p at, m map[string]any, init, host bool, volumes, claims map[string]bool) {
	c.ports(p, m, host)
	faults.Each(m["env"], func(i int, e map[string]any) { c.variable(p.To("env", i), e) })
	faults.Each(m["envFrom"], func(i int, e map[string]any) {
		if e["configMapRef"] == nil && e["secretRef"] == nil {
			c.Invalid(p.To("envFrom"), "", "must specify one of: `configMapRef` or `secretRef`")
		}
		for _, key := range []string{"configMapRef", "secretRef"} {
			if ref := faults.Inner(e, key); ref != nil {
				c.named(p.To("envFrom", i, key), ref, "name", nil)
			}
		}
	})
	c.mounts(p, m, volumes)
	c.resources(p.To("resources"), faults.Inner(m, "resources"), claims)
	sidecar := m["restartPolicy"] == "Always"
	for _, key := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
		probe, isMap := m[key].(map[string]any)
		switch {
		case !isMap:
		case init && !sidecar:
			c.Forbidden(p.To(key), "may not be set for init containers without restartPolicy=Always")
		default:
			c.handler(p.To(key), probe, "exec", "httpGet", "tcpSocket", "grpc")
			if n, ok := faults.Number(probe["successThreshold"]); ok && n > 1 && key != "readinessProbe" {
				c.Invalid(p.To(key, "successThreshold"), n, "must be 1")
			}
			for _, count := range []string{"initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"} {
				c.within(p.To(key), probe, count, notNegative)
			}
		}
	}
	for _, key := range []string{"postStart", "preStop"} {
		if hook, isMap := faults.Inner(m, "lifecycle")[key].(map[string]any); isMap {
			c.handler(p.To("lifecycle", key), hook, "exec", "httpGet", "tcpSocket", "sleep")
		}
	}
	c.OneOf(p, m, "terminationMessagePolicy", "File", "FallbackToLogsOnError")
	c.users(p.To("securityContext"), faults.Inner(m, "securityContext"))
}

func (c *checker) ports(p at, m map[string]any, host bool) {
	names := map[string]bool{}
	faults.Each(m["ports"], func(i int, port map[string]any) {
		p := p.To("ports", i)
		name, ok := c.text(port, "name")
		switch {
		case !ok || name == "":
		case len(validation.IsValidPortName(name)) > 0:
			c.Invalid(p.To("name"), name, validation.IsValidPortName(name)...)
		case names[name]:
			c.Add(p.To("name"), field.ErrorTypeDuplicate, name, "")
		default:
			names[name] = true
		}
		n, isNumber := faults.Number(port["containerPort"])
		switch {
		case port["containerPort"] == nil || isNumber && n == 0:
			c.Required(p.To("containerPort"), "")
		case isNumber:
			c.Invalid(p.To("containerPort"), n, validation.IsValidPortNum(int(n))...)
		}
		if h, ok := faults.Number(port["hostPort"]); ok && h != 0 {
			c.Invalid(p.To("hostPort"), h, validation.IsValidPortNum(int(h))...)
			if host && isNumber && h != n {
				c.Invalid(p.To("hostPort"), h, "must match `containerPort` when `hostNetwork` is true")
			}
		}
		c.OneOf(p, port, "protocol", "SCTP", "TCP", "UDP")
	})
}

// envSources are the fields of an environment variable's source.
var envSources = []string{"fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"}

func (c *checker) variable(p at, e map[string]any) {
	c.named(p, e, "name", validation.IsRelaxedEnvVarName)
	from, isMap := e["valueFrom"].(map[string]any)
	if !isMap {
		return
	}
	value, _ := e["value"].(string)
	n := 0
	for _, key := range envSources {
		if from[key] != nil {
			n++
		}
	}
	switch {
	case n == 0 && len(from) == 0:
		c.Invalid(p.To("valueFrom"), "", "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`")
	case n > 0 && value != "":
		c.Invalid(p.To("valueFrom"), "", "may not be specified when `value` is not empty")
	case n > 1:
		c.Invalid(p.To("valueFrom"), "", "may not have more than one field specified at a time")
	}
	for _, key := range []string{"configMapKeyRef", "secretKeyRef"} {
		if ref := faults.Inner(from, key); ref != nil {
			c.named(p.To("valueFrom", key), ref, "name", nil)
			c.named(p.To("valueFrom", key), ref, "key", nil)
		}
	}
	if resource, ok := c.text(faults.Inner(from, "resourceFieldRef"), "resource"); ok && resource != "" && !slices.Contains(containerAmounts, resource) &&
		!strings.HasPrefix(resource, "limits.hugepages-") && !strings.HasPrefix(resource, "requests.hugepages-") {
		c.Add(p.To("valueFrom", "resourceFieldRef", "resource"), field.ErrorTypeNotSupported, resource, "", containerAmounts...)
	}
	if ref := faults.Inner(from, "fieldRef"); ref != nil {
		c.named(p.To("valueFrom", "fieldRef"), ref, "fieldPath", nil)
		if s, ok := c.text(ref, "fieldPath"); ok && s != "" && !slices.Contains(podFields, s) && !strings.Contains(s, "[") {
			if strings.HasPrefix(s, "metadata.") || s == "status.phase" {
				c.Add(p.To("valueFrom", "fieldRef", "fieldPath"), field.ErrorTypeNotSupported, s, "", podFields...)
			} else {
				c.Invalid(p.To("valueFrom", "fieldRef", "fieldPath"), s, "error converting fieldPath: field label not supported: "+s)
			}
		}
	}
}

// containerAmounts are the amounts of a container that a variable can have as its value. Devices are none of them.
var containerAmounts = []string{"limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"}

// podFields are the fields of a pod that a variable can have as its value.
var podFields = []string{"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"}

func (c *checker) mounts(p at, m map[string]any, volumes map[string]bool) {
	paths := map[string]bool{}
	faults.Each(m["volumeMounts"], func(i int, mount map[string]any) {
		p := p.To("volumeMounts", i)
		name, ok := c.text(mount, "name")
		switch {
		case !ok:
		case name == "":
			c.Required(p.To("name"), "")
		case !volumes[name] && !c.options.Partial && !c.anyOpen(volumes):
			c.Add(p.To("name"), field.ErrorTypeNotFound, name, "")
		}
		path, ok := c.text(mount, "mountPath")
		switch {
		case !ok:
		case path == "":
			c.Required(p.To("mountPath"), "")
		case paths[path]:
			c.Invalid(p.To("mountPath"), path, "must be unique")
		}
		paths[path] = ok
		for _, key := range []string{"subPath", "subPathExpr"} {
			switch s, ok := c.text(mount, key); {
			case !ok:
			case strings.HasPrefix(s, "/"):
				c.Invalid(p.To(key), s, "must be a relative path")
			case slices.Contains(strings.Split(s, "/"), ".."):
				c.Invalid(p.To(key), s, "must not contain '..'")
			}
		}
	})
}

// anyOpen reports whether a name has a placeholder.
func (c *checker) anyOpen(names map[string]bool) bool {
	for name := range names {
		if c.Open(name) {
			return true
		}
	}
	return false
}

// handler checks a probe or a hook, which has exactly one of some fields.
func (c *checker) handler(p at, m map[string]any, kinds ...string) {
	have := ""
	for _, key := range kinds {
		switch {
		case m[key] == nil:
		case have == "":
			have = key
		default:
			c.Forbidden(p.To(key), "may not specify more than 1 handler type")
		}
	}
	source := faults.Inner(m, have)
	switch have {
	case "":
		c.Required(p, "must specify a handler type")
	case "exec":
		if command, isList := source["command"].([]any); source["command"] == nil || isList && len(command) == 0 {
			c.Required(p.To("exec", "command"), "")
		}
	case "httpGet", "tcpSocket", "grpc":
		c.probePort(p.To(have), source)
		if have == "httpGet" {
			c.OneOf(p.To(have), source, "scheme", "HTTP", "HTTPS")
		}
	}
}

func (c *checker) probePort(p at, m map[string]any) {
	if s, isText := m["port"].(string); isText {
		if !c.Open(s) {
			c.Invalid(p.To("port"), s, validation.IsValidPortName(s)...)
		}
		return
	}
	if n, ok := faults.Number(m["port"]); ok || m["port"] == nil {
		c.Invalid(p.To("port"), n, validation.IsValidPortNum(int(n))...)
	}
}
