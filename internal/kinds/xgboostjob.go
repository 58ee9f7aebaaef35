package kinds

// XGBoostJob is Kubeflow's kind for XGBoost.
var XGBoostJob = mastered(kubeflow("XGBoostJob", "xgboostjobs", "xgbReplicaSpecs", "xgboost"))
