package cli

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"openclaw/internal/redact"
)

func newDevices(env *Env) *cobra.Command {
	return gatewayFlags(env, newGroup("devices", "phones, browsers and programs that connect to the gateway",
		`  openclaw devices list
  openclaw devices approve 1a2b3c4d-...
  openclaw devices remove DEVICE`,
		newDevicesList(env),
		newDeviceAction(env, "approve REQUEST", "let a waiting device in", "device.pair.approve", "requestId", "let in"),
		newDeviceAction(env, "reject REQUEST", "send a waiting device away", "device.pair.reject", "requestId", "sent away"),
		newDeviceAction(env, "remove DEVICE", "forget a device and end its connections", "device.pair.remove", "deviceId", "removed"),
		newDeviceRename(env), newDeviceToken(env, "rotate", "device.token.rotate", "give a device a new token with its next sign-in"),
		newDeviceToken(env, "revoke", "device.token.revoke", "take a device's token away until it is approved anew")))
}

// deviceList is the answer of device.pair.list, as far as it is shown.
type deviceList struct {
	Pending []struct {
		RequestID   string   `json:"requestId"`
		DeviceID    string   `json:"deviceId"`
		DisplayName string   `json:"displayName"`
		ClientID    string   `json:"clientId"`
		Role        string   `json:"role"`
		Scopes      []string `json:"scopes"`
		RemoteIP    string   `json:"remoteIp"`
		Ts          int64    `json:"ts"`
	} `json:"pending"`
	Paired []struct {
		DeviceID      string   `json:"deviceId"`
		DisplayName   string   `json:"displayName"`
		OperatorLabel string   `json:"operatorLabel"`
		ClientID      string   `json:"clientId"`
		Roles         []string `json:"roles"`
		Scopes        []string `json:"scopes"`
		LastSeenAtMs  int64    `json:"lastSeenAtMs"`
		Connected     bool     `json:"connected"`
	} `json:"paired"`
}

// viaOperator runs something with the operator's client.
func (e *Env) viaOperator(ctx context.Context, do func(c control) error) error {
	c, closeClient, err := e.operator(ctx)
	if err != nil {
		return err
	}
	defer closeClient() //nolint:errcheck // only idle connections
	return do(c)
}

func newDevicesList(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "list the devices that were let in, and those that wait", Args: takes(0, 0, ""),
		Example: "  openclaw devices list\n  openclaw devices list --json | jq .pending",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return env.viaOperator(cmd.Context(), func(c control) error {
				var raw json.RawMessage
				if err := c.RPC(cmd.Context(), "device.pair.list", nil, &raw); err != nil {
					return err
				}
				if asJSON {
					return env.json(raw)
				}
				var list deviceList
				if err := json.Unmarshal(raw, &list); err != nil {
					return err
				}
				return printDevices(env, &list, time.Now())
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printDevices(env *Env, list *deviceList, now time.Time) error {
	if len(list.Pending) > 0 {
		var rows [][]string
		for _, p := range list.Pending {
			rows = append(rows, []string{p.RequestID, redact.Escape(nameOr(p.DisplayName, p.ClientID)), p.Role, redact.Escape(p.RemoteIP), strings.Join(p.Scopes, " ")})
		}
		if err := env.table([]string{"WAITING REQUEST", "NAME", "ROLE", "FROM", "ASKS FOR"}, rows); err != nil {
			return err
		}
		if err := env.printf("\n"); err != nil {
			return err
		}
	}
	if len(list.Paired) == 0 {
		return env.printf("no device was let in yet\n")
	}
	var rows [][]string
	for _, d := range list.Paired {
		seen := "connected"
		if !d.Connected {
			seen = span(now.Sub(time.UnixMilli(d.LastSeenAtMs))) + " ago"
		}
		id := d.DeviceID[:min(16, len(d.DeviceID))]
		rows = append(rows, []string{id, redact.Escape(nameOr(d.OperatorLabel, nameOr(d.DisplayName, d.ClientID))), strings.Join(d.Roles, " "), seen, strings.Join(d.Scopes, " ")})
	}
	return env.table([]string{"DEVICE", "NAME", "ROLES", "SEEN", "SCOPES"}, rows)
}

func nameOr(name, fallback string) string {
	if name == "" {
		return fallback
	}
	return name
}

// wholeDevice finds the device that the beginning of an id means.
func wholeDevice(ctx context.Context, c control, id string) (string, error) {
	var list deviceList
	if err := c.RPC(ctx, "device.pair.list", nil, &list); err != nil {
		return "", err
	}
	found := ""
	for _, d := range list.Paired {
		if strings.HasPrefix(d.DeviceID, strings.ToLower(id)) {
			if found != "" {
				return "", usage("%q is the beginning of several devices; give more of it", id)
			}
			found = d.DeviceID
		}
	}
	if found == "" {
		return "", hint("openclaw devices list", "no device %q", id)
	}
	return found, nil
}

func newDeviceAction(env *Env, use, short, method, param, done string) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: use, Short: short, Args: takes(1, 1, "an id"),
		Example: "  openclaw devices " + strings.ToLower(use),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := env.refuseInside("managing devices"); err != nil {
				return err
			}
			return env.viaOperator(cmd.Context(), func(c control) error {
				id := args[0]
				if param == "deviceId" {
					var err error
					if id, err = wholeDevice(cmd.Context(), c, id); err != nil {
						return err
					}
				}
				var raw json.RawMessage
				if err := c.RPC(cmd.Context(), method, map[string]string{param: id}, &raw); err != nil {
					return err
				}
				if asJSON {
					return env.json(raw)
				}
				return env.printf("%s: %s\n", done, id)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func newDeviceRename(env *Env) *cobra.Command {
	return &cobra.Command{
		Use: "rename DEVICE NAME", Short: "give a device a name of your own", Args: takes(2, 2, "a device and a name"),
		Example: "  openclaw devices rename 1a2b3c4d 'my phone'",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := env.refuseInside("managing devices"); err != nil {
				return err
			}
			return env.viaOperator(cmd.Context(), func(c control) error {
				id, err := wholeDevice(cmd.Context(), c, args[0])
				if err != nil {
					return err
				}
				if err := c.RPC(cmd.Context(), "device.pair.rename", map[string]string{"deviceId": id, "label": args[1]}, nil); err != nil {
					return err
				}
				return env.printf("%s is %s\n", id[:16], redact.Escape(args[1]))
			})
		},
	}
}

func newDeviceToken(env *Env, verb, method, short string) *cobra.Command {
	var role string
	cmd := &cobra.Command{
		Use: verb + " DEVICE", Short: short, Args: takes(1, 1, "a device"),
		Example: "  openclaw devices " + verb + " 1a2b3c4d",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := env.refuseInside("managing devices"); err != nil {
				return err
			}
			return env.viaOperator(cmd.Context(), func(c control) error {
				id, err := wholeDevice(cmd.Context(), c, args[0])
				if err != nil {
					return err
				}
				if err := c.RPC(cmd.Context(), method, map[string]string{"deviceId": id, "role": role}, nil); err != nil {
					return err
				}
				return env.printf("done; its connections were ended\n")
			})
		},
	}
	cmd.Flags().StringVar(&role, "role", "operator", "operator or node")
	return cmd
}
