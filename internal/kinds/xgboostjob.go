package kinds

// XGBoostJob is Kubeflow's kind for XGBoost.
var XGBoostJob = oneMaster(mastered(kubeflow("XGBoostJob", "xgboostjobs", "xgbReplicaSpecs", "xgboost")))
