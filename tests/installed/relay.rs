//! A relay on 127.0.0.1 that refuses some requests as relays do, then answers, and counts.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// More requests than any test sends.
const LIMIT: usize = 100;

pub(crate) struct Relay {
    pub(crate) port: u16,
    asked: Arc<AtomicUsize>,
}

impl Relay {
    /// Refuses the first `refusals` requests of each run of the counter.
    pub(crate) fn start(refusals: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("its address").port();
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        thread::spawn(move || {
            for stream in listener.incoming().take(LIMIT).flatten() {
                let _ = serve(stream, &count, refusals);
            }
        });
        Relay { port, asked }
    }

    /// How many requests came since it was asked last.
    pub(crate) fn count(&self) -> usize {
        self.asked.swap(0, Ordering::SeqCst)
    }
}

fn serve(stream: TcpStream, asked: &AtomicUsize, refusals: usize) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    let mut first = String::new();
    reader.read_line(&mut first)?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let mut stream = reader.into_inner();
    if !first.starts_with("POST ") {
        return write!(stream, "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    }
    let (status, kind, body) = if asked.fetch_add(1, Ordering::SeqCst) < refusals {
        let body = r#"{"error":{"message":"This request is not supported. (request id: 20261129120000123456789AbCdEfGh)","type":"upstream_error","param":"","code":null}}"#;
        ("400 Bad Request", "application/json", body.to_owned())
    } else {
        ("200 OK", "text/event-stream", answer())
    };
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}

/// The word "curable", as an Anthropic endpoint streams it.
fn answer() -> String {
    [
        r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":10,"output_tokens":1}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"curable"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}"#,
        r#"{"type":"message_stop"}"#,
    ]
    .iter()
    .map(|event| {
        let kind = event[9..].split('"').next().expect("a type");
        format!("event: {kind}\ndata: {event}\n\n")
    })
    .collect()
}
