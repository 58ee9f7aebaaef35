package templates

import (
	"strings"
	"testing"

	"github.com/hyperpod-cli/hyperpod/internal/templates/parse"
)

// Pod specs are checked to the last field by the API's own types.
func TestPodFieldsAreChecked(t *testing.T) {
	for text, want := range map[string]string{
		"        env: [{name: A, valu: x}]":                                     `did you mean "value"`,
		"        env: [{name: A, valueFrom: {secretKeyReff: {name: a}}}]":       `did you mean "secretKeyRef"`,
		"        ports: [{containerPort: http}]":                                "whole number",
		"        resources: {request: {cpu: 1}}":                                `did you mean "requests"`,
		"        livenessProbe: {httpGet: {port: 80, pth: /}}":                  `did you mean "path"`,
		"        volumeMounts: [{name: a, mountpath: /}]":                       `did you mean "mountPath"`,
		"        securityContext: {privileged: maybe}":                          "true or false",
		"      volumes: [{name: a, hostpath: {path: /}}]":                       `did you mean "hostPath"`,
		"      affinity: {nodeAffinity: {requiredDuringScheduling: {}}}":        `did you mean "requiredDuringSchedulingIgnoredDuringExecution"`,
		"      tolerations: [{tolerationSeconds: 1.5}]":                         "whole number",
		"      topologySpreadConstraints: [{maxSkew: 1, labelSelecter: {}}]":    `did you mean "labelSelector"`,
		"      securityContext: {runAsUser: root}":                              "whole number",
		"      containers: {name: c}":                                           "given twice",
		"      terminationGracePeriodSeconds: soon":                             "whole number",
		"      imagePullSecrets: [regcred]":                                     "must be a map",
		"      initContainers: [{name: a, restartPolicy: Always, images: [x]}]": `did you mean "image"`,
	} {
		if _, err := parse.Text("t", "t", []byte(jobHead+text+"\n")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n%v, want %q", text, err, want)
		}
	}
	for _, good := range []string{
		"        ports: [{containerPort: 80}]\n        readinessProbe: {httpGet: {port: http}, periodSeconds: 5}",
		"        resources: {requests: {cpu: 500m, memory: 1.5Gi, nvidia.com/gpu: 1, hugepages-2Mi: 5120Mi}}",
		"        env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]\n      hostNetwork: true",
		"      volumes: [{name: a, emptyDir: {}}, {name: b, csi: {driver: d, volumeAttributes: {x: y}}}, {name: c, secret: {secretName: s, defaultMode: 0400}}]",
		"      schedulingGates: [{name: g}]\n      nodeSelector: {a: b}",
	} {
		mustParse(t, jobHead+good+"\n")
	}
}
