// Command hyperpod starts and lists training jobs on Kubernetes
// clusters that share accelerators through Kueue.
package main

import (
	"os"

	"github.com/hyperpod-cli/hyperpod/internal/cli"
	"github.com/hyperpod-cli/hyperpod/internal/cli/collector"
	"github.com/hyperpod-cli/hyperpod/internal/cli/startgc"
)

// version is set by the linker.
var version = "dev"

func main() {
	collector.Delay(startgc.Normal())
	os.Exit(cli.Main(os.Args[1:], version))
}
