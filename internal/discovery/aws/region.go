package aws

import "github.com/hyperpod-cli/hyperpod/internal/pattern"

var regionForm = pattern.Lazy(`^[a-z]{2,5}(-[a-z]+)+-\d{1,2}$`)

// ValidRegion reports a text that may be the name of a region, in any partition. It
// becomes part of a host name.
func ValidRegion(name string) bool { return regionForm().MatchString(name) }

// Regions returns names of regions, for completion. Other names are valid too.
func Regions() []string {
	return []string{
		"af-south-1", "ap-east-1", "ap-northeast-1", "ap-northeast-2", "ap-northeast-3", "ap-south-1", "ap-south-2", "ap-southeast-1", "ap-southeast-2",
		"ap-southeast-3", "ap-southeast-4", "ca-central-1", "ca-west-1", "eu-central-1", "eu-central-2", "eu-north-1", "eu-south-1", "eu-south-2", "eu-west-1",
		"eu-west-2", "eu-west-3", "il-central-1", "me-central-1", "me-south-1", "sa-east-1", "us-east-1", "us-east-2", "us-gov-east-1", "us-gov-west-1",
		"us-west-1", "us-west-2",
	}
}
