package slurm

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// What a MariaDB consists of, of Debian's package mariadb-server-core. Its own script for a new database
// needs programs of the clients.
const (
	tables   = "/usr/share/mysql/mysql_system_tables.sql"
	contents = "/usr/share/mysql/mysql_system_tables_data.sql"
	messages = "/usr/share/mysql/english"
)

// MissingAccounting says why no cluster with accounting can be started here; "" if it can.
func MissingAccounting() string {
	if why := Missing(); why != "" {
		return why
	}
	for _, name := range []string{"slurmdbd", "mariadbd", "sacctmgr"} {
		if _, err := find(name); err != nil {
			return name + " is not installed (test/install-tools installs it)"
		}
	}
	for _, file := range []string{tables, contents, messages} {
		if _, err := os.Stat(file); err != nil {
			return file + " is not installed"
		}
	}
	return ""
}

// StartWithAccounting starts a cluster whose finished jobs are in an accounting database, with their comments.
func StartWithAccounting(ctx context.Context) (*Cluster, error) {
	return begin(ctx, func(c *Cluster) error {
		ports, err := freePorts(1)
		if err != nil {
			return err
		}
		socket := c.path("db.sock")
		c.accounting = fmt.Sprintf("AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageHost=127.0.0.1\nAccountingStoragePort=%d\nAccountingStoragePass=%s\nAccountingStoreFlags=job_comment\nAccountingStorageTRES=gres/gpu", ports[0], c.path("munge.sock"))
		c.environ = []string{"MYSQL_UNIX_PORT=" + socket}
		c.database = func(ctx context.Context) error { return c.startAccounting(ctx, socket, ports[0]) }
		return nil
	})
}

func (c *Cluster) startAccounting(ctx context.Context, socket string, port int) error {
	server, err := find("mariadbd")
	if err != nil {
		return err
	}
	data := c.path("db")
	if err := os.Mkdir(data, 0o700); err != nil {
		return err
	}
	options := []string{"--no-defaults", "--user=root", "--datadir=" + data, "--lc-messages-dir=" + messages, "--innodb-buffer-pool-size=16M", "--skip-log-bin"}
	sql := []string{"create database mysql;", "use mysql;"}
	for _, file := range []string{tables, contents} {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		sql = append(sql, string(text))
	}
	first := exec.CommandContext(ctx, server, append(options, "--bootstrap", "--innodb-log-file-size=4M")...)
	first.Stdin = strings.NewReader(strings.Join(sql, "\n"))
	if out, err := first.CombinedOutput(); err != nil {
		return fmt.Errorf("a new database: %w: %s", err, out)
	}
	if err := c.run("mariadbd", append(options, "--skip-networking", "--skip-grant-tables", "--innodb-flush-log-at-trx-commit=0", "--socket="+socket, "--pid-file="+c.path("db.pid"))...); err != nil {
		return err
	}
	if err := until(ctx, func() error { _, err := os.Stat(socket); return err }); err != nil {
		return err
	}
	config := fmt.Sprintf("AuthType=auth/munge\nAuthInfo=socket=%s\nDbdHost=localhost\nDbdAddr=127.0.0.1\nDbdPort=%d\nSlurmUser=root\nStorageType=accounting_storage/mysql\nStorageHost=localhost\nStorageUser=root\nStorageLoc=acct\nPidFile=%s\n",
		c.path("munge.sock"), port, c.path("slurmdbd.pid"))
	if err := os.WriteFile(filepath.Join(c.dir, "slurmdbd.conf"), []byte(config), 0o600); err != nil { // slurmdbd refuses any other mode
		return err
	}
	c.environ = append(c.environ, "SLURM_CONF="+c.Config())
	if err := c.run("slurmdbd", "-D"); err != nil {
		return err
	}
	return until(ctx, func() error {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			err = conn.Close()
		}
		return err
	})
}

// registered waits until the database knows the controller: it takes no start of a job before.
func (c *Cluster) registered(ctx context.Context) error {
	return until(ctx, func() error {
		out, err := c.Command(ctx, "sacctmgr", "--immediate", "--noheader", "--parsable2", "list", "cluster", "format=cluster,controlport").CombinedOutput()
		if name, port, _ := strings.Cut(strings.TrimSpace(string(out)), "|"); err == nil && (name != "test" || port == "" || port == "0") {
			err = errors.New("the controller is not registered")
		}
		if err != nil {
			return errors.Join(err, errors.New(string(out)))
		}
		return nil
	})
}

// recorded waits until the database has each job as the controller has it: what the controller has not yet sent is lost
// with its state.
func (c *Cluster) recorded(ctx context.Context) error {
	return until(ctx, func() error {
		lines := func(command string, args ...string) ([]string, error) {
			out, err := c.Command(ctx, command, args...).Output()
			return strings.Fields(string(out)), err
		}
		have, err := lines("sacct", "--allusers", "--allocations", "--noheader", "--parsable2", "--format=jobidraw,jobname,state")
		if err != nil {
			return err
		}
		want, err := lines("squeue", "--noheader", "--states=all", "--format=%A|%j|%T")
		if err != nil {
			return err
		}
		for _, job := range want {
			if !slices.Contains(have, job) {
				return fmt.Errorf("the database lacks %s", job)
			}
		}
		return nil
	})
}

// Forget lets the controller forget all jobs, as it does some minutes after their end.
func (c *Cluster) Forget(ctx context.Context) error {
	if err := c.recorded(ctx); err != nil {
		return err
	}
	if err := c.StopController(); err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(c.path("state")), os.Mkdir(c.path("state"), 0o755)); err != nil {
		return err
	}
	return c.StartController(ctx)
}
