// Package recipe reads the PyTorch recipes of a checked-out folder of AWS's
// HyperPod recipes (aws/sagemaker-hyperpod-recipes) as a template and values.
//
// The recipe, with overrides and interpolations carried out, becomes a ConfigMap
// that is mounted at /config, as the official launcher does it; the job starts the
// program that the launcher starts for the recipe's model_type. What runs on other
// kinds of job than PyTorch's (verl on Ray, Nova's and evaluation's service images)
// and what cannot be expressed is refused by name.
package recipe
