package jobrules

import (
	"slices"

	"github.com/hyperpod-cli/hyperpod/internal/structural"
)

// The definitions of kinds whose operators are not Go modules, as far as they demand something besides types. Sources:
// components/notebook-controller of kubeflow/kubeflow (v1.10), config/crd of jupyter-infra/jupyter-k8s, and of
// aws/sagemaker-hyperpod-cli the helm chart of the inference operator and the model of HyperPodPyTorchJob (v3.9).

type fields map[string]*structural.Schema

// needs describes an object with required fields, named in a text, and rules for fields.
func needs(required []string, f fields) *structural.Schema {
	return &structural.Schema{Required: required, Properties: f}
}

func with(f fields) *structural.Schema { return &structural.Schema{Properties: f} }

func words(allowed ...string) *structural.Schema { return &structural.Schema{Enum: allowed} }

func listOf(items *structural.Schema) *structural.Schema { return &structural.Schema{Items: items} }

// uniqueOf describes a list whose items differ in a field.
func uniqueOf(key string, items *structural.Schema) *structural.Schema {
	return &structural.Schema{Items: items, ListType: "map", MapKeys: []string{key}}
}

func atLeast(n int64) *structural.Schema { return &structural.Schema{Minimum: &n} }

func between(least, most int64) *structural.Schema {
	return &structural.Schema{Minimum: &least, Maximum: &most}
}

func like(pattern string) *structural.Schema { return &structural.Schema{Pattern: pattern} }

// short is a text with at most some characters, with a pattern unless that is "".
func short(n int64, pattern string) *structural.Schema {
	return &structural.Schema{MaxLength: &n, Pattern: pattern}
}

// atMost limits the items of a list.
func atMost(n int64, s *structural.Schema) *structural.Schema {
	s.MaxItems = &n
	return s
}

func named() []string { return []string{"name"} }

func nameAndValue() *structural.Schema { return needs([]string{"name", "value"}, nil) }

func containers(more ...string) *structural.Schema {
	return listOf(needs(slices.Concat(named(), more), nil))
}

func resources() *structural.Schema {
	return with(fields{"claims": uniqueOf("name", needs(named(), nil))})
}

func notebook() *structural.Schema {
	one := int64(1)
	list := containers("image")
	list.MinItems = &one
	return with(fields{"spec": with(fields{"template": with(fields{"spec": needs([]string{"containers"}, fields{"containers": list, "initContainers": containers()})})})})
}

func hyperPodPyTorchJob() *structural.Schema {
	return with(fields{"spec": with(fields{
		"replicaSpecs": listOf(needs(named(), fields{"replicas": atLeast(0)})),
		"runPolicy": with(fields{
			"cleanPodPolicy":             words("All", "Running", "None"),
			"logMonitoringConfiguration": listOf(needs([]string{"name", "logPattern"}, nil)),
			"restartPolicy":              needs([]string{"evalPeriodSeconds"}, nil),
		}),
	})})
}

func workspace() *structural.Schema {
	access := words("Public", "OwnerOnly")
	return needs([]string{"spec"}, fields{"spec": with(fields{ // displayName is required; the operator's webhook sets it to ""
		"accessStrategy": needs(named(), nil),
		"accessType":     access,
		"ownershipType":  access,
		"desiredStatus":  words("Running", "Stopped"),
		"env":            listOf(needs(named(), nil)),
		"idleShutdown": needs([]string{"detection", "enabled", "idleTimeoutInMinutes"}, fields{
			"idleTimeoutInMinutes": atLeast(1),
			"detection": with(fields{"httpGet": needs([]string{"port"}, fields{
				"httpHeaders":           listOf(nameAndValue()),
				"lastActivityTimestamp": with(fields{"format": words("RFC3339", "unix")}),
				"transport":             words("podExec", "network"),
			})}),
		}),
		"initContainers": atMost(10, containers()),
		"resources":      resources(),
		"templateRef":    needs(named(), nil),
		"volumes":        listOf(needs([]string{"mountPath", "name", "persistentVolumeClaimName"}, fields{"name": {Rules: []structural.Rule{{Rule: "self != 'workspace-storage'", Message: "this name is reserved"}}}})),
	})})
}

func scaling() *structural.Schema {
	trigger := fields{"metricType": words("Value", "Average"), "dimensions": listOf(nameAndValue())}
	return with(fields{
		"cloudWatchTrigger": with(trigger), "cloudWatchTriggerList": atMost(100, listOf(with(trigger))),
		"prometheusTrigger": with(trigger), "prometheusTriggerList": atMost(100, listOf(with(trigger))),
		"cooldownPeriod": atLeast(0), "initialCooldownPeriod": atLeast(0), "pollingInterval": atLeast(0),
		"maxReplicaCount": atLeast(0), "minReplicaCount": atLeast(0),
		"scaleDownStabilizationTime": atLeast(0), "scaleUpStabilizationTime": atLeast(0),
	})
}

// endpointName is the form of the names of SageMaker's models, hubs and endpoints.
const endpointName = "[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}"

// endpoint has the fields that the kinds of the inference operator share.
func endpoint(more fields) fields {
	f := fields{
		"autoScalingSpec": scaling(),
		"dnsConfig":       needs([]string{"hostedZoneId"}, fields{"hostedZoneId": like("^Z[A-Z0-9]+$")}),
		"intelligentRoutingSpec": with(fields{"autoScalingSpec": scaling(),
			"routingStrategy": words("prefixaware", "kvaware", "session", "roundrobin")}),
		"kvCacheSpec":  with(fields{"l2CacheSpec": with(fields{"l2CacheBackend": like("(?i)redis|tieredstorage")})}),
		"loadBalancer": with(fields{"healthCheckPath": like("^/"), "routingAlgorithm": words("least_outstanding_requests", "round_robin")}),
		"metrics":      with(fields{"metricsScrapeIntervalSeconds": between(5, 300), "modelMetrics": with(fields{"port": between(1024, 65535)})}),
		"tlsConfig":    with(fields{"customCertificateConfig": needs([]string{"acmArn", "domainName"}, nil), "tlsCertificateOutputS3Uri": like("^s3://[^/]+")}),
	}
	for name, s := range more {
		f[name] = s
	}
	return f
}

func inferenceEndpointConfig() *structural.Schema {
	part := with(fields{"replicas": atLeast(1), "resources": resources()})
	return with(fields{"spec": needs([]string{"modelName", "modelSourceConfig", "worker"}, endpoint(fields{
		"endpointName": short(63, "^$|^"+endpointName+"$"),
		"instanceType": like(`^ml\.`),
		"kubernetes":   with(fields{"initContainers": containers(), "volumes": listOf(needs(named(), nil))}),
		"modelName":    short(63, "^"+endpointName),
		"modelSourceConfig": needs([]string{"modelSourceType"}, fields{
			"modelSourceType":  words("fsx", "s3", "huggingface", "kubernetesVolume"),
			"fsxStorage":       needs([]string{"fileSystemId"}, nil),
			"s3Storage":        needs([]string{"bucketName", "region"}, nil),
			"huggingFaceModel": needs([]string{"modelId"}, fields{"modelId": like("^[a-zA-Z0-9_.-]+/[a-zA-Z0-9_.-]+$"), "commitSHA": like("^[0-9a-f]{40}$"), "tokenSecretRef": needs([]string{"key"}, nil)}),
		}),
		"pdSpec": needs([]string{"decodingSpec", "prefillSpec"}, fields{"decodingSpec": part, "prefillSpec": part, "routingThreshold": atLeast(0),
			"autoScalingSpec": with(fields{"decodingAutoScaling": scaling(), "prefillAutoScaling": scaling()})}),
		"tags": listOf(nameAndValue()),
		"worker": needs([]string{"image", "modelInvocationPort", "modelVolumeMount", "resources"}, fields{
			"environmentVariables": uniqueOf("name", needs(named(), nil)),
			"modelInvocationPort":  needs([]string{"containerPort"}, fields{"containerPort": between(1, 65535), "name": words("http", "grpc")}),
			"modelVolumeMount":     needs(named(), nil),
			"requestLimits":        with(fields{"maxConcurrentRequests": atLeast(1), "maxQueueSize": atLeast(0), "overflowStatusCode": between(400, 599)}),
			"resources":            resources(),
		}),
	}))})
}

func jumpStartModel() *structural.Schema {
	return with(fields{"spec": needs([]string{"model", "server"}, endpoint(fields{
		"environmentVariables": atMost(100, listOf(nameAndValue())),
		"model": needs([]string{"modelId"}, fields{
			"additionalConfigs": atMost(10, listOf(nameAndValue())),
			"modelHubName":      short(63, "^"+endpointName+"$"),
			"modelId":           short(63, "^"+endpointName+"$"),
			"modelVersion":      like(`^\d{1,4}.\d{1,4}.\d{1,4}$`),
		}),
		"sageMakerEndpoint": with(fields{"name": short(63, "^$|^"+endpointName+"$")}),
		"server":            needs([]string{"instanceType"}, fields{"instanceType": like(`^ml\.`), "acceleratorPartitionType": like("^mig-")}),
	}))})
}
