package gateway

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"openclaw/internal/approval"
	"openclaw/internal/config"
	"openclaw/internal/event"
	"openclaw/internal/identity"
	"openclaw/internal/mcp"
	"openclaw/internal/pairing"
	"openclaw/internal/protocol"
	"openclaw/internal/tool"
)

// caller is the call path behind the tool routes.
type caller interface {
	Call(ctx context.Context, c tool.Caller, req protocol.ToolRequest, watch func(protocol.Progress)) (*protocol.ToolResult, error)
	Tools(c tool.Caller) []protocol.ToolInfo
}

// errStopping is why calls end when the daemon does.
var errStopping = errors.New("the gateway is stopping")

// backend is what stands behind the routes. It comes later than the listener.
type backend struct {
	tools  caller
	table  tool.Sessions
	tokens *identity.Store
	bus    *event.Bus
	reload func(*config.Config)

	approvals func(context.Context) (*approval.Registry, error)
	devices   func(context.Context) (*pairing.Registry, error)
	document  *approval.File
	durable   *durable
}

// server answers requests.
type server struct {
	opt       Options
	info      Info
	started   time.Time
	addr      *net.TCPAddr
	limiter   *limiter
	metrics   *metrics
	heartbeat time.Duration
	mcp       *mcp.HTTP
	routes    map[string]route
	methods   map[string]method
	hub       *hub // clients on the socket

	applying sync.Mutex // one change of the configuration at a time
	cfg      atomic.Pointer[config.Config]
	guard    atomic.Pointer[guard]
	backend  atomic.Pointer[backend] // nil until everything is open

	unannounced atomic.Bool // programs on this machine do not find us yet

	closing context.Context // done when no more calls are taken
	stop    context.CancelCauseFunc
	workers sync.WaitGroup // the daemon's own goroutines

	mu       sync.Mutex     // guards the next; Add only before closing is done
	handlers sync.WaitGroup // requests
}

// secure is nil without TLS.
func newServer(opt Options, addr *net.TCPAddr, secure *identityTLS) *server {
	s := &server{
		opt: opt, started: time.Now(), addr: addr,
		info:    Info{URL: "http://" + reachedAt(addr), Addr: addr.String(), PID: os.Getpid()},
		limiter: newLimiter(opt.Config.Gateway.Auth.RateLimit, time.Now),
		metrics: newMetrics(), heartbeat: heartbeat,
		mcp:     mcp.NewHTTP(mcp.Options{Version: opt.Version, Log: opt.Log}),
		methods: methods(), hub: newHub(),
	}
	if secure != nil {
		s.info.URL, s.info.Fingerprint = "https://"+reachedAt(addr), secure.fingerprint
	}
	s.routes = routes(opt.Config.Gateway.ControlUI)
	s.cfg.Store(opt.Config)
	s.guard.Store(newGuard(addr, opt.Config.Gateway.ControlUI.AllowedOrigins))
	s.closing, s.stop = context.WithCancelCause(context.Background())
	return s
}

// open lets calls in.
func (s *server) open(b backend) {
	b.tools = &counted{caller: b.tools, metrics: s.metrics}
	s.backend.Store(&b)
}

// shutdown takes no more calls, ends those that run and the event streams, lets answers
// go out for a while and closes what is left. When it returns no handler runs any more.
// A second call does nothing.
func (s *server) shutdown(web *http.Server) {
	s.stop(errStopping)
	ctx, cancel := context.WithTimeout(context.Background(), drainTimeout)
	defer cancel()
	s.workers.Go(func() { s.mcp.Close(ctx) })
	if err := web.Shutdown(ctx); err != nil {
		s.opt.Log.Warn("connections cut off", "err", err)
		if err := web.Close(); err != nil {
			s.opt.Log.Warn("close connections", "err", err)
		}
	}
	s.workers.Wait()
	s.handlers.Wait() // Close does not wait for them
}
