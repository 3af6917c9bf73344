package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"openclaw/internal/protocol"
)

// This file asks the person through the client (A-60b). Since perRequestVersion a server
// sends no requests: the call ends with the question, and the client makes it again with
// the answer. An older client is sent the question while the call waits.

// Asker makes calls that may end in a question to the client's person. Ask and Answer
// follow the contract of a caller's Call.
type Asker interface {
	// Ask gives a result or a question.
	Ask(ctx context.Context, req protocol.ToolRequest, watch func(protocol.Progress)) (*protocol.ToolResult, *protocol.Question, error)
	// Answer gives what comes of the call whose question had this state. Person is called at
	// most once; its error means that there is no answer.
	Answer(ctx context.Context, req protocol.ToolRequest, state string, person func(context.Context) (allow bool, err error), watch func(protocol.Progress)) (*protocol.ToolResult, error)
}

// questionName is the one question of a call.
const questionName = "approval"

// verdictSchema is a form of one choice, which is deny unless the person chooses.
var verdictSchema = json.RawMessage(`{"type":"object","properties":{"decision":{"type":"string","title":"Decision",` +
	`"description":"allow-once runs exactly this command now; deny runs nothing","enum":["deny","allow-once"],"default":"deny"}},"required":["decision"]}`)

// canAsk reports whether the client shows forms to a person.
func canAsk(req *sdk.CallToolRequest) bool {
	can := req.ClientCapabilities()
	return can != nil && can.Elicitation != nil && (can.Elicitation.Form != nil || can.Elicitation.URL == nil)
}

// askingCall makes one call that may ask, or takes the answer of one that did.
func askingCall(ctx context.Context, opt Options, req *sdk.CallToolRequest, call protocol.ToolRequest, watch func(protocol.Progress)) (*protocol.ToolResult, *sdk.CallToolResult, *protocol.Error) {
	state := req.Params.RequestState
	person := func(context.Context) (bool, error) { return verdict(req.Params.InputResponses[questionName]) }
	if state == "" {
		var question *protocol.Question
		res, failure := guarded(opt.logger(), call.Tool, func() (res *protocol.ToolResult, err error) {
			res, question, err = opt.Asker.Ask(ctx, call, watch)
			return res, err
		})
		if failure != nil || question == nil {
			return res, nil, failure
		}
		form := &sdk.ElicitParams{Mode: "form", Message: questionText(&question.Approval, time.Now()), RequestedSchema: verdictSchema}
		if req.ProtocolVersion() >= perRequestVersion {
			return nil, &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{questionName: form}, RequestState: question.State}, nil
		}
		state = question.State
		person = func(ctx context.Context) (bool, error) {
			res, err := req.Session.Elicit(ctx, form)
			if err != nil {
				return false, err
			}
			return verdict(res)
		}
	}
	res, failure := guarded(opt.logger(), call.Tool, func() (*protocol.ToolResult, error) {
		return opt.Asker.Answer(ctx, call, state, person, watch)
	})
	return res, nil, failure
}

// verdict reads an answer. Only the one word allows.
func verdict(response sdk.InputResponse) (allow bool, err error) {
	res, ok := response.(*sdk.ElicitResult)
	if !ok || res == nil {
		return false, errors.New("the client sent no answer")
	}
	switch {
	case res.Action == "decline" || res.Action == "cancel":
		return false, nil
	case res.Action == "accept" && res.Content["decision"] == "allow-once":
		return true, nil
	case res.Action == "accept" && res.Content["decision"] == "deny":
		return false, nil
	}
	return false, fmt.Errorf("the client's answer is neither allow-once nor deny (action %.32q)", res.Action)
}
