// Generated from src/reference/rules/*.toml of pi-retry-forced by its test `generated`. Do not edit.
import type { RuleData } from "./engine.ts";

export const DATA: RuleData = {
	"rewritePrefix": "503 service unavailable (retry-forced): ",
	"frame": "^(?:|[ !#-;=?-z|]{1,80} error \\(|(?:(?:ai|api|capi|http|request|upstream|provider|server|gateway|ai_apicall)[ _]?)?(?:error|failed): ?|unknown: |http(?:/[0-9.]{1,3})?[ :]{1,2}|(?:curl: \\([0-9]{1,3}\\) )?(?:[a-z][a-z0-9_.'-]{0,60}[ ,:]{1,2}){0,12}(?:status[ _]?code|response code|returned error|server response|(?:bad|error|got|http|invalid|response|returned|unexpected|with) status|error code|http error)(?: is| was)?[ :=]{1,3}|(?:the )?(?:gateway|provider|proxy|relay|server|upstream) (?:answered|failed|responded|returned)(?: with)?(?: an?)?(?: http)?(?: error| status)?[ :]{1,2}|\\[googlegenerativeai error\\]: error fetching from [!-~]{1,255}: \\[)([45][0-9]{2})(?:[\\t\\n\\r :;<>{}()\\[\\]\"'/|]|, |：|，|$)",
	"requestId": "\\(?(?<![a-z0-9_])(?:x-)?(?:amzn?-|correlation|event|log|ray|req|request|span|trace)[ _-]?id(?![a-z0-9_])[\\\\\"' ]{0,4}[:=]{1,2}[\\\\\"' ]{0,4}[a-z0-9_.:/+=@-]+[\\\\\"']{0,4}\\)?|(?<![a-z0-9_])(?:request|trace|correlation)[ _-]id [a-z_-]{0,64}[0-9][a-z0-9_-]*|(?<![a-z0-9_])req[_-][a-z0-9_-]{4}[a-z0-9_-]*|(?<![a-z0-9_])(?:chatcmpl|gen|msg|resp|rs)[_-][a-z0-9]{16}[a-z0-9]*|(?<![a-z0-9_])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![a-z0-9_])|(?<![a-z0-9_])[0-9a-f]{32}(?![a-z0-9_])|(?<![a-z0-9_])[0-9]{14}[a-z0-9]*",
	"namedStatus": "(?:http|status|code)[\\\\\"'` ]{0,4}(?:(?:is|was|of) )?[:=/_#(\\[-]{0,2}[\\\\\"'` ]{0,3}(?:408|409|425|429|5[0-9]{2})(?![a-z0-9_])|http/[0-9.]{1,3} (?:408|409|425|429|5[0-9]{2})(?![a-z0-9_])|(?<![a-z0-9_])(?:upstream|gateway|server|proxy|provider|backend|api|error|err|response)[_/-](?:408|409|425|429|5[0-9]{2})(?![a-z0-9_])|(?<![a-z0-9_])(?:408|409|425|429|5[0-9]{2})[_/ -](?:bad|internal|service|gateway|too|upstream|server|web|origin|site)[_ -]",
	"loneStatus": "(?:^|[ \\t\\n(\"'`\\[{<:=,;|>*])(?:408|409|425|429|5[0-9]{2})(?:$|[ \\t\\n)\"'`\\]}>:,;|!?*<\\\\]|\\.(?:$|[ \\n\"')])|(?:，|。|：|；|）|！))",
	"measured": "[0-9]{1,3}(?:,[0-9]{3}){1,6}|[0-9]{1,20}(?:\\.[0-9]{1,20}){1,4}(?::[0-9]{1,5})?|(?:localhost|\\.[a-z]{2,24}|[0-9]\\]?):[0-9]{2,5}|[0-9]{1,12} ?(?:/|-|\\.\\.|to|of|out of) ?[0-9]{1,12}(?![a-z0-9_])|(?:\\$|€|£|¥|￥|<=|>=|[<>~] ) ?[0-9]{1,12}(?:[,.][0-9]{1,12}){0,4}|[0-9]{1,12} ?(?:%|\\$|€|£|¥|元|美元|个|次|秒|分钟|小时|天|条|行|字)|[0-9]{1,12}[ -]?(?:tokens?|bytes?|chars?|characters?|words?|lines?|rows?|columns?|items?|entries|messages?|images?|pages?|files?|tools?|functions?|calls?|requests?|attempts?|retries|times|users?|credits?|points|queries|parameters?|properties|elements?|pixels?|px|ms|milliseconds?|msecs?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|days?|weeks?|months?|years?|[kmgt]i?b|[kmgt]b/s|k|usd|eur|cny|rmb|dollars?|cents?|euros?|yuan|rpm|tpm|rps|qps|chunks?|blocks?|parts?|steps?|turns?|workers?)(?![a-z0-9_])|[a-z0-9_)\\]]\\[[0-9]{1,12}\\]|(?<![a-z0-9_])(?:[a-z]{1,20}_){0,4}(?:limits?|max|maximum|min|minimum|size|length|count|total|top_?k|window|budget|balance|price|costs?|credits?|quota|width|height|dimensions?|lines?|columns?|col|rows?|position|pos|index|idx|offset|char|character|byte|page|port|step|item|attempt|seed|id|ids|user|account|org|organization|project|group|channel|job|task|order|invoice|ticket|issue|build|version|shard|gpu|tier|level|tokens?|tpm|rpm|used|requested|remaining|between|exceeds?|exceed|than|least|most|up to)(?:_[a-z]{1,20}){0,3}[\\\\\"'` ]{0,4}(?:(?:(?:is|are|was|were|of|to|be|by|at|set|allowed|must|should|cannot|exceeds?|exceed|most|least|than|over|above|below|under)(?![a-z0-9_])|[:=#<>(\\[]{1,2})[\\\\\"'` ]{0,4}){0,4}[0-9]{1,12}(?:[,.][0-9]{1,12}){0,4}",
	"transientClientStatuses": [
		408,
		409,
		425,
		429
	],
	"nonOverflow": [
		"^(?:throttling error|service unavailable):",
		"rate limit",
		"too many requests"
	],
	"body": {
		"maxStarts": 8,
		"envelopeKeys": [
			"error",
			"errors",
			"response",
			"detail",
			"headers"
		],
		"statusKeys": [
			"code",
			"status",
			"status_code",
			"statusCode",
			"http_status"
		],
		"wordKeys": [
			"code",
			"status",
			"type"
		],
		"eventKeys": [
			":exception-type",
			":error-code"
		],
		"events": {
			"validationexception": 400,
			"accessdeniedexception": 403,
			"resourcenotfoundexception": 404,
			"servicequotaexceededexception": 402,
			"modeltimeoutexception": 408,
			"modelerrorexception": 424,
			"modelstreamerrorexception": 500,
			"throttlingexception": 429,
			"modelnotreadyexception": 429,
			"internalserverexception": 500,
			"internalfailure": 500,
			"serviceunavailableexception": 503
		},
		"grpcNames": {
			"INVALID_ARGUMENT": 400,
			"FAILED_PRECONDITION": 400,
			"OUT_OF_RANGE": 400,
			"UNAUTHENTICATED": 401,
			"PERMISSION_DENIED": 403,
			"NOT_FOUND": 404,
			"ABORTED": 409,
			"RESOURCE_EXHAUSTED": 429,
			"CANCELLED": 499,
			"INTERNAL": 500,
			"UNKNOWN": 500,
			"DATA_LOSS": 500,
			"UNAVAILABLE": 503,
			"DEADLINE_EXCEEDED": 504
		},
		"errorTypes": {
			"authentication_error": 401,
			"billing_error": 402,
			"permission_error": 403,
			"not_found_error": 404,
			"request_too_large": 413,
			"rate_limit_error": 429,
			"api_error": 500,
			"timeout_error": 504,
			"overloaded_error": 529
		}
	},
	"rules": [
		{
			"id": "overflow-known-to-pi",
			"decision": "overflow",
			"when": [
				"any"
			],
			"patterns": [
				"prompt (?:is )?too long",
				"prompt exceeds max length",
				"request_too_large",
				"input is too long for requested model",
				"exceeds the context window",
				"exceeds (?:the )?(?:model.?s )?maximum context length(?: of [0-9,]+ tokens?|\\s*\\([0-9,]+\\))",
				"context window exceeded",
				"input token count[^\\n\\r\\u2028\\u2029\\ud800-\\udfff]{0,255}exceeds the maximum",
				"maximum prompt length is [0-9]",
				"reduce the length of the messages",
				"maximum context length is [0-9]+ tokens",
				"exceeds (?:the )?maximum allowed input length of [0-9,]+ tokens?",
				"input \\([0-9]+ tokens\\) is longer than the model",
				"exceeds the limit of [0-9]",
				"exceeds the available context size",
				"greater than the context length",
				"context window exceeds limit",
				"exceeded model token limit",
				"too large for model with [0-9]+ maximum context length",
				"prompt has [0-9,]+ tokens?, but the configured context size is [0-9,]+ tokens?",
				"model_context_window_exceeded",
				"prompt too long; exceeded (?:max )?context length",
				"range of input length should be",
				"context[_ ]length[_ ]exceeded",
				"too many tokens",
				"token limit exceeded",
				"^[a-z0-9_ -]+ api error \\(413\\):",
				"^413(?:\\s|:|$)"
			],
			"why": "pi compacts the conversation when it sees one of these; sending the same request again cannot fit"
		},
		{
			"id": "overflow-unknown-to-pi",
			"decision": "overflow",
			"when": [
				"any"
			],
			"patterns": [
				"larger input limit",
				"passed [0-9,]+ input tokens",
				"maximum input length of [0-9,]+",
				"context overflow",
				"(?:input|prompt|request|context) (?:length )?(?:and [`\"'\\\\]?max_tokens[`\"'\\\\]? )?(?:exceeds?|exceeded|is over|surpass(?:es|ed)?) [ -~]{0,30}context (?:limit|length|window|size)",
				"(?:input|prompt|conversation|context)[ -~]{0,20} (?:is )?longer than [ -~]{0,30}context",
				"(?:exceeds?|exceeded|over|above) (?:the )?[ -~]{0,30}(?:token limit|tokens? (?:maximum|allowed))",
				"[0-9,]+ (?:input )?tokens? ?(?:>|exceeds?|is (?:greater|more|larger) than|over|above) [ -~]{0,40}(?:context|maximum|limit|max)",
				"reduce (?:the|your) (?:prompt|input|context)(?![a-z0-9_])",
				"shorten your (?:prompt|input|message|conversation)",
				"input (?:is )?too (?:long|large)(?![a-z0-9_])",
				"exceeds? [ -~]{0,40}(?:context (?:length|window|size|limit)|maximum (?:input|prompt|allowed|sequence) (?:length|tokens|size))",
				"context (?:length|window|size) (?:is |was |has been )?(?:exceeded|too (?:small|long))",
				"maximum (?:context|input) (?:length|tokens|size) (?:is|of)? ?[ -~]{0,20}(?:exceeded|but)",
				"prompt_too_long",
				"must have less than [0-9]+ tokens",
				"ran out of room in the model.?s context window",
				"context_window_exceeded",
				"contextwindowexceedederror",
				"string_above_max_length",
				"payload too large",
				"request entity too large",
				"conversation is too long",
				"上下文(?:长度|窗口)?[^\\n\\r\\u2028\\u2029\\ud800-\\udfff]{0,8}(?:超过|超出|超限|过长)",
				"(?:prompt|输入|请求|提示词) ?超长",
				"超过最大(?:上下文|长度|输入)",
				"输入(?:内容)?过长"
			],
			"why": "the same condition in words that pi does not know; a second try is still too long"
		},
		{
			"id": "thinking-signature",
			"decision": "repair",
			"when": [
				"any"
			],
			"repair": "strip",
			"patterns": [
				"invalid[ -~\\n]{1,12}signature[ -~\\n]{1,12}in[ -~\\n]{1,12}(?:redacted_)?thinking",
				"invalid[ -~\\n]{1,12}data[ -~\\n]{1,12}in[ -~\\n]{1,12}redacted_thinking",
				"thinking_signature_invalid",
				"invalid_thinking_signature",
				"thinking\\.signature[a-z_.]{0,20}[`\"'\\\\]{0,4}: ?(?:field required|input should be)",
				"(?<![a-z0-9_])messages\\.[0-9]{1,6}\\.content\\.[0-9]{1,6}\\.(?:(?:redacted_)?thinking\\.)?(?:signature|thinking)[`\"'\\\\]{0,4}: ",
				"(?<![a-z0-9_])messages\\.[0-9]{1,6}\\.content\\.[0-9]{1,6}\\.redacted_thinking\\.data[`\"'\\\\]{0,4}: ",
				"each [`\"'\\\\]{0,4}thinking[`\"'\\\\]{0,4} block must contain",
				"(?:thinking|reasoning) (?:block )?signature (?:is |was )?(?:invalid|not valid|expired|missing|required|mismatch)",
				"(?:invalid|missing|expired|bad|corrupted?) (?:thinking|reasoning) (?:block )?signature",
				"signature (?:of|for|in|on) (?:the |a |this )?[`\"'\\\\]{0,4}(?:redacted_)?thinking[`\"'\\\\]{0,4} (?:block )?(?:is |was |could |cannot |has )?(?:invalid|not |be |expired|fail)",
				"signature verification failed[ -~]{0,40}thinking",
				"thinking block[ -~]{0,60}(?:signature|bound to a different|not be verified|could not be (?:verified|decrypted))",
				"block is bound to a different conversation"
			],
			"why": "the key that signed the replayed thinking is not the one of the account that got it; the same request is refused again"
		},
		{
			"id": "thinking-modified",
			"decision": "repair",
			"when": [
				"any"
			],
			"repair": "strip",
			"patterns": [
				"thinking[`\"'\\\\]{0,4}(?: or [`\"'\\\\]{0,4}redacted_thinking[`\"'\\\\]{0,4})? blocks? in the latest assistant message (?:cannot|can not|must not|can.?t) be modified",
				"thinking[`\"'\\\\]{0,4} blocks? (?:cannot|can not|must not|can.?t) be (?:modified|changed|edited|altered)",
				"consecutive [`\"'\\\\]{0,4}thinking[`\"'\\\\]{0,4} blocks must match"
			],
			"why": "thinking of the latest turn differs from what the model wrote; without it the request is accepted"
		},
		{
			"id": "thinking-expected",
			"decision": "repair",
			"when": [
				"any"
			],
			"repair": "undo",
			"patterns": [
				"expected [`\"'\\\\]{0,4}thinking[`\"'\\\\]{0,4} or [`\"'\\\\]{0,4}redacted_thinking[`\"'\\\\]{0,4}, but found"
			],
			"why": "the open tool turn must start with thinking or the request must switch thinking off; only the latter is left to us"
		},
		{
			"id": "thinking-as-text-refused",
			"decision": "repair",
			"when": [
				"any"
			],
			"repair": "undo",
			"patterns": [
				"(?<![a-z0-9_])reasoning_extraction(?![a-z0-9_])"
			],
			"why": "newer models refuse earlier thinking that was turned into visible text; dropping that text too is accepted"
		},
		{
			"id": "thinking-of-other-apis",
			"decision": "repair",
			"when": [
				"any"
			],
			"repair": "strip",
			"patterns": [
				"(?:invalid|stale|expired|corrupted?) [`\"'\\\\]{0,4}thought[_ ]?signature",
				"thought[_ ]?signature[`\"'\\\\]{0,4} (?:is |was )?(?:not valid|invalid|expired|corrupted)",
				"thought[_ ]?signature[`\"'\\\\]{0,4}[ -~]{0,40}(?:could not|cannot|can not|failed to) be (?:verified|decrypted|parsed|decoded)",
				"(?<![a-z0-9_])(?:decoding|decryption|verification|parsing|validation) (?:failed|error) (?:for|of|in) [ -~]{0,12}thought[_ ]?signature",
				"invalid_encrypted_content",
				"encrypted[_ ](?:content|reasoning)[ -~\\n]{0,80}(?:could not|cannot|can not|failed to) be (?:verified|decrypted|parsed|read)",
				"(?:could not|cannot|can not|can.?t|unable to|failed to) (?:decrypt|verify|parse|open|read|decode)[ -~]{0,60}(?:encrypted[_ ](?:content|reasoning)|thought[_ ]?signature)",
				"encrypted[_ ](?:content|reasoning)[`\"'\\\\]{0,4} (?:is |was |were )?(?:not (?:issued|valid|created|generated|recognized)|invalid|expired|corrupted|tampered)",
				"(?:invalid|stale|expired|corrupted|foreign|unknown) [`\"'\\\\]{0,4}encrypted[_ ](?:content|reasoning)",
				"missing required parameter:? [`\"'\\\\]{0,4}input\\[[0-9]{1,6}\\]\\.encrypted_content"
			],
			"why": "the same condition at OpenAI and Gemini: sealed reasoning that another account cannot open"
		},
		{
			"id": "reasoning-item-unknown",
			"decision": "repair",
			"when": [
				"any"
			],
			"repair": "unlink",
			"patterns": [
				"items are not persisted when [`\"'\\\\]{0,4}store[`\"'\\\\]{0,4} is set to false",
				"item with id[ -/\\n]{1,8}(?:rs_[a-z0-9_-]{1,90}[ -/]{1,6})?not found",
				"(?<![a-z0-9_])reasoning(?![a-z0-9_])[ -~\\n]{0,60}provided without its required following item",
				"provided without its required [`\"'\\\\]{0,4}reasoning[`\"'\\\\]{0,4} item"
			],
			"why": "the account that got the request does not know the reasoning items of another; without them and their ids it is accepted"
		},
		{
			"id": "thinking-must-be-passed-back",
			"decision": "repair",
			"when": [
				"any"
			],
			"repair": "pass-back",
			"patterns": [
				"reasoning_content[`\"'\\\\]{0,4}[ -~]{0,60}must be passed back",
				"thinking[ -~]{0,60}must be passed back",
				"missing (?:a |the )?[`\"'\\\\]{0,4}(?:thought_?signature|reasoning_content)",
				"thought_?signature[`\"'\\\\]{0,4}(?: is|:)? (?:missing|required)",
				"reasoning_content[`\"'\\\\]{0,4}(?: is|:)? (?:missing|required)"
			],
			"why": "the provider wants reasoning back that is not there; stripping would make it worse and the same request fails again"
		},
		{
			"id": "authentication",
			"decision": "stop",
			"when": [
				"any"
			],
			"patterns": [
				"authentication_error",
				"authentication[_ ](?:failed|failure|required|denied|invalid)",
				"(?:invalid|incorrect|wrong|missing|expired|revoked|unknown|disabled)[ _](?:x-)?api[ _-]?key",
				"api[ _-]?key[`\"'\\\\]{0,4} (?:is |was |has been |has )?(?:not valid|invalid|incorrect|missing|expired|revoked|disabled|required|not found|not provided|suspended)",
				"no (?:auth credentials|api[ _-]?key|credentials) (?:found|provided|configured|available for|for)",
				"invalid (?:authentication|authorization|credentials?|bearer|access token|auth token|x-api-key)",
				"invalid[_ ](?:token|jwt|grant)(?![a-z0-9_])",
				"(?:access|auth|bearer|refresh|security|oauth|id|api|session|jwt)[ _]?token[`\"'\\\\]{0,4} (?:included in the request )?(?:is |was |has been |has )?(?:not valid|invalid|expired|revoked|missing|required|malformed)",
				"token[_ ](?:has[_ ])?(?:expired|revoked|invalidated)",
				"jwt (?:error|expired|malformed|invalid|signature)",
				"credentials? (?:is |are |were |have |has )?(?:been )?(?:invalid|expired|missing|revoked|rejected|incorrect)",
				"(?:token|jwt) signature (?:is |was )?(?:invalid|not valid|expired)",
				"(?<![a-z0-9_])unauthorized(?![a-z0-9_])",
				"(?<![a-z0-9_])unauthenticated(?![a-z0-9_])",
				"not authenticated",
				"(?:please|must) (?:re-?)?(?:log ?in|sign ?in|authenticate|re-?authorize)(?![a-z0-9_])",
				"login (?:required|expired)",
				"[a-z0-9]{1,40}_(?:api_?key|token|secret|key|credentials?)[`\"'\\\\]{0,4},? (?:env(?:ironment)? var(?:iable)? )?(?:is |are |was |has )?(?:not set|not been set|missing|required|empty|undefined|unset|not configured|not found|not defined|not provided)",
				"(?:api[ _-]?keys?|credentials?|access tokens?|auth(?:entication)?|oauth)[`\"'\\\\]{0,4} (?:is |are |was |were |has |have )?(?:not set|not been set|not configured|unset|undefined|not present)",
				"(?:unable|failed) to (?:locate|find|load|resolve|obtain|refresh|get) (?:the |any |valid |aws |default |application |access |oauth )?(?:credentials?|api[ _-]?key|access token|refresh token|token)(?![a-z0-9_])",
				"re-?authenticat(?:ion|e)[ -~]{0,40}(?:needed|required|necessary|login)",
				"(?:run|use|execute) [`\"'\\\\]{0,4}(?:gcloud auth|aws sso login|az login|codex login|claude login|gh auth|copilot login|[a-z-]{1,20} auth login)",
				"refresh[_ ]token[_ ](?:reused|revoked|expired|invalid|was already used|has already been used|invalidated)",
				"refresh token (?:was|has been|is) (?:already |been )?(?:used|reused|revoked|expired|invalid)",
				"application[_ ]default[_ ]credentials",
				"unauthenticated (?:request|user|call)",
				"authentication (?:error|credentials)",
				"(?:session|login|sign-?in) (?:has |is |was )?(?:expired|invalid|revoked)",
				"(?<![a-z0-9_])not (?:logged|signed) in(?![a-z0-9_])",
				"(?:token|account|key|credential|cookie|channel)s? ?pool (?:is |was )?(?:empty|exhausted of|not configured)",
				"(?<![a-z0-9_])no (?:valid |usable |enabled |active )?(?:accounts?|tokens?|api[ _-]?keys?|credentials?|cookies?|auth(?:entication)?|oauth) (?:is |are |was |were |have been |has been )?(?:configured|added|registered|set up|defined|provided|stored|on file|logged in)",
				"\\(total=0(?![a-z0-9_])",
				"(?:账号|帐号|令牌|密钥|渠道|供应商)池?(?:为空|未配置|未设置)",
				"未配置[^\\n\\r\\u2028\\u2029\\ud800-\\udfff]{0,4}(?:密钥|令牌|账号|api|key)",
				"invalidsignatureexception",
				"signaturedoesnotmatch",
				"request signature we calculated does not match",
				"unrecognizedclientexception",
				"expiredtokenexception",
				"could not (?:validate|load|resolve) (?:the )?(?:credentials|api key|default credentials|authentication)",
				"signatureverificationfailed",
				"(?:upstream|provider|backend)[ a-z:_]{1,24}40[13](?![a-z0-9_])",
				"无效的(?:令牌|密钥|api|key)",
				"令牌(?:已过期|无效|不可用|状态不可用|已禁用|额度已用尽)",
				"该令牌",
				"未提供令牌",
				"(?:身份)?(?:验证|认证|鉴权)失败",
				"(?:密钥|api ?key)(?:无效|错误|已过期|不正确)"
			],
			"why": "the credentials are refused; somebody has to mend them"
		},
		{
			"id": "permission",
			"decision": "stop",
			"when": [
				"any"
			],
			"patterns": [
				"permission_error",
				"permission[_ ]?denied",
				"(?<![a-z0-9_])forbidden(?![a-z0-9_])",
				"accessdenied(?:exception|error)?(?![a-z0-9_])",
				"access_denied",
				"(?:does not|do not|doesn.?t|don.?t) have (?:sufficient |the required |required |the necessary |necessary )?(?:permission|access|authorization|the right)",
				"(?<![a-z0-9_])not (?:authorized|entitled)(?![a-z0-9_])",
				"(?<![a-z0-9_])not permitted (?:to|for|by)(?![a-z0-9_])",
				"(?:operation|action|access|usage|use|request|method) (?:is |was )?not permitted",
				"access_terminated",
				"(?:access|plan|membership|contract) (?:to [a-z ]{1,40} )?(?:has been |was |is |been )?(?:terminated|revoked|suspended)",
				"authorization failed",
				"(?:client|app|application|cli|user.?agent|version)[`\"'\\\\]{0,4}(?: version)?(?: [0-9][0-9a-z.-]{0,20})? (?:is |are )?(?:not allowed|too old|outdated|no longer supported|deprecated|unsupported|blocked)",
				"(?:please |must |need to )(?:update|upgrade) (?:your |the )?(?:client|app|application|cli|claude code|codex|extension|plugin|to (?:the )?(?:latest|newest|version))",
				"(?:minimum|required) (?:client |supported )?version",
				"(?<![a-z0-9_])invalid (?:claude[ -]code|codex|gemini[ -]cli|client|cli) (?:request|client)",
				"(?<![a-z0-9_])only (?:available |allowed |supported |open |usable )?(?:for|from|in|to|through|via|accepts?|supports?) (?:the )?(?:official )?(?:claude[ -]code|codex|gemini[ -]cli|coding agents?|approved clients?)",
				"(?:仅|只)(?:支持|允许|限|能)[^\\n\\r\\u2028\\u2029\\ud800-\\udfff]{0,12}(?:claude ?code|codex|客户端)",
				"(?:violation|breach) of (?:our |the )?terms",
				"insufficient[_ ](?:permission|scope|privilege|access)",
				"no permission",
				"not allowed to (?:access|use|sample|call|request|perform|view)",
				"unsupported_country_region_territory",
				"(?:country|region|territory|location)[ -~]{0,30} (?:is )?not supported",
				"not (?:available|supported) in your (?:country|region|location)",
				"ip[ _-]?(?:address)? [ -~]{0,40}(?:not allowed|not in (?:the )?(?:allow|white) ?list|blocked|banned)",
				"organization[ -~]{0,60}(?:has been |is )?(?:disabled|restricted|deactivated|must be verified)",
				"(?:account|user|workspace|project|subscription|organization|key)[`\"'\\\\]{0,4} (?:is |was |has been |have been |has |been )?(?:terminated|suspended|deactivated|disabled|banned|blocked|closed|restricted|frozen|locked|deleted)",
				"account[ -~]{0,60} is suspended",
				"(?:consumer|user|account|key)_?(?:suspended|banned|deactivated|disabled)",
				"account_(?:suspended|deactivated|disabled|banned|terminated)",
				"无权(?:限|访问|使用)?",
				"没有权限",
				"(?:账号|账户|用户|帐号|帐户)(?:已)?(?:被)?(?:封禁|禁用|停用|冻结)"
			],
			"why": "the account may not do this; asking again changes nothing"
		},
		{
			"id": "model-not-found",
			"decision": "stop",
			"when": [
				"any"
			],
			"patterns": [
				"model_?not_?found",
				"unknown[_ ](?:llm[_ ]|api[_ ]|model[_ ]|upstream[_ ])?provider",
				"provider[`\"'\\\\]{0,4}:? (?:[`\"'\\\\]?[a-z0-9_.-]{1,40}[`\"'\\\\]? )?(?:config(?:uration)? )?(?:is |was |does |has )?(?:not (?:found|configured|provided|registered|supported|exist|been configured|set up|enabled)|unknown|disabled)(?![a-z0-9_])",
				"(?<![a-z0-9_])no (?:llm |api |model |such )?provider (?:is |was |has been )?(?:registered|configured|found|set|available for|supports?|for|matches|named)(?![a-z0-9_])",
				"convert_request_failed",
				"未配置(?:供应商|渠道|模型|上游)",
				"pricing restriction",
				"not supported by any(?![a-z0-9_])",
				"not in (?:the )?(?:list of )?(?:allowed|supported|available) models?",
				"model[`\"'\\\\]{0,4} [ -~]{0,80}(?:is|was) not (?:a valid|an available|enabled|allowed|mapped|configured)",
				"(?:requested|this|the) model (?:\\([ -~]{1,80}\\) )?(?:is |was )?not (?:available|enabled|accessible|deployed|allowed)",
				"(?:no|without an?) (?:route|deployment|mapping|channel|backend|upstream|endpoint)s? (?:is |are |was |were )?(?:configured|defined|registered|found|available)? ?for (?:this |the |requested )?model(?![a-z0-9_])",
				"鏃犲彲鐢ㄦ笭閬",
				"model_not_supported",
				"(?:not|n.?t) support (?:this |the )?model",
				"model_not_available",
				"no such model",
				"(?:unknown|invalid|unsupported|unrecognized) model(?![a-z0-9_])",
				"(?:unknown|invalid|unsupported)_model(?![a-z0-9_])",
				"not a valid model",
				"model:? [`\"'\\\\]{0,4}[a-z0-9][a-z0-9._:/@\\[\\]-]{0,100}[`\"'\\\\]{0,4},? (?:was |is |could |does |has |has been |do )?(?:not |no longer |been )?(?:be )?(?:found|exist|supported|available|offered|accessible|deprecated|retired|decommissioned|discontinued|shut down|recognized)",
				"model (?:was |is |could |does |has been )?(?:not (?:be )?(?:found|exist|supported|available for|recognized)|deprecated|retired|decommissioned|discontinued)",
				"models?/[a-z0-9][a-z0-9._:/@-]{0,100} (?:is|was) not (?:found|supported)",
				"model[`\"'\\\\]{0,4}:? [`\"'\\\\]{0,4}[a-z0-9][a-z0-9._:/@-]{0,100}[`\"'\\\\]{0,4} (?:not found|does not exist)",
				"(?:deployment|engine|endpoint|inference profile|resource)[`\"'\\\\]{0,4}:? (?:for this resource )?(?:is |was |does |could )?(?:not (?:be )?(?:found|exist|supported))",
				"does not exist or you do not have access",
				"resourcenotfoundexception",
				"deploymentnotfound",
				"not_found_error",
				"the requested model",
				"no available channel for model",
				"(?<![a-z0-9_])no (?:handler|route|provider|endpoint)s? (?:found |configured |registered |defined )?for (?:this |the |requested |that )?model(?![a-z0-9_])",
				"(?<![a-z0-9_])410(?![a-z0-9_])[:, ]{1,3}gone(?![a-z0-9_])",
				"no endpoints found",
				"(?:模型|model)[ -~]{0,80}(?:不存在|不支持|未找到|已下线)",
				"模型[^\\n\\r\\u2028\\u2029\\ud800-\\udfff]{0,80}(?:不存在|不支持|未找到|已下线|无可用渠道)",
				"无可用渠道"
			],
			"why": "there is no such model on this route; another attempt asks for the same one"
		},
		{
			"id": "content-policy",
			"decision": "stop",
			"when": [
				"any"
			],
			"patterns": [
				"content[_ ]?(?:policy|filter|filtering|management policy|safety|moderation)",
				"contentpolicy",
				"usage polic(?:y|ies)",
				"polic(?:y|ies) violation",
				"violat(?:e|es|ed|ing|ion of|ions of)[ -~]{0,60}(?:polic|terms|guideline|rules)",
				"(?:was|been|is|were) flagged(?![a-z0-9_])",
				"responsible ?ai",
				"safety (?:system|filter|reasons|settings|policy|guardrail|checks?)",
				"blocked by (?:our |the |a )?(?:content|safety|moderation|guardrail|policy|filter)",
				"prohibited[_ ]content",
				"inappropriate content",
				"data_?inspection_?failed",
				"datainspectionfailed",
				"moderation (?:blocked|failed|flagged|rejected)",
				"invalid_prompt",
				"stopped with: (?:safety|blocklist|prohibited|spii|recitation|image_safety)",
				"cyber(?:security)? (?:risk|safety|activity)",
				"suspicious activity",
				"new_sensitive",
				"sensitive[_ ]words?",
				"stop[_ ]?reason:? ?[`\"'\\\\]{0,4}(?:refusal|sensitive|safety|content_filter(?:ed)?|guardrail_intervened|prohibited_content|blocklist|recitation)(?![a-z0-9_])",
				"guardrail (?:intervened|blocked)",
				"内容(?:安全|审核|违规|过滤)",
				"(?:敏感|违规|不当)(?:内容|信息|词)"
			],
			"why": "the provider refuses the content; the same content is refused again"
		},
		{
			"id": "certificate",
			"decision": "stop",
			"when": [
				"any"
			],
			"patterns": [
				"self[- ]signed certificate",
				"certificate (?:has expired|is not yet valid|has been revoked|is revoked|verify failed|verification failed|signed by unknown authority|(?:is )?not trusted|is invalid|is not valid for)",
				"unable to (?:verify the first|get (?:local )?issuer) certificate",
				"does not match certificate",
				"(?<![a-z0-9_])err_tls_cert_altname_invalid",
				"(?<![a-z0-9_])(?:cert_has_expired|depth_zero_self_signed_cert|self_signed_cert_in_chain|unable_to_verify_leaf_signature|unable_to_get_issuer_cert(?:_locally)?)(?![a-z0-9_])",
				"(?<![a-z0-9_])x509: certificate",
				"net::err_cert_"
			],
			"why": "the server's certificate is self-signed, expired or another's; a retry meets the same one"
		},
		{
			"id": "plan-limit-known-to-pi",
			"decision": "stop",
			"when": [
				"no-status",
				"4xx"
			],
			"patterns": [
				"GoUsageLimitError",
				"FreeUsageLimitError",
				"Monthly usage limit reached",
				"available balance",
				"insufficient_quota",
				"out of budget",
				"quota exceeded",
				"subscription_sharing_usage_limit_exceeded",
				"subscription_sharing_workplace_individual_usage_limit_exceeded",
				"\"code\"\\s*:\\s*\"?1308(?![0-9])"
			],
			"why": "subscription, quota or billing is used up; hours or a payment bring it back, not seconds"
		},
		{
			"id": "billing",
			"decision": "stop",
			"when": [
				"no-status",
				"4xx"
			],
			"patterns": [
				"(?:^|[ \\t\\n\"'(\\[{.,:;/_`>])billing(?:$|[ \\t\\n\"')\\]}.,:;/_?!`<])"
			],
			"why": "a payment is due; the name of a header that is echoed back is no such word"
		},
		{
			"id": "codex-usage-limit",
			"decision": "stop",
			"when": [
				"no-status",
				"4xx"
			],
			"patterns": [
				"hit your ChatGPT usage limit"
			],
			"why": "with the status at hand its 429 must not turn a plan's limit into a rate"
		},
		{
			"id": "usage-limit",
			"decision": "stop",
			"when": [
				"any"
			],
			"patterns": [
				"usage[_-]limit",
				"usage limit (?:has been |was |is )?(?:reached|exceeded|hit)",
				"(?:hit|reached|exceeded|over) (?:[a-z0-9-]{1,16} ){0,4}usage limit",
				"usage_not_included",
				"usagelimit(?:error|reached|exceeded)",
				"(?:hit|reached|exceeded) (?:your|the) (?:plan|account|daily|weekly|monthly|hourly|session|[0-9]{1,2}-hour|spend|spending|usage|subscription) ?(?:usage |plan |message |request |token |spend |spending )?(?:limit|cap|quota|allowance)",
				"you.?ve hit your (?:[a-z0-9-]{1,20} )?limit",
				"(?:daily|weekly|monthly|[0-9]{1,2}-hour|session|five-hour) (?:[a-z]{1,20} )?(?:limit|cap|quota|allowance)[a-z ]{0,20} (?:reached|exceeded|exhausted|hit|used up|resets)",
				"(?:premium|monthly|daily|weekly|plan) (?:request |requests |usage |token )?allowance",
				"extra usage",
				"plan limits?(?![a-z0-9_])",
				"(?:daily|weekly|monthly)_[a-z_]{0,40}(?:count|limit|quota|cost|cap)(?![a-z0-9_])",
				"daily (?:free )?(?:allocation|allowance)",
				"set ?limit ?exceeded",
				"reached the set [a-z ]{0,20}limit",
				"free-models-per-(?:day|month)",
				"(?<![a-z0-9_])free (?:usage|tier|quota|plan|requests?|limit|trial|byok|credits?)[ -~]{0,40}(?:exceeded|exhausted|reached|used up|expired|ended|is over|has been used)",
				"(?:request|usage|message|token)s? (?:cap|allowance) (?:exceeded|reached|used up)",
				"(?:session|daily|weekly|monthly|hourly) usage limit",
				"grace_daily_limit",
				"perday",
				"requests? per day \\(rpd\\)",
				"(?:spend|spending) (?:limit|cap)(?![a-z0-9_])",
				"(?:hard|budget|cost)[ _](?:limit|cap)[a-z ]{0,12} (?:reached|exceeded|hit)",
				"billing_hard_limit_reached",
				"billing_?not_?active",
				"budget (?:has been |was )?exceeded",
				"exceededbudget",
				"budget_exceeded",
				"limit: 0(?![a-z0-9_])",
				"fair[ -]use",
				"subscription (?:has |is |was )?(?:been )?(?:expired|ended|inactive|cancell?ed|required|not active)",
				"no (?:active|valid) (?:subscription|plan|package)",
				"(?:not (?:included|available) (?:in|on|with|for|under)|does not include|not covered by) your (?:current )?(?:plan|subscription|tier|package)",
				"\"code\\\\?\"\\s*:\\s*\\\\?\"?(?:1113|1304|1308|1309|1310|1311)(?![0-9])",
				"(?:配额|额度|限额|积分|点数)[^\\n\\r\\u2028\\u2029\\ud800-\\udfff]{0,12}(?:用尽|耗尽|用完|不足)",
				"(?:小时|每周|每月|每日|套餐)[^\\n\\r\\u2028\\u2029\\ud800-\\udfff]{0,12}上限",
				"购买[^\\n\\r\\u2028\\u2029\\ud800-\\udfff]{0,8}(?:套餐|加量包)",
				"(?:每日|每天|每周|每月|本周|本月|今日|当日)[^\\n\\r\\u2028\\u2029\\ud800-\\udfff]{0,12}(?:限制|上限|限额|额度|配额)",
				"(?:套餐|订阅|资源包)[^\\n\\r\\u2028\\u2029\\ud800-\\udfff]{0,12}(?:过期|到期|用完|用尽|失效|不支持)"
			],
			"why": "a plan's limit: it resets after hours or days, or when somebody pays"
		},
		{
			"id": "balance",
			"decision": "stop",
			"when": [
				"any"
			],
			"patterns": [
				"insufficient_(?:[a-z0-9]{1,12}_){0,3}(?:quota|balance|credits?|funds)",
				"insufficient (?:account |user )?(?:balance|credits?|funds)",
				"(?:credit|account|token|prepaid|wallet) ?balance (?:is |was )?(?:too low|insufficient|exhausted|not enough|negative|empty)",
				"balance (?:is )?(?:too low|insufficient|not enough|exhausted)",
				"(?:not enough|out of|no|requires? more|insufficient|exhausted (?:your |all )?|used (?:up )?(?:all )?your|run out of|ran out of) credits?(?![a-z0-9_])",
				"credits? (?:have been |has been |are |is |were )?(?:exhausted|depleted|used up|expired|required)",
				"(?:depleted|exhausted|exceeded|used(?: up)?) (?:all )?(?:of )?your [a-z ]{0,30}(?:credits|points|balance|allowance)(?![a-z0-9_])",
				"creditserror",
				"payment[_ ]required",
				"payment (?:method )?(?:is )?(?:required|failed|declined|overdue)",
				"arrear(?:s|age)",
				"overdue (?:payment|bill|balance|invoice)",
				"no resource package",
				"余额(?:不足|已用尽|不够)",
				"(?:账户|帐户|用户)?(?:额度|配额)(?:不足|已用尽|已耗尽)",
				"(?:已)?欠费",
				"(?:请|先)充值"
			],
			"why": "nothing is left to pay with"
		},
		{
			"id": "quota",
			"decision": "stop",
			"when": [
				"no-status",
				"4xx"
			],
			"patterns": [
				"exceeded (?:your|the|its) (?:current |allocated |assigned |monthly |daily )?quota",
				"exceeded_current_quota",
				"quota[_ ](?:has been |is |was )?(?:exceeded|exhausted|reached|used up|depleted|insufficient|limit)",
				"quotaexceeded",
				"(?:increase|raise) your quota",
				"quota will (?:be )?(?:reset|replenished|restored|renewed)",
				"out of (?:[a-z]{1,12} ){0,3}quota",
				"已达[^\\n\\r\\u2028\\u2029\\ud800-\\udfff]{0,40}上限",
				"(?:使用|用量|调用|次数)[^\\n\\r\\u2028\\u2029\\ud800-\\udfff]{0,12}(?:上限|用尽|耗尽|已用完|超限|不足)",
				"exhausted your (?:capacity|quota)",
				"check your plan",
				"(?:tokens|requests|messages|queries) per (?:day|week|month)",
				"(?:daily|weekly|monthly) (?:token|request|message|usage|rate)? ?(?:limit|quota|cap)",
				"resets? (?:at|in|on) ",
				"try again (?:tomorrow|next (?:day|week|month))"
			],
			"why": "a quota is used up; where the server names a wait of a minute or less, it is a rate limit after all"
		},
		{
			"id": "request-over-limit",
			"decision": "stop",
			"when": [
				"any"
			],
			"patterns": [
				"(?<![a-z0-9_])request too large for [ -~]{1,240} limit:? [0-9]{1,12}, requested:? [0-9]"
			],
			"why": "this request alone is more than a whole minute allows; no wait makes it fit"
		},
		{
			"id": "plan-advertised",
			"decision": "stop",
			"when": [
				"no-status",
				"4xx",
				"5xx"
			],
			"patterns": [
				"(?:upgrade|change) your (?:plan|subscription|tier)",
				"upgrade (?:to (?:a )?|for )(?:pro|plus|max|paid|premium|team|higher)",
				"subscribe to (?:go|pro|plus|max|continue|keep|unlock|a plan|[a-z]{1,12} (?:plan|pro|plus))(?![a-z0-9_])",
				"(?:add|purchase|buy) (?:more |paid |additional |extra )?(?:credits?|points)(?![a-z0-9_])",
				"(?:no|add a) payment method",
				"(?<![a-z0-9_])top[ -]up(?![a-z0-9_])",
				"recharge (?:your|the)(?![a-z0-9_])",
				"please (?:top[ -]?up|recharge|add funds)",
				"contact (?:us|sales|support|an admin|your admin|your administrator)[a-z ]{0,20} to (?:increase|raise|upgrade|extend)"
			],
			"why": "who sells a larger plan here says that this one is used up; beside a wait of a minute or less it is advertising"
		},
		{
			"id": "short-wait",
			"decision": "wait",
			"when": [
				"any"
			],
			"patterns": [
				"(?:retry|again|wait|resets?)(?: again)?(?: in| after| for)?(?: about| approximately)? ~?(?:[0-9]|[1-5][0-9])(?:\\.[0-9]{1,20})? ?(?:s|sec|secs|second|seconds)(?![a-z0-9_])",
				"(?:retry|again|wait)(?: again)?(?: in| after| for)?(?: about| approximately)? ~?60(?:\\.0{1,20})? ?(?:s|sec|secs|second|seconds)(?![a-z0-9_])",
				"(?:retry|again|wait)(?: again)?(?: in| after| for)?(?: about| approximately)? ~?[0-9]{1,4}(?:\\.[0-9]{1,20})? ?(?:ms|millis|milliseconds?)(?![a-z0-9_])",
				"(?:retry|again|wait)(?: again)?(?: in| after| for)?(?: about| approximately)? (?:1|one|a) ?minute(?![a-z0-9_])",
				"(?:available|back|ready|resume|reset|resets|resetting|unblocked|continue)[a-z ]{0,20} (?:in|after|within)(?: about| approximately)? ~?(?:[0-9]|[1-5][0-9])(?:\\.[0-9]{1,20})? ?(?:s|sec|secs|second|seconds)(?![a-z0-9_])",
				"(?:等待|请在|约) ?(?:[0-9]|[1-5][0-9]) ?秒",
				"(?:^|[^\\0-\\x7f]|[ ,.:;(])(?:[0-9]|[1-5][0-9]) ?秒(?:钟)?(?:之)?后",
				"retry[_ -]?(?:delay|after)[`\"'\\\\]{0,4} ?[:=] ?[`\"'\\\\]{0,4}(?:[0-9]|[1-5][0-9])(?:\\.[0-9]{1,20})?(?:s|[^\\0-\\x7f]|[\\\\\",}\\n ]|$)",
				"retry[_ -]?(?:delay|after)[`\"'\\\\]{0,4} ?[:=] ?[`\"'\\\\]{0,4}60(?:\\.0{1,20})?(?:s|[^\\0-\\x7f]|[\\\\\",}\\n ]|$)"
			],
			"why": "the server itself says when to come back, and that is soon: its quota is per minute"
		},
		{
			"id": "per-minute",
			"decision": "wait",
			"when": [
				"any"
			],
			"patterns": [
				"(?:tokens?|requests?|queries|quota)[ _-]?per[ _-]?(?:second|minute)",
				"[a-z]perminute",
				"(?<![a-z0-9_])(?:rpm|tpm|qps|rps)(?![a-z0-9_])",
				"(?:每分钟|每秒|并发|频率)"
			],
			"why": "the quota is one of a minute, whatever word the text has for it"
		},
		{
			"id": "long-wait",
			"decision": "stop",
			"when": [
				"no-status",
				"4xx"
			],
			"patterns": [
				"(?:retry|again|wait|resets?)(?: again)?(?: in| after| for)?(?: about| approximately)? ~?[0-9]{4,9}(?:\\.[0-9]{1,20})? ?(?:s|sec|secs|second|seconds)(?![a-z0-9_])",
				"(?:retry|again|wait|resets?)(?: again)?(?: in| after| for)?(?: about| approximately)? ~?[0-9]{1,4} ?(?:h|hr|hrs|hours?|d|days?|weeks?)(?:[0-9 .,]|(?![a-z0-9_]))",
				"retry[_ -]?(?:delay|after)[`\"'\\\\]{0,4} ?[:=] ?[`\"'\\\\]{0,4}[0-9]{4,9}(?:\\.[0-9]{1,20})?(?:s|[^\\0-\\x7f]|[\\\\\",}\\n ]|$)",
				"reset_?(?:seconds|in|after)[`\"'\\\\]{0,4} ?[:=] ?[`\"'\\\\]{0,4}[0-9]{4,9}(?:\\.[0-9]{1,20})?(?:s|[^\\0-\\x7f]|[\\\\\",}\\n ]|$)"
			],
			"why": "the server names a wait of a quarter of an hour or more: three attempts within seconds cannot help"
		},
		{
			"id": "unsupported-parameter",
			"decision": "stop",
			"when": [
				"any"
			],
			"patterns": [
				"unsupported[_ ](?:parameter|value|argument|field|option|message role|content type|media type|mime type|image)",
				"(?:unknown|unrecognized|unexpected|unrecognised)[_ ](?:request )?(?:parameter|argument|field|key|keyword argument|property|option|name)",
				"unrecognized request argument",
				"extra[_ ](?:inputs are not permitted|forbidden|fields not permitted)",
				"additional properties are not allowed",
				"(?:parameter|value|argument|option|field|setting)s?[`:]{0,4} [ -~]{0,60}(?:is|are) not supported",
				"(?:is|are) not supported (?:with|by|for|in|on|when|together|at)(?![a-z0-9_])",
				"not supported (?:with|by|for|in) (?:this|the) model",
				"(?:does not|doesn.?t) support(?![a-z0-9_])",
				"extra inputs are not permitted",
				"(?<![a-z0-9_])messages\\.[0-9]{1,6}: [`\"'\\\\]{0,4}tool_(?:use|result)",
				"each [`\"'\\\\]{0,4}tool_(?:use|result)[`\"'\\\\]{0,4} block must have",
				"is not (?:a )?supported (?:parameter|value|option|content type|type)",
				"(?<![a-z0-9_])messages\\.[0-9]{1,6}\\.(?:content|role)(?![a-z0-9_])",
				"invalid_value",
				"invalid_parameter_error",
				"参数(?:错误|无效|不支持|不合法)",
				"不支持(?:该|此)?参数"
			],
			"why": "the request names something this model does not take; it will not take it next time"
		},
		{
			"id": "malformed-request",
			"decision": "stop",
			"when": [
				"no-status",
				400,
				404,
				413,
				422
			],
			"patterns": [
				"field required",
				"required field",
				"missing required",
				"(?<![a-z0-9_])request is missing(?![a-z0-9_])",
				"(?:invalid|malformed|bad|incorrect) (?:json|type|value|argument|parameter|input|field|schema|format|image|base64|url|role|message|tool|function|enum|property|payload|request body|headers?(?: name| value| field|[:.]))",
				"invalid_(?:type|argument|json|schema|image|base64|function|tool|request_body|enum)",
				"invalidparameter",
				"invalid_argument",
				"validationerror",
				"validationexception",
				"validation error",
				"request body is not valid json",
				"could not parse the json body",
				"could not parse (?:your|the) (?:request|json|body)",
				"failed to (?:parse|deserialize|decode) (?:the )?(?:request|json|body)",
				"schema (?:is invalid|mismatch|validation)",
				"unexpected role",
				"tool_use[`\"'\\\\]{0,4} (?:ids?|blocks?) (?:were|was|must|without)",
				"no (?:tool|function) (?:call|output) found",
				"unprocessable entity",
				"invalid url",
				"failed to parse url"
			],
			"why": "the provider cannot read the request as it is; it will read the same one the same way"
		},
		{
			"id": "request-rule-named",
			"decision": "stop",
			"when": [
				400,
				404,
				413,
				422
			],
			"patterns": [
				"(?:is|are) required(?![a-z0-9_])",
				"must (?:be|have|not|contain|match|start|end|provide|specify|include|alternate|follow)(?![a-z0-9_])",
				"should (?:be|match|have)(?![a-z0-9_])",
				"may not(?![a-z0-9_])",
				"(?:greater|less|larger|smaller) than(?![a-z0-9_])",
				"out of range",
				"(?:too (?:long|large|many|big|small)|exceeds?) [ -~]{0,40}(?:maximum|limit|max)(?![a-z0-9_])",
				"limit is [0-9]",
				"method not allowed",
				"(?:missing|invalid|unknown|unexpected|unsupported) (?:or (?:missing|invalid) )?[`\"'\\\\]",
				"not allowed(?![a-z0-9_])"
			],
			"why": "the answer names what a request must be or may not hold; without a status such words also stand in passing"
		},
		{
			"id": "wrapped-invalid-request",
			"decision": "stop",
			"when": [
				400
			],
			"patterns": [
				"\\[invalid_request(?:_error)?\\][: ]{0,2}(?:[!-@\\[-`a-hj-z]|i[a-mo-z]|in[a-uw-z]|invalid [a-tv-z]|$)",
				"(?:provider.?returned.?(?:an.?)?error|upstream.?request.?failed|failed to get (?:a )?response)[ -~]{0,200}(?:\\\\\"type\\\\\": ?\\\\\"invalid_request_error|invalid_argument|\\\\\"code\\\\\": ?40[0-4](?![a-z0-9_])|.code.: ?40[1-4](?![a-z0-9_])|(?<![a-z0-9_])raw(?![a-z0-9_])[ -~]{0,160}.code.: ?400(?![a-z0-9_])|(?<![a-z0-9_])40[0-4] bad request|validationexception)"
			],
			"why": "the wrapper says that its upstream failed; the upstream says that the request is wrong"
		},
		{
			"id": "chat-template",
			"decision": "stop",
			"when": [
				"any"
			],
			"patterns": [
				"--jinja(?![a-z0-9_])",
				"(?<![a-z0-9_])jinja2?(?![a-z0-9_])",
				"\\{%-? ?[a-z]",
				"chat[_ ]?template",
				"template(?:[_ ](?:syntax|render(?:ing)?))?[_ ]?error",
				"(?<![a-z0-9_])at row [0-9]{1,6}, column [0-9]{1,6}",
				"(?:failed|unable) to (?:generate|compile|build|parse|convert) (?:a |the )?(?:parser|grammar|tools?|tool calls?|tool schema|json schema|openai tool calls?)(?![a-z0-9_])",
				"json schema conversion failed",
				"failed to parse grammar",
				"tools? (?:param|parameter|calling|use|call|support)s?[`\"'\\\\]{0,4} (?:requires?|is disabled|is not enabled|not enabled)",
				"requires --?[a-z]"
			],
			"why": "the server cannot put this history or these tools into the model's template; the same request fails the same way"
		},
		{
			"id": "overloaded",
			"decision": "retry",
			"when": [
				"no-status",
				400
			],
			"patterns": [
				"overloaded",
				"server_busy",
				"servers are currently busy",
				"currently experiencing high demand",
				"model is at capacity"
			],
			"why": "load passes"
		},
		{
			"id": "too-many-requests",
			"decision": "retry",
			"when": [
				"no-status",
				400
			],
			"patterns": [
				"too many requests"
			],
			"why": "a rate passes"
		},
		{
			"id": "upstream-failed",
			"decision": "retry",
			"when": [
				"no-status",
				400
			],
			"patterns": [
				"provider.?returned.?(?:an.?)?error",
				"exceeded request buffer limit while retrying upstream",
				"unable to forward upstream",
				"upstream.?request.?failed",
				"upstream_stream_read_error"
			],
			"why": "the relay lost its upstream; another attempt takes another one"
		},
		{
			"id": "rate-limit",
			"decision": "retry",
			"when": [
				"no-status"
			],
			"patterns": [
				"rate.?limit"
			],
			"why": "a rate passes"
		},
		{
			"id": "server-error",
			"decision": "retry",
			"when": [
				"no-status"
			],
			"patterns": [
				"service.?(?:is.?)?(?:temporarily.?)?unavailable",
				"server.?error",
				"internal.?error"
			],
			"why": "the provider failed, not the request"
		},
		{
			"id": "retry-guidance",
			"decision": "retry",
			"when": [
				"no-status"
			],
			"patterns": [
				"retry delay",
				"you can retry your request",
				"try your request again",
				"please retry your request",
				"ResourceExhausted",
				"subscription_sharing_usage_unavailable",
				"subscription_sharing_user_unavailable"
			],
			"why": "the provider asks for another attempt"
		},
		{
			"id": "relay-request-not-supported",
			"decision": "retry",
			"when": [
				400
			],
			"patterns": [
				"this request is not supported[.!]?(?:[ \\n,;()\\[\\]]|\\(request id: [a-z0-9_.-]{1,128}\\)){0,40}(?:[`\"'\\\\]|[^\\0-\\x7f]|$|(?:type|code)[=:])"
			],
			"why": "after this refusal and no more, the next attempt with the same provider and model succeeded 7 of 9 times, at gaps of 13 s to 250 s, on one machine with one relay; longer texts name a parameter"
		},
		{
			"id": "relay-upload-request",
			"decision": "retry",
			"when": [
				"no-status",
				400
			],
			"patterns": [
				"invalid upload request"
			],
			"why": "a gateway's flap: the byte-identical request was accepted 22 s later"
		},
		{
			"id": "relay-lost-provider",
			"decision": "retry",
			"when": [
				"no-status",
				400
			],
			"patterns": [
				"failed to get (?:a )?response from (?:the )?(?:provider|upstream)"
			],
			"why": "the gateway got nothing from its provider; another attempt may"
		},
		{
			"id": "relay-transport-fault",
			"decision": "retry",
			"when": [
				400
			],
			"patterns": [
				"(?:connection refused|connection reset by peer|connection timed out|no route to host|network is unreachable|i/o timeout|operation timed out|broken pipe|host is down)[: (]{1,3}[a-z0-9_.\\n-]{0,120}/?\\[?[0-9a-f.:]{2,45}\\]?:[0-9]{2,5}(?![a-z0-9_])",
				"(?<![a-z0-9_])(?:dial|read|write) (?:tcp|udp)[46]? [a-z0-9_.:>\\[\\]-]{3,180}: (?:connect: |read: |write: )?(?:connection|i/o|broken|no route|network|use of closed|operation|host|cannot assign)",
				"(?<![a-z0-9_])dial (?:tcp|udp)[46]?: lookup [!-~]{1,128}(?: on [!-~]{1,64})?: ",
				"(?<![a-z0-9_])(?:get|post|put) [`\"'\\\\]{1,3}https?://[!-~]{1,200}: (?:[a-z/ ]{1,40}: )?(?:unexpected )?(?:eof|dial|read|write|net/http|http2|context deadline|tls)(?![a-z0-9_])",
				"(?<![a-z0-9_])(?:connect|read|write|bind) (?:ECONNREFUSED|ECONNRESET|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EPIPE|EADDRNOTAVAIL) \\[?[0-9a-f.:]{3,45}",
				"(?<![a-z0-9_])getaddrinfo (?:ENOTFOUND|EAI_AGAIN) [!-~]",
				"(?<![a-z0-9_])upstream connect error or disconnect/reset before headers",
				"(?<![a-z0-9_])(?:message|error|detail|msg)[`\"'\\\\]{1,3} ?: ?[`\"'\\\\]{1,3}(?:unexpected eof|eof|connection reset by peer|connection refused|broken pipe|socket hang up|fetch failed|read ECONNRESET|write EPIPE|connection error|i/o timeout|context deadline exceeded|context canceled|stream error|transport is closing|terminated)[.!]?(?: \\(request id[ -~]{1,80}\\))?(?:[`\"'\\\\]| ?[^\\0-\\x7f])",
				"^400[: ]{1,2}(?:unexpected eof|eof|connection reset by peer|connection refused|broken pipe|socket hang up|fetch failed|read ECONNRESET|i/o timeout|context deadline exceeded)[.!]?(?:$| ?[^\\0-\\x7f])"
			],
			"why": "the operating system's own words, with an address or as the whole message: the relay's connection broke, not the request"
		},
		{
			"id": "provider-fault-as-400",
			"decision": "retry",
			"when": [
				400
			],
			"patterns": [
				":exception-type[`\"'\\\\]{1,3} ?: ?[`\"'\\\\]{1,3}(?:serviceunavailable|throttling|internalserver|modelstreamerror|modelnotready|modeltimeout)",
				"(?<![a-z0-9_])message[`\"'\\\\]{1,3} ?: ?[`\"'\\\\]{1,3}invalid request data[.]?[`\"'\\\\]",
				"encountered an? (?:internal |unexpected )?server error"
			],
			"why": "the provider's own fault under a 400: the event names another, or the same request passed when sent again"
		},
		{
			"id": "output-refused",
			"decision": "retry",
			"when": [
				"no-status",
				400
			],
			"patterns": [
				"(?<![a-z0-9_])(?:tool_use|output_parse|json_validate)_failed(?![a-z0-9_])",
				"failed to call a\\s{1,3}function",
				"(?<![a-z0-9_])failed_generation(?![a-z0-9_])",
				"model (?:has )?(?:produced|generated|returned|emitted) (?:an? )?(?:invalid|malformed|unparsable|unparseable|incomplete) (?:content|output|sequence|tool|function|json|response|text)",
				"model (?:has )?(?:produced|generated|returned|emitted) (?:output|content|text|a response) that (?:could|can) ?not be parsed",
				"malformed_function_call"
			],
			"why": "the server could not use what the model wrote; the model writes something else the next time"
		},
		{
			"id": "upstream-status-named",
			"decision": "retry",
			"when": [
				400
			],
			"patterns": [
				"(?<![a-z0-9_])bad response status code (?:429|5[0-9]{2})(?![0-9])",
				"(?<![a-z0-9_])upstream (?:returned|responded|answered|replied|failed)?(?: with)? ?(?:an? )?(?:http |error )?(?:status|status code|http|code|error)[: =(]{1,3}(?:429|5[0-9]{2})(?![0-9])"
			],
			"why": "the relay names the status of its upstream in words, and that one passes"
		},
		{
			"id": "cancelled",
			"decision": "retry",
			"when": [
				499
			],
			"patterns": [
				"cancell?ed",
				"client closed",
				"client disconnected"
			],
			"why": "the call was given up on its way, by the provider or a proxy; nobody here did"
		},
		{
			"id": "failed-dependency",
			"decision": "retry",
			"when": [
				424
			],
			"patterns": [
				"try your request again",
				"\"originalstatuscode\"\\s*:\\s*5[0-9]{2}(?![0-9])"
			],
			"why": "Bedrock's 424 says that the model behind it failed, and with which status"
		},
		{
			"id": "throttled",
			"decision": "retry",
			"when": [
				"no-status",
				400
			],
			"patterns": [
				"throttling",
				"throttled",
				"too_many_requests",
				"rate[_ ]?limit[_ ]?(?:error|exceeded|reached|hit)",
				"rate[_ -]?limited",
				"rate (?:is )?exceeded",
				"(?:exceed(?:s|ed)?|reached|hit) (?:the |your |its )?(?:[a-z]{1,20} )?rate limit",
				"(?:requests?|tokens?)[ -]per[ -](?:second|minute)",
				"(?<![a-z0-9_])[rt]p[ms](?![a-z0-9_]) (?:limit|quota|rate|exceeded|reached)",
				"(?:limit|exceeded|reached|over)[ -~]{0,20}(?<![a-z0-9_])[rt]p[ms](?![a-z0-9_])",
				"(?:limiting|throttling) (?:your |the )?(?:requests|traffic|calls)",
				"(?:request|call|message) (?:rate|frequency) (?:is )?(?:too|exceed)",
				"reduce (?:the |your )?(?:frequency|rate|concurrency)",
				"sending requests too (?:quickly|fast)",
				"slow[ _]down(?![a-z0-9_])",
				"(?<![a-z0-9_])error code:? 1015(?![a-z0-9_])",
				"too many (?:concurrent|parallel|pending) ",
				"concurren(?:cy|t)(?: [a-z]{1,20}){0,2} (?:limit|exceeded|reached)",
				"request rate (?:is )?(?:too high|increased)",
				"请求(?:过于|太)?频繁",
				"(?:请求|任务|对话|会话|生成)[^\\n\\r\\u2028\\u2029\\ud800-\\udfff]{0,6}(?:进行中|正在进行|处理中|未完成)",
				"(?:人数|用户|请求|并发)[^\\n\\r\\u2028\\u2029\\ud800-\\udfff]{0,4}(?:过多|太多|较多|已满)",
				"(?:排队|队列)[^\\n\\r\\u2028\\u2029\\ud800-\\udfff]{0,8}(?:中|等待|已满|超时|过长|人数)",
				"正在排队",
				"(?:触发|达到)[^\\n\\r\\u2028\\u2029\\ud800-\\udfff]{0,8}(?:限流|速率限制|频率限制)",
				"速率(?:限制|超)",
				"并发(?:数)?[^\\n\\r\\u2028\\u2029\\ud800-\\udfff]{0,8}(?:超|过高|上限|限制)"
			],
			"why": "a rate passes, also where it is sent as HTTP 400"
		},
		{
			"id": "busy",
			"decision": "retry",
			"when": [
				"no-status",
				400
			],
			"patterns": [
				"(?:server|service|system|model|engine|provider|channel|upstream|worker|workers|backend|api)s? (?:is|are|was|were) (?:currently |temporarily |too |very |all )?(?:busy|overload|unavailable|not available|under heavy)",
				"(?:experiencing|under|due to) (?:an? )?(?:very |unusually |extremely )?(?:high|heavy|large) (?:volume of |amount of |levels? of )?(?:demand|load|traffic|usage|requests)",
				"degraded function cannot be invoked",
				"(?<![a-z0-9_])model(?![a-z0-9_])(?: [!-~]{1,80})? (?:is|was|got|has been) (?:currently |still |being )?(?:unloaded|loading)(?![a-z0-9_])",
				"(?<![a-z0-9_])model unloaded(?![a-z0-9_])",
				"(?<![a-z0-9_])(?:failed|unable|error) (?:to )?load(?:ing)? (?:the )?model(?![a-z0-9_])[ -~]{0,160}(?<![a-z0-9_])(?:cancell?ed|aborted|timed out|timeout)(?![a-z0-9_])",
				"(?:at|over|no|out of|insufficient|not enough|lacks?) (?:[a-z]{1,20} )?capacity",
				"capacity (?:is )?(?:exceeded|exhausted|constraint|limit)",
				"temporar(?:y|ily) (?:[a-z]{1,20} )?(?:unavailable|overload|error|failure|issue|problem|limited|down|errors)",
				"temporar(?:y|ily) (?:un|over)",
				"engine_overloaded",
				"service_unavailable",
				"provider_unavailable",
				"no (?:available|healthy) (?:account|upstream|backend|server|provider|worker|instance|node|credential|auth)",
				"no auth available",
				"(?<![a-z0-9_])upstream(?: is |[_ ])(?:saturated|cooling|cooling_down|busy|overloaded)(?![a-z0-9_])",
				"(?<![a-z0-9_])(?:under|scheduled|planned|ongoing|routine|emergency) maintenance(?![a-z0-9_])",
				"(?<![a-z0-9_])maintenance (?:in progress|window|mode|is ongoing)",
				"(?:维护中|正在维护|系统维护|停机维护)",
				"(?<![a-z0-9_])(?:session|conversation|thread|run)(?![a-z0-9_])(?: [!-~]{1,80})? is (?:currently |still |already )?(?:busy|locked|in use|running|being processed)(?![a-z0-9_])",
				"auth_unavailable",
				"account is (?:temporarily )?(?:unavailable|busy|cooling)",
				"accounts? (?:are |is )?(?:all )?(?:cooling|in cooldown|exhausted|busy)",
				"endpoint is unavailable",
				"(?:request |waiting |job |task )?queue (?:is |was |limit )?(?:full|exceeded|overloaded|timeout)",
				"(?:waiting|still|currently) in (?:the )?queue",
				"负载[^\\n\\r\\u2028\\u2029\\ud800-\\udfff]{0,8}(?:饱和|过高|较高|过大)",
				"(?:服务|系统|服务器|模型|当前)[^\\n\\r\\u2028\\u2029\\ud800-\\udfff]{0,8}(?:繁忙|过载|拥挤)",
				"访问量(?:过大|较大|太大)",
				"(?:暂时|临时)(?:不可用|无法|过载)"
			],
			"why": "load and outages pass; a pool has other accounts"
		},
		{
			"id": "try-again",
			"decision": "retry",
			"when": [
				"no-status",
				400
			],
			"patterns": [
				"(?:try|retry)(?: again)? (?:later|shortly|soon|momentarily)",
				"again (?:later|shortly|soon|(?:in|after) (?:a|an|some|few|[0-9]))",
				"(?:please|kindly) (?:re)?try(?: again)?(?:[.!]|$|[`\"'\\\\]| ?[^\\0-\\x7f])",
				"you (?:can|may|should) retry",
				"(?:please )?retry (?:the|your|this) request",
				"try (?:the|your|this) request again",
				"please wait (?:and|a)(?![a-z0-9_])",
				"请?稍(?:后|候)(?:再|重|片刻)",
				"请(?:稍后)?重试"
			],
			"why": "the provider asks for another attempt"
		},
		{
			"id": "server-failed",
			"decision": "retry",
			"when": [
				"no-status"
			],
			"patterns": [
				"internal[_ ]server[_ ]error",
				"internalservererror",
				"bad ?gateway",
				"bad_gateway",
				"gateway[_ ]?time-?out",
				"gateway error",
				"upstream[_ ](?:error|stream|connection|server|service|response|timeout|unavailable|failure|disconnect)",
				"upstream (?:[a-z]{1,20} )?(?:failed|reset|closed|hung up|returned an? (?:error|empty|invalid))",
				"(?:error|failure) (?:from|in|at) (?:the )?upstream",
				"error occurred while processing",
				"(?<![a-z0-9_])unable to process (?:your|the|this) request",
				"encountered an (?:internal |unexpected |unknown )?(?:error|issue|problem)",
				"unexpected (?:server |internal |upstream )?(?:error|failure) (?:occurred|happened|while|on the server)",
				"model stream error",
				"(?<![a-z0-9_])(?:provider|upstream|inference|model|llm|backend)(?: api)? (?:request|call|invocation) failed(?:[.!]|$| ?[^\\0-\\x7f]| \\()",
				"modelstreamerrorexception",
				"modelnotreadyexception",
				"modeltimeoutexception",
				"internalserverexception",
				"serviceunavailableexception",
				"web server is (?:down|returning an unknown error)",
				"origin (?:is unreachable|dns error|web server)",
				"host error",
				"cf-error-code",
				"worker threw (?:an )?exception",
				"(?<![a-z0-9_])error code:? 1101(?![a-z0-9_])",
				"server (?:failed|had an error|encountered|hung up|closed)",
				"(?<![a-z0-9_])resource_exhausted(?![a-z0-9_])",
				"\"unavailable\"",
				"服务(?:器)?(?:内部)?(?:错误|异常)",
				"(?:上游|系统)(?:服务)?(?:错误|异常|超时|失败)",
				"(?:上游|渠道|模型|服务)[^\\n\\r\\u2028\\u2029\\ud800-\\udfff]{0,6}(?:空响应|空回复|无响应|未响应|为空)"
			],
			"why": "the provider or the gateway before it failed, not the request"
		},
		{
			"id": "stream-broken-known-to-pi",
			"decision": "retry",
			"when": [
				"no-status"
			],
			"patterns": [
				"stream was interrupted",
				"http/?2 stream failed",
				"ended without",
				"stream ended before message_stop",
				"stream ended before a terminal response event",
				"http2 request did not get a response",
				"stream disconnected before completion",
				"cut short after the reply had begun",
				"pending stream has been canceled"
			],
			"why": "the stream broke off"
		},
		{
			"id": "connection-known-to-pi",
			"decision": "retry",
			"when": [
				"no-status"
			],
			"patterns": [
				"network.?error",
				"connection.?error",
				"connection.?refused",
				"connection.?lost",
				"connection.?closed",
				"other side closed",
				"fetch failed",
				"request to \\S+ failed, reason:",
				"getaddrinfo",
				"(?<![a-z0-9_])(?:ECONNRESET|ECONNABORTED|ECONNREFUSED|ETIMEDOUT|EPIPE)(?![a-z0-9_])",
				"connection reset by peer",
				"(?<![a-z0-9_])ENOTFOUND(?![a-z0-9_])",
				"EAI_AGAIN",
				"upstream.?connect",
				"reset before headers",
				"socket hang up",
				"socket connection was closed",
				"timed? out",
				"timeout",
				"terminated",
				"websocket.?closed",
				"websocket.?error",
				"websocket.?connection.?limit.?reached"
			],
			"why": "the connection failed"
		},
		{
			"id": "stream-broken",
			"decision": "retry",
			"when": [
				"no-status"
			],
			"patterns": [
				"(?:finish|stop)[_ ]?reason:? ?[`\"'\\\\]{0,4}error(?![a-z0-9_])",
				"stream[_ -]?(?:read|ended|end|closed|reset|terminated|aborted|broken|disconnected|stopped|failed|interrupted|truncated|cancell?ed|incomplete|error|idle|stalled|disconnect|dropped|cut)",
				"stream (?:was |has |has been |unexpectedly |is |got )(?:read|ended|closed|reset|terminated|aborted|broken|disconnected|stopped|failed|interrupted|truncated|cancell?ed|incomplete|dropped|cut)",
				"(?:ended|closed|finished|stopped|terminated|disconnected|interrupted) (?:before|prematurely|unexpectedly|early|abruptly|without)",
				"before (?:the )?(?:completion|response\\.completed|message_stop|terminal|finish|stream)",
				"unexpected (?:end|eof|close|termination|disconnect)",
				"[: (\"]eof(?![a-z0-9_])",
				"^eof(?![a-z0-9_])",
				"premature(?:ly)?[_ ](?:close|end|eof|closed|ended|terminat)",
				"missing (?:a |the )?(?:terminal|final|finish|stop|done|completion)[_ ]",
				"transfer closed",
				"end of file",
				"error reading (?:a |the )?(?:body|response|stream|chunk)",
				"incomplete ?(?:chunked|response|stream|read|message|json|body)",
				"payload is not completed",
				"transferencodingerror",
				"not enough data",
				"without sending any chunks",
				"error decoding response body",
				"decode error \\(200(?![a-z0-9_])",
				"(?:empty|no|truncated|incomplete|garbled) (?:response|stream|reply|body|completion)(?: body| received| from| stream| content| was)?(?:[ .:]|$|[^\\0-\\x7f])",
				"received no (?:response|data|chunks|events)",
				"(?<![a-z0-9_])(?:invalid|bad|unexpected|malformed) (?:api |http |json |upstream )?(?:response|reply|answer)s? (?:from|received|by|body|format)(?![a-z0-9_])",
				"(?<![a-z0-9_])error (?:parsing|processing|handling|reading|decoding) (?:the |a |an )?(?:upstream |provider |server |model |api )?(?:response|stream|chunk|reply|answer|event)",
				"(?<![a-z0-9_])failed to (?:process|parse|decode|handle) (?:the |a |an )?(?:upstream |provider |server |model |api )?(?:response|stream|chunk|reply|answer|event)",
				"(?<![a-z0-9_])(?:empty|blank|malformed|unparsable|unparseable|garbled)(?: or [a-z]{3,20})? (?:response|answer|reply|completion|stream|body)(?![a-z0-9_])",
				"(?<![a-z0-9_])(?:did not|didn.?t|does not|failed to) (?:provide|return|produce|generate|send|give|contain|include) (?:any |an? |valid )?(?:valid )?(?:assistant |model |text )?(?:messages?|outputs?|contents?|responses?|text|choices|completions?|answers?)(?![a-z0-9_])",
				"(?<![a-z0-9_])(?:contained|returned|has|had|with) no (?:choices|candidates|content|output|messages?|completions?)(?![a-z0-9_])",
				"response (?:ended|was cut|cut off|truncated|is empty|was empty|was not valid json)",
				"(?:in|after) json at position [0-9]",
				"end of json input",
				"invalid character [ -~]{1,12} (?:looking for beginning of|after|in) ",
				"json parse error: (?:un|expected)",
				"(?<![a-z0-9_])expecting (?:value|property name|[`\"'\\\\]{1,3}[,:][`\"'\\\\]{1,3} delimiter)[ -~]{0,40}: line [0-9]",
				"(?:extra data|unterminated string starting at): line [0-9]",
				"unexpected token [^\\n\\r\\u2028\\u2029\\ud800-\\udfff]{1,80} is not valid json",
				"rst_stream",
				"refused_stream",
				"goaway",
				"nghttp2",
				"err_http2",
				"(?:upstream|server|remote|peer|remote end) (?:unexpectedly )?(?:closed|disconnected|hung up|dropped)",
				"without (?:a )?(?:finish|stop|terminal|final)"
			],
			"why": "the stream broke off"
		},
		{
			"id": "connection-broken",
			"decision": "retry",
			"when": [
				"no-status"
			],
			"patterns": [
				"connection (?:to (?:the )?[!-~]{1,128} )?(?:was |has been |is |got )?(?:unexpectedly |forcibly |abruptly |suddenly )?(?:reset|refused|closed|aborted|lost|dropped|broken|terminated|timed|timeout|failed|interrupted|forcibly|error)",
				"connection (?:was )?force[- ]?closed",
				"(?<![a-z0-9_])hpe_[a-z_]{3,40}(?![a-z0-9_])",
				"parse error: expected http/",
				"incorrect header check",
				"(?:response|stream|request|connection|upstream)s? (?:has |is |was )?(?:stalled|hung|hanging)",
				"(?:network|socket|transport|tunnel|proxy)[_ ](?:connection |is |was |has )?(?:error|failure|failed|unreachable|lost|closed|timeout|disconnected|changed|hang|reset|issue)",
				"(?<![a-z0-9_])(?:ECONNRESET|ECONNREFUSED|ECONNABORTED|ENOTFOUND|ENETUNREACH|ENETDOWN|ENETRESET|EHOSTUNREACH|EHOSTDOWN|ETIMEDOUT|ESOCKETTIMEDOUT|EPIPE|EAI_AGAIN|EAI_FAIL|EPROTO)(?![a-z0-9_])",
				"und_err_",
				"net::err_(?:connection|network|timed|name|socket|http2|empty|internet|quic|ssl|proxy|tunnel|incomplete|address)",
				"broken pipe",
				"no route to host",
				"host (?:is )?(?:unreachable|down)",
				"error sending request",
				"(?:failed|unable|could not|cannot|can.?t) (?:to )?(?:connect|reach|fetch|resolve)(?![a-z0-9_])",
				"failed to (?:establish|open|send|read|receive)(?![a-z0-9_])",
				"name resolution",
				"dns (?:error|lookup|failure|resolution|timeout)",
				"no such host",
				"server misbehaving",
				"connection attempts? failed",
				"ssl_error_",
				"errno (?:32|54|104|110|111|113)(?![a-z0-9_])",
				"tls:? (?:handshake|connection|error)",
				"ssl (?:handshake|error|connection)",
				"deadline[_ ]exceeded",
				"context (?:deadline|cancell?ed)",
				"(?<![a-z0-9_])(?:read|write|connect|close|pool|network|remoteprotocol|clientpayload|clientconnector|serverdisconnected|incompleteread|chunkedencoding)error(?![a-z0-9_])",
				"timed[_ -]?out",
				"time-?out",
				"i/o error",
				"websocket (?:connection )?(?:is |was |has been )?(?:closed|failed|error|disconnected|reset|dropped|lost)",
				"load failed",
				"超时",
				"(?:网络|连接)[^\\n\\r\\u2028\\u2029\\ud800-\\udfff]{0,6}(?:错误|异常|失败|断开|中断|重置|超时)"
			],
			"why": "the connection failed"
		}
	]
};
