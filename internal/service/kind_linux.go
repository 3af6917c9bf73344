package service

// Here is the service manager of this system.
func Here() Kind { return Systemd }
