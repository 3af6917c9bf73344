package cli

import (
	"encoding/base64"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"openclaw/internal/protocol"
)

// inputMax bounds what one command reads from standard input to send: one call's worth.
const inputMax = 1 << 20 // bytes

func newProcessWrite(env *Env, run processRun) *cobra.Command {
	var newline, eof bool
	cmd := processCommand(env, run, &cobra.Command{
		Use: "write SESSION [TEXT]", Short: "send text to a session's standard input",
		Long: `Send text to a session's standard input: TEXT, or what standard input of this command
holds when it is no terminal. Nothing is added to it; --newline adds a line feed.`,
		Example: `  openclaw process write gentle-otter yes --newline
  openclaw process write gentle-otter --eof < answers.txt`,
		Args: takes(1, 2, "a session id and perhaps a text"),
	}, func(args []string, o *processOptions) error {
		data, err := inputText(env, args[1:], eof)
		if err != nil {
			return err
		}
		if newline {
			data += "\n"
		}
		if data != "" {
			o.args["data"], o.args["encoding"] = base64.StdEncoding.EncodeToString([]byte(data)), "base64"
		}
		if eof {
			o.args["eof"] = true
		}
		o.show = func(env *Env, res *protocol.ProcessResult) error { return showSent(env, res, len(data)) }
		return nil
	})
	cmd.Flags().BoolVarP(&newline, "newline", "n", false, "add a line feed")
	cmd.Flags().BoolVar(&eof, "eof", false, "close its standard input after that")
	return cmd
}

// inputText is the argument, or what standard input holds. Optional says that nothing
// is an answer too.
func inputText(env *Env, args []string, optional bool) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	if _, ok := terminal(env.Stdin); ok {
		if optional {
			return "", nil
		}
		return "", usage("nothing to send: give a text, or pipe it in")
	}
	data, err := io.ReadAll(io.LimitReader(env.Stdin, inputMax+1))
	if err != nil {
		return "", fmt.Errorf("read standard input: %w", err)
	}
	if len(data) > inputMax {
		return "", usage("more than %d bytes on standard input; send it in parts", inputMax)
	}
	return string(data), nil
}

// showSent says how much went in; a program that does not read takes only a part.
func showSent(env *Env, res *protocol.ProcessResult, size int) error {
	if res.Written != nil && *res.Written < size {
		return fmt.Errorf("%s took only %d of %d bytes: it does not read its input", res.SessionID, *res.Written, size)
	}
	return showState(env, res)
}

func newProcessKeys(env *Env, run processRun) *cobra.Command {
	var literal string
	var hex []string
	cmd := processCommand(env, run, &cobra.Command{
		Use: "send-keys SESSION [KEY...]", Short: "press keys in a session that runs in a terminal",
		Long: `Press keys in a session that runs in a terminal: the literal text, then the hex bytes,
then the named keys. Names are tmux's: Enter, Tab, Escape, Up, F5, C-c, M-x, S-Left.`,
		Example: "  openclaw process send-keys gentle-otter C-c\n  openclaw process send-keys gentle-otter --literal :wq Enter",
		Args:    takes(1, -1, "a session id and keys"),
	}, func(args []string, o *processOptions) error {
		if len(args) > 1 {
			o.args["keys"] = args[1:]
		}
		if literal != "" {
			o.args["literal"] = literal
		}
		if len(hex) > 0 {
			o.args["hex"] = hex
		}
		if len(o.args) == 2 {
			return usage("no keys: name some, or use --literal or --hex")
		}
		return nil
	})
	cmd.Flags().StringVarP(&literal, "literal", "l", "", "`text` to type as it is")
	cmd.Flags().StringSliceVar(&hex, "hex", nil, "`bytes` to send, as in 1b,5b,41")
	return cmd
}

func newProcessSubmit(env *Env, run processRun) *cobra.Command {
	return processCommand(env, run, &cobra.Command{
		Use: "submit SESSION", Short: "press Enter in a session that runs in a terminal",
		Example: "  openclaw process submit gentle-otter",
		Args:    takes(1, 1, "a session id"),
	}, nil)
}

func newProcessPaste(env *Env, run processRun) *cobra.Command {
	var bracketed bool
	cmd := processCommand(env, run, &cobra.Command{
		Use: "paste SESSION [TEXT]", Short: "paste text into a session that runs in a terminal",
		Example: "  openclaw process paste gentle-otter 'first line'\n  openclaw process paste gentle-otter < notes.txt",
		Args:    takes(1, 2, "a session id and perhaps a text"),
	}, func(args []string, o *processOptions) error {
		text, err := inputText(env, args[1:], false)
		if err != nil {
			return err
		}
		if strings.ToValidUTF8(text, "") != text {
			return usage("the text to paste is not UTF-8; use process write for bytes")
		}
		o.args["text"], o.args["bracketed"] = text, bracketed
		return nil
	})
	cmd.Flags().BoolVar(&bracketed, "bracketed", true, "mark it as pasted, so that a shell does not run it line by line")
	return cmd
}

func newProcessResize(env *Env, run processRun) *cobra.Command {
	return processCommand(env, run, &cobra.Command{
		Use: "resize SESSION COLUMNS ROWS", Short: "change the size of a session's terminal",
		Example: "  openclaw process resize gentle-otter 120 40",
		Args:    takes(3, 3, "a session id, columns and rows"),
	}, func(args []string, o *processOptions) error {
		for i, name := range []string{"cols", "rows"} {
			n, err := strconv.Atoi(args[i+1])
			if err != nil || n < 1 {
				return usage("%q is not a number of %s", args[i+1], name)
			}
			o.args[name] = n
		}
		return nil
	})
}
