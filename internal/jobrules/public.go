package jobrules

import "slices"

// The definitions of kinds whose operators are not Go modules, as far as they demand something besides types. Sources:
// components/notebook-controller of kubeflow/kubeflow (v1.10), config/crd of jupyter-infra/jupyter-k8s, and of
// aws/sagemaker-hyperpod-cli the helm chart of the inference operator and the model of HyperPodPyTorchJob (v3.9).

type fields map[string]*schema

// needs describes an object with required fields, named in a text, and rules for fields.
func needs(required []string, f fields) *schema { return &schema{Required: required, Properties: f} }

func with(f fields) *schema { return &schema{Properties: f} }

func words(allowed ...string) *schema { return &schema{Enum: allowed} }

func listOf(items *schema) *schema { return &schema{Items: items} }

// uniqueOf describes a list whose items differ in a field.
func uniqueOf(key string, items *schema) *schema { return &schema{Items: items, Keys: []string{key}} }

func atLeast(n int64) *schema { return &schema{Minimum: &n} }

func between(least, most int64) *schema { return &schema{Minimum: &least, Maximum: &most} }

func like(pattern string) *schema { return &schema{Pattern: pattern} }

// short is a text with at most some characters, with a pattern unless that is "".
func short(n int, pattern string) *schema { return &schema{MaxLength: &n, Pattern: pattern} }

// atMost limits the items of a list.
func atMost(n int, s *schema) *schema {
	s.MaxItems = &n
	return s
}

func named() []string { return []string{"name"} }

func nameAndValue() *schema { return needs([]string{"name", "value"}, nil) }

func containers(more ...string) *schema {
	return listOf(needs(slices.Concat(named(), more), nil))
}

func resources() *schema { return with(fields{"claims": uniqueOf("name", needs(named(), nil))}) }

func notebook() *schema {
	one := 1
	list := containers("image")
	list.MinItems = &one
	return with(fields{"spec": with(fields{"template": with(fields{"spec": needs([]string{"containers"}, fields{"containers": list, "initContainers": containers()})})})})
}

func hyperPodPyTorchJob() *schema {
	return with(fields{"spec": with(fields{
		"replicaSpecs": listOf(needs(named(), fields{"replicas": atLeast(0)})),
		"runPolicy": with(fields{
			"cleanPodPolicy":             words("All", "Running", "None"),
			"logMonitoringConfiguration": listOf(needs([]string{"name", "logPattern"}, nil)),
			"restartPolicy":              needs([]string{"evalPeriodSeconds"}, nil),
		}),
	})})
}

func workspace() *schema {
	access := words("Public", "OwnerOnly")
	return needs([]string{"spec"}, fields{"spec": needs([]string{"displayName"}, fields{
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
		"volumes":        listOf(needs([]string{"mountPath", "name", "persistentVolumeClaimName"}, fields{"name": {Not: "workspace-storage"}})),
	})})
}

func scaling() *schema {
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

func inferenceEndpointConfig() *schema {
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

func jumpStartModel() *schema {
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
