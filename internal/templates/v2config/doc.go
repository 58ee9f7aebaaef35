// Package v2config reads the configuration files of the official HyperPod CLI v2
// (`hyperpod start-job --config-file`) as templates.Values.
//
// Every documented field is honoured, or refused or reported by name with its
// line; nothing is ignored in silence. What differs from v2 on purpose stands in
// docs/compatibility.md.
//
// The file's own interpolations of OmegaConf, ${a.b} for another value of the file,
// are resolved; its resolvers (${oc.env:...} and the like) are refused.
package v2config
