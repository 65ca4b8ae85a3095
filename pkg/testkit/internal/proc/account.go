package proc

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// Account is the user that a program runs as. The zero Account is the user of this process.
type Account struct {
	Other    bool
	UID, GID int
}

// Unprivileged returns the account for programs that refuse to run as root: nobody when this process is root, else the
// user of this process.
func Unprivileged() (Account, error) {
	if os.Geteuid() != 0 {
		return Account{}, nil
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		return Account{}, fmt.Errorf("running as root: %w", err)
	}
	uid, err := strconv.Atoi(nobody.Uid)
	if err != nil {
		return Account{}, fmt.Errorf("user id of nobody: %w", err)
	}
	gid, err := strconv.Atoi(nobody.Gid)
	if err != nil {
		return Account{}, fmt.Errorf("group id of nobody: %w", err)
	}
	return Account{Other: true, UID: uid, GID: gid}, nil
}

// Apply makes cmd run as the account.
func (a Account) Apply(cmd *exec.Cmd) {
	if !a.Other {
		return
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Credential = &syscall.Credential{
		Uid: uint32(a.UID),
		Gid: uint32(a.GID),
	}
}
