package gateway

import (
	"context"
	"errors"
	"time"

	"openclaw/internal/pairing"
	"openclaw/internal/protocol"
)

// deviceMethods are those of device pairing and tokens (protocol 2.7), and the node lists,
// which are empty as long as no node can connect.
func deviceMethods() map[string]method {
	return map[string]method{
		"device.pair.list":       with((*server).methodDeviceList),
		"device.pair.approve":    with((*server).methodDeviceApprove),
		"device.pair.reject":     with((*server).methodDeviceReject),
		"device.pair.remove":     with((*server).methodDeviceRemove),
		"device.pair.rename":     with((*server).methodDeviceRename),
		"device.token.rotate":    with((*server).methodTokenRotate),
		"device.token.revoke":    with((*server).methodDeviceTokenRevoke),
		"node.list":              with((*server).methodNodeList),
		"node.pair.list":         with((*server).methodNodePairList),
		"openclaw.approval.list": with((*server).methodNone),
		"system-presence":        with((*server).methodNone),
	}
}

func (s *server) methodNone(context.Context, *backend, none) (any, error) { return []any{}, nil }

func (s *server) methodNodeList(context.Context, *backend, none) (any, error) {
	return map[string]any{"ts": time.Now().UnixMilli(), "nodes": []any{}}, nil
}

func (s *server) methodNodePairList(context.Context, *backend, none) (any, error) {
	return map[string]any{"pending": []any{}, "paired": []any{}}, nil
}

// deviceRow is a paired device as clients see it: its tokens without their secrets.
type deviceRow struct {
	pairing.Device
	Role      string     `json:"role"`
	Connected bool       `json:"connected"`
	Tokens    []tokenRow `json:"tokens"` // in place of Device.Tokens
}

type tokenRow struct {
	Role       string   `json:"role"`
	Scopes     []string `json:"scopes"`
	CreatedMs  int64    `json:"createdAtMs"`
	RotatedMs  int64    `json:"rotatedAtMs,omitempty"`
	RevokedMs  int64    `json:"revokedAtMs,omitempty"`
	LastUsedMs int64    `json:"lastUsedAtMs,omitempty"`
}

func (s *server) deviceRow(d *pairing.Device) deviceRow {
	row := deviceRow{Device: *d, Connected: s.hub.connected(d.ID), Tokens: []tokenRow{}}
	if len(d.Roles) > 0 {
		row.Role = d.Roles[0]
	}
	for _, t := range d.Tokens {
		row.Tokens = append(row.Tokens, tokenRow{t.Role, t.Scopes, t.CreatedMs, t.RotatedMs, t.RevokedMs, t.LastUsedMs})
	}
	row.Device.Tokens = nil
	return row
}

func (s *server) methodDeviceList(ctx context.Context, b *backend, _ none) (any, error) {
	devices, err := b.devices(ctx)
	if err != nil {
		return nil, err
	}
	list, err := devices.Devices(ctx)
	if err != nil {
		return nil, err
	}
	paired := []deviceRow{}
	for i := range list {
		paired = append(paired, s.deviceRow(&list[i]))
	}
	return map[string]any{"pending": devices.Waiting(), "paired": paired}, nil
}

type deviceParams struct {
	RequestID string   `json:"requestId"`
	DeviceID  string   `json:"deviceId"`
	Label     string   `json:"label"`
	Role      string   `json:"role"`
	Scopes    []string `json:"scopes"`
}

func (s *server) methodDeviceApprove(ctx context.Context, b *backend, p deviceParams) (any, error) {
	devices, err := b.devices(ctx)
	if err != nil {
		return nil, err
	}
	d, err := devices.Approve(ctx, p.RequestID, heldBy(ctx))
	if err != nil {
		return nil, pairingError(err)
	}
	s.opt.Log.Info("a device was let in", "device", d.ID, "roles", d.Roles)
	s.hub.broadcast("device.pair.resolved", "operator.pairing", resolved(p.RequestID, d.ID, "approved"), false)
	return map[string]any{"requestId": p.RequestID, "device": s.deviceRow(d)}, nil
}

func resolved(request, device, decision string) map[string]any {
	return map[string]any{"requestId": request, "deviceId": device, "decision": decision, "ts": time.Now().UnixMilli()}
}

func (s *server) methodDeviceReject(ctx context.Context, b *backend, p deviceParams) (any, error) {
	devices, err := b.devices(ctx)
	if err != nil {
		return nil, err
	}
	req, err := devices.Reject(p.RequestID)
	if err != nil {
		return nil, pairingError(err)
	}
	s.hub.broadcast("device.pair.resolved", "operator.pairing", resolved(req.ID, req.DeviceID, "rejected"), false)
	return map[string]string{"requestId": req.ID, "deviceId": req.DeviceID}, nil
}

// mayManage keeps a session that is only a device's own from managing others (protocol
// 2.7).
func mayManage(ctx context.Context, deviceID, role, denial string) error {
	c := connOf(ctx)
	if c == nil || c.holds("operator.admin") || c.method != "device-token" {
		return nil
	}
	if c.device == deviceID && (role == "" || role == pairing.RoleOperator) {
		return nil
	}
	return &protocol.ErrorShape{Code: protocol.CodeInvalid, Message: denial}
}

func (s *server) methodDeviceRemove(ctx context.Context, b *backend, p deviceParams) (any, error) {
	if err := mayManage(ctx, p.DeviceID, "", "device pairing removal denied"); err != nil {
		return nil, err
	}
	devices, err := b.devices(ctx)
	if err != nil {
		return nil, err
	}
	if err := devices.Remove(ctx, p.DeviceID); err != nil {
		return nil, pairingError(err)
	}
	s.opt.Log.Info("a device was removed", "device", clip(p.DeviceID))
	s.hub.broadcast("device.pair.changed", "operator.pairing", map[string]any{}, false)
	s.hub.drop(p.DeviceID, "")
	return map[string]string{"deviceId": p.DeviceID}, nil
}

func (s *server) methodDeviceRename(ctx context.Context, b *backend, p deviceParams) (any, error) {
	if n := len([]rune(p.Label)); n < 1 || n > 64 {
		return nil, invalid("label has to have 1 to 64 characters")
	}
	devices, err := b.devices(ctx)
	if err != nil {
		return nil, err
	}
	if err := devices.Rename(ctx, p.DeviceID, p.Label); err != nil {
		return nil, pairingError(err)
	}
	return map[string]string{"deviceId": p.DeviceID, "label": p.Label}, nil
}

func (s *server) methodTokenRotate(ctx context.Context, b *backend, p deviceParams) (any, error) {
	if err := mayManage(ctx, p.DeviceID, p.Role, "device token rotation denied"); err != nil {
		return nil, err
	}
	devices, err := b.devices(ctx)
	if err != nil {
		return nil, err
	}
	if !pairing.Covers(heldBy(ctx), p.Scopes) {
		return nil, &protocol.ErrorShape{Code: protocol.CodeInvalid, Message: "device token rotation denied"}
	}
	t, err := devices.Rotate(ctx, p.DeviceID, p.Role, p.Scopes)
	if err != nil {
		return nil, pairingError(err)
	}
	out := map[string]any{"deviceId": p.DeviceID, "role": p.Role, "scopes": t.Scopes, "rotatedAtMs": t.RotatedMs, "tokenDelivery": "withheld-cross-device"}
	if c := connOf(ctx); c != nil && c.device == p.DeviceID && c.method == "device-token" {
		out["token"], out["tokenDelivery"] = t.Secret, "in-band"
	}
	s.dropLater(p.DeviceID, p.Role)
	return out, nil
}

func (s *server) methodDeviceTokenRevoke(ctx context.Context, b *backend, p deviceParams) (any, error) {
	if err := mayManage(ctx, p.DeviceID, p.Role, "device token revocation denied"); err != nil {
		return nil, err
	}
	devices, err := b.devices(ctx)
	if err != nil {
		return nil, err
	}
	at, err := devices.Revoke(ctx, p.DeviceID, p.Role)
	if err != nil {
		return nil, pairingError(err)
	}
	s.dropLater(p.DeviceID, p.Role)
	return map[string]any{"deviceId": p.DeviceID, "role": p.Role, "revokedAtMs": at}, nil
}

// dropLater ends a device's connections once the answer, which may go over one of them,
// is on its way.
func (s *server) dropLater(device, role string) {
	time.AfterFunc(50*time.Millisecond, func() { s.hub.drop(device, role) })
}

func pairingError(err error) error {
	switch {
	case errors.Is(err, pairing.ErrUnknownRequest), errors.Is(err, pairing.ErrUnknownDevice):
		return &protocol.Error{Type: protocol.ErrNotFound, Message: err.Error(), Hint: "openclaw devices list"}
	case errors.Is(err, pairing.ErrDenied), errors.Is(err, pairing.ErrScope):
		return &protocol.Error{Type: protocol.ErrInvalid, Message: err.Error()}
	}
	return err
}
