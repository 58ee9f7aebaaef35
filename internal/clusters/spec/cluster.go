package spec

// The patterns of names that several documents use.
const (
	namePattern = `[a-zA-Z0-9](-*[a-zA-Z0-9])*`
	nameOrARN   = `(arn:aws[a-z\-]*:sagemaker:[a-z0-9\-]*:[0-9]{12}:cluster/[a-z0-9]{12})|([a-zA-Z0-9](-*[a-zA-Z0-9]){0,62})`
	rolePattern = `arn:aws[a-z\-]*:iam::\d{12}:role/?[a-zA-Z_0-9+=,.@\-_/]+`
	labelKey    = `([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?`
	labelValue  = `(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?`
	tagPattern  = `([\p{L}\p{Z}\p{N}_.:/=+\-@]*)`
	dnsPattern  = `((fs|fc)i?-[0-9a-f]{8,}\..{4,253})`
)

// MostInstances is how many instances a group has at most.
const MostInstances = 6758

// ValidName reports whether a new cluster can have a name.
func ValidName(name string) bool {
	s := newName()
	return len(name) >= s.Min && len(name) <= s.Max && whole(s.Pattern, name)
}

// newName is the name of a new cluster.
func newName() *Shape   { return text(1, 63, namePattern) }
func groupName() *Shape { return text(1, 63, namePattern) }
func count() *Shape     { return integer(0, MostInstances) }
func role() *Shape      { return text(20, 2048, rolePattern) }

// instanceType is open: AWS adds instance types every month. Its words are in the table
// of instance types, not here.
func instanceType() *Shape {
	return &Shape{Type: Text, Pattern: `ml\.[a-z0-9-]+\.[a-z0-9-]+`, Open: true}
}

// CreateCluster returns the request that creates a cluster.
func CreateCluster() *Shape {
	return structure(append([]Member{needs("ClusterName", newName()), may("VpcConfig", vpc()),
		may("Tags", list(0, 50, structure(needs("Key", text(1, 128, tagPattern)), needs("Value", text(0, 256, tagPattern)))))}, common()...)...)
}

// UpdateCluster returns the request that changes a cluster.
func UpdateCluster() *Shape {
	return structure(append([]Member{needs("ClusterName", text(0, 256, nameOrARN)), may("InstanceGroupsToDelete", list(0, 100, groupName()))}, common()...)...)
}

// UpdateClusterSoftware returns the request that updates the images of instances.
func UpdateClusterSoftware() *Shape {
	return structure(needs("ClusterName", text(0, 256, nameOrARN)), may("InstanceGroups", list(1, 100, structure(needs("InstanceGroupName", groupName())))),
		may("DeploymentConfig", deployment()), may("ImageId", image()))
}

// common returns the members that a cluster is both created and changed with.
func common() []Member {
	return []Member{
		may("InstanceGroups", list(1, 100, Group())),
		may("RestrictedInstanceGroups", list(1, 100, restrictedGroup())),
		may("Orchestrator", structure(
			may("Eks", structure(needs("ClusterArn", text(20, 2048, `arn:aws[a-z\-]*:eks:[a-z0-9\-]*:[0-9]{12}:cluster\/[0-9A-Za-z][A-Za-z0-9\-_]{0,99}`)))),
			may("Slurm", structure(may("SlurmConfigStrategy", word("Overwrite", "Managed", "Merge")))))),
		may("NodeRecovery", word("Automatic", "None")),
		may("TieredStorageConfig", structure(needs("Mode", word("Enable", "Disable")), may("InstanceMemoryAllocationPercentage", integer(0, 100)))),
		may("NodeProvisioningMode", word("Continuous")),
		may("ClusterRole", role()),
		may("AutoScaling", structure(needs("Mode", word("Enable", "Disable")), may("AutoScalerType", word("Karpenter")))),
	}
}

// Group returns the specification of an instance group.
func Group() *Shape {
	key, value := text(1, 317, labelKey), text(1, 63, labelValue)
	return structure(append(always(false),
		may("MinInstanceCount", count()),
		may("InstanceRequirements", structure(needs("InstanceTypes", list(1, 20, instanceType())))),
		may("LifeCycleConfig", structure(may("SourceS3Uri", text(0, 1024, `(https|s3)://([^/]+)/?(.*)`)), may("OnCreate", text(1, 128, `[\S\s]+`)), may("OnInitComplete", text(1, 128, `[\S\s]+`)))),
		may("ImageId", image()),
		may("KubernetesConfig", structure(may("Labels", mapping(50, key, value)),
			may("Taints", list(0, 50, structure(needs("Key", key), may("Value", value), needs("Effect", word("NoSchedule", "PreferNoSchedule", "NoExecute"))))))),
		may("SlurmConfig", structure(needs("NodeType", word("Controller", "Login", "Compute")), may("PartitionNames", list(0, 1, text(0, 1024, namePattern))))),
		may("CapacityRequirements", structure(may("Spot", structure()), may("OnDemand", structure()))),
		may("NetworkInterface", structure(may("InterfaceType", word("efa", "efa-only")))))...)
}

// restrictedGroup returns the specification of a restricted instance group.
func restrictedGroup() *Shape {
	return structure(append(always(true),
		may("EnvironmentConfig", structure(may("FSxLustreConfig", structure(needs("SizeInGiB", integer(1200, 100800)), needs("PerUnitStorageThroughput", integer(125, 1000)))))))...)
}

// always returns the members of every instance group.
func always(restricted bool) []Member {
	return []Member{
		needs("InstanceCount", count()),
		needs("InstanceGroupName", groupName()),
		{"InstanceType", restricted, instanceType()},
		needs("ExecutionRole", role()),
		may("ThreadsPerCore", integer(1, 2)),
		may("InstanceStorageConfigs", list(0, 4, storage())),
		may("OnStartDeepHealthChecks", list(1, 2, HealthCheck())),
		may("TrainingPlanArn", text(50, 2048, `arn:aws[a-z\-]*:sagemaker:[a-z0-9\-]*:[0-9]{12}:training-plan/.*`)),
		may("OverrideVpcConfig", vpc()),
		may("ScheduledUpdateConfig", structure(needs("ScheduleExpression", text(1, 256, "")), may("DeploymentConfig", deployment()))),
	}
}

// HealthCheck returns a deep health check.
func HealthCheck() *Shape { return word("InstanceStress", "InstanceConnectivity") }

func vpc() *Shape {
	return structure(needs("SecurityGroupIds", list(1, 5, text(0, 32, `[-0-9a-zA-Z]+`))), needs("Subnets", list(1, 16, text(0, 32, `[-0-9a-zA-Z]+`))))
}

func image() *Shape { return text(7, 21, `ami-[0-9a-fA-F]{8,17}|default`) }

func storage() *Shape {
	dns, path := text(16, 275, dnsPattern), text(1, 1024, `/[a-zA-Z0-9._/-]+`)
	s := structure(
		may("EbsVolumeConfig", structure(may("VolumeSizeInGB", integer(1, 16384)), may("VolumeKmsKeyId", text(0, 2048, `[a-zA-Z0-9:/_-]*`)), may("RootVolume", boolean()))),
		may("FsxLustreConfig", structure(needs("DnsName", dns), needs("MountName", text(1, 8, `([A-Za-z0-9_-]{1,8})`)), may("MountPath", path))),
		may("FsxOpenZfsConfig", structure(needs("DnsName", dns), may("MountPath", path))))
	s.Union = true
	return s
}

func deployment() *Shape {
	size := structure(needs("Type", word("INSTANCE_COUNT", "CAPACITY_PERCENTAGE")), needs("Value", integer(1, 0)))
	// The model's pattern for the name of an alarm looks ahead, which this one need not.
	alarm := text(1, 255, `.*\S.*`)
	return structure(may("RollingUpdatePolicy", structure(needs("MaximumBatchSize", size), may("RollbackMaximumBatchSize", size))),
		may("WaitIntervalInSeconds", integer(0, 3600)), may("AutoRollbackConfiguration", list(1, 10, structure(needs("AlarmName", alarm)))))
}
