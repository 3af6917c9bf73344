package cli

import (
	"context"
	"os"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"openclaw/internal/client"
	"openclaw/internal/config"
	"openclaw/internal/identity"
	"openclaw/internal/inbox"
	"openclaw/internal/protocol"
)

// control calls a gateway's methods as the operator: *client.Client on this machine,
// *client.Socket elsewhere.
type control interface {
	RPC(ctx context.Context, method string, params, out any) error
	Approvals(ctx context.Context, open func(), requested func(protocol.ExecApproval), resolved func(protocol.ExecApprovalResolved)) error
	String() string
}

// elsewhere is a gateway that the command line names; url "" = the one of this machine.
type elsewhere struct {
	url, token, tokenFile, password, fingerprint string
}

// gatewayFlags lets a command and those below it talk to another gateway.
func gatewayFlags(env *Env, cmd *cobra.Command) *cobra.Command {
	f := cmd.PersistentFlags()
	f.StringVar(&env.elsewhere.url, "url", "", "another gateway: wss://HOST:PORT, or ws:// on a net you trust")
	f.StringVar(&env.elsewhere.token, "token", "", "its operator token; others see it in ps, so prefer the next")
	f.StringVar(&env.elsewhere.tokenFile, "token-file", "", "a file with that token ($"+gatewayTokenEnv+" works, too)")
	f.StringVar(&env.elsewhere.password, "password", "", "its password, where it has one instead of a token")
	f.StringVar(&env.elsewhere.fingerprint, "tls-fingerprint", "", "SHA-256 of its certificate, as its start prints it")
	return cmd
}

// dialElsewhere signs in at the gateway that the command line names.
func (e *Env) dialElsewhere(ctx context.Context) (*client.Socket, error) {
	at := e.elsewhere
	opt := client.SocketOptions{URL: at.url, Fingerprint: at.fingerprint, Version: e.Version, Token: at.token}
	switch {
	case at.password != "":
		opt.Token, opt.Password = at.password, true
	case at.token != "":
	case at.tokenFile != "":
		data, err := os.ReadFile(at.tokenFile)
		if err != nil {
			return nil, err
		}
		opt.Token = strings.TrimSpace(string(data))
	default:
		opt.Token = strings.TrimSpace(e.Getenv(gatewayTokenEnv))
	}
	if opt.Token == "" {
		return nil, usage("the gateway at %s needs its operator token: --token-file FILE, or $%s", at.url, gatewayTokenEnv)
	}
	if !strings.HasPrefix(at.url, "ws://") && !strings.HasPrefix(at.url, "wss://") && !strings.HasPrefix(at.url, "http://") && !strings.HasPrefix(at.url, "https://") {
		return nil, usage("--url %q: an address is ws://HOST:PORT or wss://HOST:PORT", at.url)
	}
	stateDir, err := config.StateDir(e.Getenv)
	if err != nil {
		return nil, err
	}
	if opt.Device, err = identity.DeviceKey(stateDir); err != nil {
		return nil, err
	}
	return client.Dial(ctx, opt)
}

// farDesk is the requests of a gateway elsewhere; a connection that has ended is made anew
// with the next Listen.
type farDesk struct {
	env *Env

	mu sync.Mutex // guards s
	s  *client.Socket
}

func (d *farDesk) socket() *client.Socket {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.s
}

// Listen is inbox.Desk's.
func (d *farDesk) Listen(ctx context.Context, each func(inbox.Event)) error {
	if d.socket().Ended() {
		s, err := d.env.dialElsewhere(ctx)
		if err != nil {
			return err
		}
		d.mu.Lock()
		d.s = s
		d.mu.Unlock()
	}
	return remoteDesk{d.socket()}.Listen(ctx, each)
}

// Resolve is inbox.Desk's.
func (d *farDesk) Resolve(ctx context.Context, id, decision string) error {
	return remoteDesk{d.socket()}.Resolve(ctx, id, decision)
}
