package kinds

import trainingv1 "github.com/kubeflow/training-operator/pkg/apis/kubeflow.org/v1"

// XGBoostJob is Kubeflow's kind for XGBoost.
var XGBoostJob = mastered(kubeflow[trainingv1.XGBoostJob]("XGBoostJob", "xgboostjobs", "xgbReplicaSpecs"))
