// Package util has what Kueue's unit tests need of the package of this name, which is that of its integration tests.
package util

import (
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Times that the tests use.
const (
	Timeout       = 10 * time.Second
	MediumTimeout = 45 * time.Second
)

// What the tests leave out of a comparison.
var (
	IgnoreConditionTimestamps       = cmpopts.IgnoreFields(metav1.Condition{}, "LastTransitionTime")
	IgnoreObjectMetaResourceVersion = cmpopts.IgnoreFields(metav1.ObjectMeta{}, "ResourceVersion")
)
