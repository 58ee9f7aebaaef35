module github.com/hyperpod-cli/hyperpod/tools/checkmodules

go 1.26.0
