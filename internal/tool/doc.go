// Package tool is the one call path: every surface turns its input into the same call
// and gets the same result. A call is checked, routed, judged, prepared and handed to
// the session table; nothing is started here.
//
//	parameters -> route (which host) -> policy.Decide -> host.Prepare -> session.Run -> result, record, event
//
// The asking of a person will stand between Decide and Run; until it does, a decision
// to ask is answered by askFallback, which denies.
package tool
