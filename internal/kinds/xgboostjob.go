package kinds

// XGBoostJob is Kubeflow's kind for XGBoost.
var XGBoostJob = xgboostJob()

func xgboostJob() Job {
	j := mastered(kubeflow("XGBoostJob", "xgboostjobs", "xgbReplicaSpecs", "xgboost"))
	j.Refuse = j.refuseCounts(rolesRule{one: "Master", required: true, stated: true})
	return j
}
