//! Masking, with keys, tokens, ids and paths of the usual shapes, none of them real.

use pi_retry_forced::audit::mask;

/// Each secret, put together here so that no scanner takes this file for a leak, with what stands around it.
fn secrets() -> Vec<(String, &'static str)> {
    let long = "Zx9Kq2Lm8Vt4Rb7Yc1Nd5Wf3Gh6Jp0Sa";
    let hex = "9f86d081884c7d659a2feaa0c55ad015";
    let jwt = format!("eyJ{}.eyJ{}.{}", "hbGciOiJIUzI1NiJ9", "zdWIiOiIxMjM0NTYifQ", "dozjgNryP4J3jVmN_HgX-rS9Lw");
    let rows: Vec<(String, &'static str)> = vec![
        (format!("sk-{long}"), "Incorrect API key provided: @. You can find"),
        (format!("sk-ant-api03-{long}-{long}AA"), "401 {\"error\":{\"message\":\"invalid x-api-key @\"}}"),
        (format!("sk-proj-{long}_{long}"), "key: @"),
        (format!("sk-or-v1-{hex}{hex}"), "used @ on openrouter"),
        ("sk-proj-abc***************wxyz".into(), "Incorrect API key provided: @."),
        ("sk-abcd".into(), "the key (@) is wrong"),
        (format!("key-{}", &hex[..16]), "with @ as key"),
        (format!("ghp_{long}"), "remote: @"),
        (format!("gho_{long}"), "\"@\""),
        (format!("github_pat_11ABC_{long}"), "using @ failed"),
        (format!("AIza{}", &long[..31]), "API key not valid: @"),
        (format!("AIza{}", &long[..31]), "POST https://host.test/v1beta/models/g:stream?alt=sse&key=@ failed"),
        ("AKIAIOSFODNN7EXAMPLE".into(), "access key @ is not"),
        ("ASIAIOSFODNN7EXAMPLE".into(), "Credential=@/20260101/us-east-1"),
        (format!("xoxb-123456789012-{}", &long[..20]), "slack @ said"),
        (format!("xoxp-1234-{}", &long[..20]), "slack @ said"),
        (format!("gsk_{long}"), "groq @"),
        (format!("hf_{long}"), "hugging @"),
        (format!("xai-{long}"), "grok @"),
        (format!("glpat-{}", &long[..20]), "lab @"),
        (format!("ABSK{long}="), "bedrock @"),
        (format!("ya29.{long}"), "oauth @"),
        (long.into(), "Authorization: Bearer @"),
        ("shorty".into(), "authorization=bearer @, then"),
        (format!("{}==", &long[..22]), "Authorization: Basic @"),
        (jwt.clone(), "token @ expired"),
        (jwt, "cookie: session=@; Path=/"),
        (long.into(), "{\"api_key\":\"@\"}"),
        (long.into(), r#"{\"apiKey\":\"@\"}"#),
        ("abc123".into(), "api-key=@ in"),
        ("hunter".into(), "password=@ in"),
        ("correct-horse".into(), r#"\"password\": \"@\""#),
        (long.into(), "x-api-key: @"),
        (long.into(), "random @ run"),
        (hex.into(), "digest @ run"),
        (hex.to_uppercase(), "digest @ run"),
        (format!("{long}+/{long}=="), "base64 @ run"),
        ("bob.smith+test@mail.example.co.uk".into(), "account @ is"),
        ("/home/bob/work/plan.md".into(), "ENOENT: no such file, open '@'"),
        ("/Users/bob".into(), "cwd @"),
        ("/Users/bob/Library/x y".split(' ').next().unwrap_or_default().into(), "at @:12:3"),
        (r"C:\Users\bob\work\plan.md".into(), "open '@'"),
        (r"C:\\Users\\bob\\work".into(), "{\"path\":\"@\"}"),
        (r"C:\Users\Bob Smith\work".into(), "open '@'"),
        (r"D:\Private Things\bob\x".into(), "open '@'"),
        ("/Users/bob/Private Things/x".into(), "ENOENT: no such file or directory, open '@'"),
        ("%2Fhome%2Fbobby%2Fx".into(), "GET /v1?nothing failed: @"),
        (format!("token {long}"), "Authorization: @"),
        (format!("sk_live_{}", &long[..24]), "stripe @"),
        ("c:/Users/bob/work".into(), "open @"),
        ("/var/folders/zz/T/pi".into(), "wrote @"),
        ("~/projects/hush".into(), "in @"),
        ("file:///Users/bob/x.ts".into(), "at @:1"),
        ("--home-bob-work--".into(), "sessions/@/x"),
        ("bob:hunter".into(), "connect to https://@@proxy.test:8080/v1 failed"),
        ("s3cr3t".into(), "GET https://host.test/v1?sig=@&x=1"),
        ("202609200642064230172036881z6t0tSTZ0h97".into(), "not supported. (request id: @)"),
        ("20260920064206423017203".into(), "失败 (request id: @)"),
        ("req_011CXyZabcDEF".into(), "\"request_id\":\"@\""),
        ("6ad9548c-5dfc-3418-b1d2-0a1b2c3d4e5f".into(), "RequestID: @, ThrottlingException"),
        ("org-AbC123dEf456".into(), "Rate limit reached in organization @ on tokens"),
        ("arn:aws:bedrock:us-east-1:123456789012:inference-profile/x".into(), "on resource: @ because"),
        ("123456789012".into(), "project number @ has"),
        ("203.0.113.77".into(), "from @ denied"),
        (format!("-----BEGIN RSA PRIVATE KEY-----\n{long}\n-----END RSA PRIVATE KEY-----"), "key @ end"),
    ];
    rows
}

#[test]
fn no_secret_of_a_usual_shape_is_shown() {
    for (secret, around) in secrets() {
        // The first @ is the place of the secret.
        let text = around.replacen('@', &secret, 1);
        let masked = mask(&text);
        let parts: Vec<&str> =
            secret.split(['\n', '@', '\\', '/']).filter(|part| part.len() >= 5 && !is_frame(part)).collect();
        assert!(!masked.contains(&secret), "{text}\n{masked}");
        for part in parts {
            assert!(!masked.contains(part), "{part} is left of {text}\n{masked}");
        }
    }
}

/// Parts of a secret that are no secret.
fn is_frame(part: &str) -> bool {
    part.starts_with("-----") || ["Users", "home", "file:", "work", "plan.md"].contains(&part)
}

#[test]
fn what_tells_the_cause_stays() {
    for text in [
        "400 {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"This request is not supported.\"}}",
        "messages.1.content.0.thinking.signature: Field required",
        "529 {\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}",
        "Rate limit reached for claude-sonnet-4-5-20250929 on tokens per min: limit 30,000, used 29,500. Retry in 55s",
        "Connection error.: read ECONNRESET 127.0.0.1:8317",
        "google-vertex API error (503): Service Unavailable",
        "Unknown parameter: 'max_completion_tokens'",
        "connect ECONNREFUSED https://api.example.com/v1/messages",
        "litellm.BadRequestError: AnthropicException - no key",
        "bedrock: us.anthropic.claude-opus-4-1-20250805-v1:0 is not available",
        "HTTP 524 from upstream_stream_read_error after 100000 ms",
    ] {
        assert_eq!(mask(text), text);
    }
}

#[test]
fn masking_twice_is_masking_once() {
    for (secret, around) in secrets() {
        let once = mask(&around.replacen('@', &secret, 1));
        assert_eq!(mask(&once), once);
    }
}
