//! Masking, with keys, tokens, ids and paths of the usual shapes, none of them real.

use pi_retry_forced::audit::mask;
use proptest::prelude::*;

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
        "token limit exceeded: 200000 tokens per minute, key expired, invalid api key provided",
        "prompt is too long: max token 128000, token 30k, key 4096 of the password policy",
        "Unexpected token '<', \"<html>\" is not valid JSON; unknown key 'top_p'; Unexpected token u in JSON",
        "{\"error\":{\"code\":\"invalid_api_key\",\"type\":\"invalid_token\",\"param\":\"token\",\"message\":\"no\"}}",
        "{\"password\":null,\"token\":\"\",\"api_key\":\"required\"}; password: Field required",
        "basic authentication failed at 12:34:56, then 2026-01-02T12:34:56.789Z",
        "std::a1 a::b abc::de c1::d2 std::fmt::Error and ::1 and [::1]:80, 127.0.0.1, 0.0.0.0, localhost:11434",
        "claude-sonnet-4@20250514 and pi-ai@1.6.0 and gemini@default",
        "config.local.json and this.internal_error and api.example.com and db.corp.example.com",
        "limit 30 +1 200, 1 000 000 tokens",
        "502 {\"error\":{\"message\":\"Upstream returned 401: invalid x-api-key (no such account)\"}}",
        "POST /v1/messages/count_tokens and GET /v1/tokens/count, /keys/current, api.openai.com, bedrock-runtime.us-east-1.amazonaws.com",
    ] {
        assert_eq!(mask(text), text);
    }
}

/// Text, and what must not be left of it.
fn hidden(rows: &[(&str, &[&str])]) {
    for (text, secrets) in rows {
        let masked = mask(text);
        for secret in *secrets {
            assert!(text.contains(secret), "{secret} is not in {text}");
            assert!(!masked.contains(secret), "{secret} is left of {text}\n{masked}");
        }
        assert_eq!(mask(&masked), masked);
    }
}

#[test]
fn authorization_of_every_scheme_is_hidden() {
    hidden(&[
        ("Authorization: Basic dXNlcjpwYXNz", &["dXNlcjpwYXNz"]),
        ("authorization: basic YTpi", &["YTpi"]),
        (r#"{"authorization":"Basic dXNlcjpwYXNz"}"#, &["dXNlcjpwYXNz"]),
        (r#"{\"authorization\":\"Basic dXNlcjpwYXNz\"}"#, &["dXNlcjpwYXNz"]),
        (r#"{"Authorization": ["Bearer abc", "Basic YTpi"]}"#, &["abc", "YTpi"]),
        ("headers: [('authorization', 'Custom abc'), ('x-api-key', 'def'), ('token', 'ghi')]", &["abc", "def", "ghi"]),
        ("Proxy-Authorization: Negotiate abc", &["abc"]),
        ("Authorization: Bearer \"ab\" was refused", &["ab\""]),
        ("Authorization: Made-Up qwe", &["qwe"]),
        ("Authorization=qwe", &["qwe"]),
        ("sent basic dXNlcjpwYXNz to it", &["dXNlcjpwYXNz"]),
        (
            "Authorization: AWS4-HMAC-SHA256 Credential=AKI/2026/s3, SignedHeaders=host;range, Signature=fe5f",
            &["AKI", "fe5f"],
        ),
        (
            "Authorization: Digest username=\"Muf asa\", response=\"ab cd\", opaque=\"xy\"",
            &["Muf", "asa", "ab cd", "xy"],
        ),
        ("the Signature=abcdefg differs", &["abcdefg"]),
    ]);
    assert_eq!(mask(r#"{"authorization":"Basic YTpi","code":1}"#), r#"{"authorization":"Basic [token]","code":1}"#);
    assert_eq!(mask("{authorization: Bearer ab, code: 529}"), "{authorization: Bearer [token], code: 529}");
}

#[test]
fn values_go_to_their_closing_quote_or_separator() {
    hidden(&[
        (r#"{"password": "hun ter2"}"#, &["hun", "ter2"]),
        (r#"{"password": "hun \"ter2\" x"}"#, &["hun", "ter2"]),
        (r#"{\"password\": \"hun ter2\", \"a\": 1}"#, &["hun", "ter2"]),
        (r#"{\\\"password\\\": \\\"hun ter2\\\"}"#, &["hun", "ter2"]),
        ("{ password: 'hun ter' }", &["hun", "ter"]),
        ("'db_password' => 'hun ter'", &["hun", "ter"]),
        (r#""secret":["hun ter","two ]"]"#, &["hun", "two"]),
        (r#""password":"cut off he"#, &["cut", "off"]),
        ("passphrase: correct horse", &["correct", "horse"]),
        ("passphrase = correct horse; x", &["correct", "horse"]),
        ("dbPassword: it's (me)", &["it's", "me"]),
        ("pass: a b c", &["a b"]),
        ("password, token: abc1", &["abc1"]),
        ("api key：abc1", &["abc1"]),
        ("password: [secret] hunter", &["hunter"]),
    ]);
    let cause = r#"{"password": "[secret]","message":"Overloaded"}"#;
    assert_eq!(mask(r#"{"password": "hun ter2","message":"Overloaded"}"#), cause);
    assert_eq!(mask("passphrase: correct horse, then 529"), "passphrase: [secret], then 529");
    assert_eq!(
        mask(r#"{"error":"bad passphrase: one two","code":529}"#),
        r#"{"error":"bad passphrase: [secret]","code":529}"#
    );
}

#[test]
fn cookies_are_hidden_whole() {
    hidden(&[
        ("Cookie: a=bc; sid=de, f; theme=dark\nnext", &["bc", "de", "dark"]),
        ("Set-Cookie: sid=de; Path=/; Expires=Wed, 21 Oct", &["de;", "Wed", "Oct"]),
        (r#"{"set-cookie":["sid=uv; Path=/","x=yz"],"code":529}"#, &["uv", "yz"]),
        (r#"{"cookie":"a=\"b c\"; d=ef","code":529}"#, &["b c", "ef"]),
    ]);
    assert_eq!(mask("Cookie: a=b; c=d\nretry after 5"), "Cookie: [secret]\nretry after 5");
}

#[test]
fn what_follows_a_name_without_a_separator_is_hidden() {
    hidden(&[
        ("wrong password hunter2 for it", &["hunter2"]),
        ("passwd hunter2", &["hunter2"]),
        ("bad token hunter2.", &["hunter2"]),
        ("key hunter2", &["hunter2"]),
        ("invalid token 'hunter2'", &["hunter2"]),
        ("invalid token 'hunter'", &["hunter"]),
        ("secret \"two words\" is wrong", &["two words"]),
        ("the api key (hunter2) is wrong", &["hunter2"]),
        ("password is hunter2", &["hunter2"]),
        ("password 12345678", &["12345678"]),
    ]);
}

#[test]
fn headers_hide_values_of_any_length() {
    hidden(&[
        ("X-Goog-Api-Key: abc", &["abc"]),
        ("x-api-key=abc", &["abc"]),
        ("OPENAI_API_KEY=abc", &["abc"]),
        ("x-amz-security-token: abc", &["abc"]),
        ("openaiApiKey: abc", &["abc"]),
        ("client_secret=a(b", &["a(b"]),
        ("token=abc", &["abc"]),
    ]);
}

#[test]
fn keys_of_providers_are_hidden_whole() {
    for prefix in [
        "tgp_v1_",
        "tok_live_",
        "SG.",
        "pk_live_",
        "rk_",
        "whsec_",
        "hf_",
        "gsk_",
        "xai-",
        "r8_",
        "nvapi-",
        "sk_",
        "pplx-",
        "acme_test_",
    ] {
        for tail in ["abcd.efgh", "ab_cd.ef-gh", "abcdefgh.ijkl-mnop_qr"] {
            assert_eq!(mask(&format!("with {prefix}{tail} it")), "with [key] it");
        }
    }
    assert_eq!(mask("with SG.abc.def it"), "with [key] it");
    assert_eq!(mask("密钥sk-abcdef无效"), "密钥[key]无效");
    assert_eq!(mask("ssh-rsa AAAAB3+/a= x"), "[key] x");
    assert_eq!(mask("ssh-ed25519 AAAAC3Nz"), "[key]");
    for kind in ["CERTIFICATE", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY", "PUBLIC KEY"] {
        assert_eq!(mask(&format!("a -----BEGIN {kind}-----\\nabc\\nd-----END {kind}----- b")), "a [key] b");
        assert_eq!(mask(&format!("a -----BEGIN {kind}-----\nabc")), "a [key]");
    }
}

#[test]
fn addresses_of_machines_are_hidden() {
    for (text, masked) in [
        ("to 2001:4860:4860::8888: refused", "to [ip]: refused"),
        ("to [2a02:1234::1]:443", "to [[ip]]:443"),
        ("fe80::1%eth0 is down", "[ip] is down"),
        ("2001:db8:1:2:3:4:5:6", "[ip]"),
        ("::ffff:10.0.0.5", "[ip]"),
        ("10.0.0.5:80 and 192.168.1.77", "[ip]:80 and [ip]"),
        (
            "at git.acme.corp:22, x.internal. and nas.local/a, PC.LAN, a.b.intranet",
            "at [host]:22, [host]. and [host]/a, [host], [host]",
        ),
        ("john.doe@corp said", "[email] said"),
        ("bob@10.0.0.5", "[email]"),
        ("call +49 (30) 1234-5678 now", "call [phone] now"),
    ] {
        assert_eq!(mask(text), masked);
    }
}

#[test]
fn masking_twice_is_masking_once() {
    for (secret, around) in secrets() {
        let once = mask(&around.replacen('@', &secret, 1));
        assert_eq!(mask(&once), once);
    }
}

/// Pieces whose meaning depends on what stands next to them.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "password",
        "token",
        "key",
        "Authorization",
        "Cookie",
        "x-api-key",
        "Basic",
        "Bearer",
        "signature",
        "[secret]",
        "[token]",
        "[x]",
        "hunter2",
        "sk-",
        "tok_live_",
        "a1b2c3d4e5f6",
        "10.0.0.5",
        "2001:db8::1",
        "::",
        "bob",
        "@",
        ".corp",
        ".",
        "/home/",
        "C:\\",
        "https://",
        ":",
        "=",
        ": ",
        "=>",
        " ",
        "  ",
        ",",
        ";",
        "\"",
        "'",
        "`",
        "\\",
        "\\\"",
        "[",
        "]",
        "{",
        "}",
        "(",
        ")",
        "\n",
        "&",
        "?a=",
        "%",
        "+49 ",
        "12345678",
        "é",
        "钥",
        "-----BEGIN KEY-----",
        "-----END KEY-----",
        "ssh-rsa AAAA",
        "req_",
        "request id",
        "is",
        "eyJ",
        "_",
        "-",
        "~",
    ]);
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 4000, ..ProptestConfig::default() })]

    #[test]
    fn masking_of_anything_is_done_in_one_call(text in pieces()) {
        let once = mask(&text);
        prop_assert_eq!(mask(&once), once);
    }
}

/// Endless repeats of what could be read over and over: this ends soon only if each part is read a bounded number of times.
#[test]
fn long_texts_are_masked() {
    for piece in [
        "password: \"a",
        "token '",
        "Authorization: a=\"",
        "key=[",
        "\\\"",
        "-----BEGIN KEY-----",
        "a@",
        "a:",
        "cookie: [secret]",
        "a.",
    ] {
        let text = piece.repeat((1 << 20) / piece.len());
        assert!(mask(&text).len() <= 2 * text.len(), "{piece}");
    }
}

/// A secret of each kind with the frames that tell it, `@` for its place. Ordinary letters, so that only the frame gives it away.
fn told_by_frames() -> Vec<(&'static str, Vec<&'static str>)> {
    vec![
        (
            "hunter2secret",
            vec![
                "login --password @ --model x",
                "run --api-key @",
                "relay --token=@ --port 1",
                "curl -u admin:@ https://relay.test/v1",
                "curl --user 'admin:@' https://relay.test/v1",
                "<password>@</password>",
                "<apiKey type=\"x\">@</apiKey>",
                "<ns:Secret>@</ns:Secret>",
                "sessionid=@; path=/",
                "JSESSIONID=@",
                "PHPSESSID: @",
                "令牌: @",
                "密码：@",
                "密钥=@",
                "口令「@」",
                "Passwort: @",
                "Kennwort ist @",
                "contraseña: @",
                "пароль: @",
                "mot de passe : @",
                "senha: @",
                "パスワード: @",
                "비밀번호: @",
                "wachtwoord: @",
                "şifre: @",
                "https://user%40corp:@@relay.test/v1",
                "redirect=https%3A%2F%2Fbob%3A@%40relay.test%2Fv1",
                "GET https://relay.test/key/@/v1/messages",
                "POST https://relay.test/v1/token/@/chat",
                "https://api.telegram.test/bot123456:@/sendMessage",
                "https://hooks.slack.com/services/T000/B000/@",
            ],
        ),
        (
            "contoso-gpt",
            vec![
                "https://@.openai.azure.com/openai/deployments/x",
                "getaddrinfo ENOTFOUND @.services.ai.azure.com",
                "https://@.cloud.databricks.com/serving-endpoints",
                "https://@.ngrok-free.app/v1",
                "proxied by @.trycloudflare.com",
            ],
        ),
        (
            "Jane Doe",
            vec![
                "ENOENT: /Users/@/secret project/plan.md is gone",
                "open /home/@/x.txt failed",
                r"open C:\Users\@\My Files\x.txt failed",
                "read ~/@/notes.md",
            ],
        ),
    ]
}

#[test]
fn a_secret_that_only_its_frame_tells_is_hidden() {
    for (secret, frames) in told_by_frames() {
        for frame in frames {
            let text = frame.replacen(
                if frame.contains("@@") { "@@" } else { "@" },
                &if frame.contains("@@") { format!("{secret}@") } else { secret.to_owned() },
                1,
            );
            let masked = mask(&text);
            for part in secret.split(' ') {
                assert!(!masked.contains(part), "{part} is left of {text}\n{masked}");
            }
        }
    }
    // A key that the screen broke in two.
    for broken in ["sk-proj-Ab12Cd34Ef56\n  Gh78Ij90Kl12 is wrong", "api_key: Ab12Cd34Ef56\n    Gh78Ij90Kl12"] {
        let masked = mask(broken);
        assert!(!masked.contains("Gh78") && !masked.contains("Ab12"), "{masked}");
    }
    // The rest of a path goes with the folder.
    assert!(!mask("ENOENT: /Users/Jane Doe/secret project/plan.md is gone").contains("project"));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Any secret of letters and digits in any frame, with any text before and after it.
    #[test]
    fn no_frame_lets_a_secret_through(secret in "[a-z]{3}[0-9]{2}[a-zA-Z0-9]{4,12}", pick in any::<prop::sample::Index>(),
                                      before in "[A-Za-z .,]{0,12}", after in "[A-Za-z .,]{0,12}") {
        let (_, frames) = &told_by_frames()[0];
        let frame = frames[pick.index(frames.len())];
        let value = if frame.contains("@@") { format!("{secret}@") } else { secret.clone() };
        let text = format!("{before} {} {after}", frame.replacen(if frame.contains("@@") { "@@" } else { "@" }, &value, 1));
        prop_assert!(!mask(&text).contains(&secret), "{}\n{}", text, mask(&text));
    }
}
