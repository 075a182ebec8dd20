// Preloaded into pi: the name relay.test leads to this machine, so that the default path for relays is what is tested.
import dns from "node:dns";
import { syncBuiltinESMExports } from "node:module";

const NAMES = ["relay.test", "relay-two.test", "api.anthropic.com", "api.openai.com", "api.anthropic.com.relay.test"];
const { lookup } = dns;
dns.lookup = (hostname, options, callback) => {
	if (!NAMES.includes(hostname)) return lookup(hostname, options, callback);
	const done = typeof options === "function" ? options : callback;
	const all = typeof options === "object" && options?.all;
	process.nextTick(() => (all ? done(null, [{ address: "127.0.0.1", family: 4 }]) : done(null, "127.0.0.1", 4)));
};
syncBuiltinESMExports();
