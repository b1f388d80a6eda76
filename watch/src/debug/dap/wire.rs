//! Messages between an editor and the adapter: JSON behind a header with its length.

use serde_json::{Map, Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

/// A longer message is refused: nothing that an editor sends is near it.
const LONGEST_MESSAGE: usize = 16 << 20;
/// A longer line of a header is refused.
const LONGEST_HEADER: usize = 4096;

/// What an editor asks for.
#[derive(Clone, Debug)]
pub struct Request {
    /// The number that the answer refers to.
    pub seq: i64,
    /// `setBreakpoints`
    pub command: String,
    /// Its arguments; an empty object where the message has none.
    pub arguments: Value,
}

impl Request {
    /// Reads a message; `None` for a response or event, which no editor is asked for.
    fn read(message: &Value) -> Result<Option<Request>, String> {
        match message.get("type").and_then(Value::as_str) {
            Some("request") => {}
            Some("response" | "event") => return Ok(None),
            _ => return Err("a message has no `type`".into()),
        }
        let command = message.get("command").and_then(Value::as_str).ok_or("a request has no `command`")?;
        let seq = message.get("seq").and_then(Value::as_i64).ok_or("a request has no `seq`")?;
        let arguments = message.get("arguments").filter(|arguments| arguments.is_object());
        let arguments = arguments.cloned().unwrap_or_else(|| Value::Object(Map::new()));
        Ok(Some(Request { seq, command: command.to_owned(), arguments }))
    }
}

/// How many messages have come that were not read.
#[derive(Clone, Default, Debug)]
pub(super) struct Waiting(Arc<AtomicUsize>);

impl Waiting {
    /// True if there are any.
    pub(super) fn any(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }
}

/// The connection to an editor.
pub struct Connection {
    messages: Receiver<Result<Request, String>>,
    waiting: Waiting,
    out: Box<dyn Write + Send>,
    seq: u64,
    /// The editor does not listen any more.
    closed: bool,
    /// What the editor calls the first line.
    first_line: u32,
}

impl Connection {
    /// Reads messages from `input` in a thread of its own, which ends with the input.
    pub fn new(input: impl Read + Send + 'static, output: impl Write + Send + 'static) -> Connection {
        let (sender, messages) = channel();
        let waiting = Waiting::default();
        let count = waiting.clone();
        std::thread::spawn(move || receive(BufReader::new(input), &sender, &count));
        Connection { messages, waiting, out: Box::new(output), seq: 0, closed: false, first_line: 1 }
    }

    /// Lines start at 0 for the editor.
    pub(super) fn count_lines_from_zero(&mut self) {
        self.first_line = 0;
    }

    /// A line or column as the editor counts.
    pub(super) fn line_out(&self, line: u32) -> u32 {
        line.saturating_add(self.first_line).saturating_sub(1)
    }

    /// A line as the debug information counts.
    pub(super) fn line_in(&self, line: u64) -> u32 {
        u32::try_from(line).unwrap_or(u32::MAX).saturating_add(1 - self.first_line)
    }

    /// The signal that messages have come.
    pub(super) fn waiting(&self) -> Waiting {
        self.waiting.clone()
    }

    /// The next request; `None` when the editor has gone away.
    pub fn next_request(&mut self) -> Option<Request> {
        while !self.closed {
            let message = self.messages.recv().ok()?;
            if let Some(request) = self.taken(message) {
                return Some(request);
            }
        }
        None
    }

    /// A request that has come already.
    pub(super) fn pending(&mut self) -> Option<Request> {
        while let Ok(message) = self.messages.try_recv() {
            if let Some(request) = self.taken(message) {
                return Some(request);
            }
        }
        None
    }

    fn taken(&mut self, message: Result<Request, String>) -> Option<Request> {
        self.waiting.0.fetch_sub(1, Ordering::Relaxed);
        match message {
            Ok(request) => Some(request),
            Err(why) => {
                self.output("important", &format!("warpsmith: {why}\n"));
                None
            }
        }
    }

    fn send(&mut self, mut message: Value) {
        self.seq += 1;
        message["seq"] = self.seq.into();
        let text = message.to_string();
        let sent = write!(self.out, "Content-Length: {}\r\n\r\n{text}", text.len());
        self.closed |= sent.and_then(|()| self.out.flush()).is_err();
    }

    /// Signals that something has happened.
    pub fn event(&mut self, name: &str, body: Value) {
        self.send(json!({"seq": 0, "type": "event", "event": name, "body": body}));
    }

    /// Shows text in the editor's console: `console`, `important`, `stdout`, `stderr`.
    pub fn output(&mut self, category: &str, text: &str) {
        if !text.is_empty() {
            self.event("output", json!({"category": category, "output": text}));
        }
    }

    /// Answers a request.
    pub fn respond(&mut self, request: &Request, body: Value) {
        self.send(json!({
            "seq": 0, "type": "response", "request_seq": request.seq, "success": true,
            "command": request.command, "body": body,
        }));
    }

    /// Refuses a request.
    pub fn refuse(&mut self, request: &Request, why: &str) {
        self.send(json!({
            "seq": 0, "type": "response", "request_seq": request.seq, "success": false,
            "command": request.command, "message": why,
            // Braces would be names of variables.
            "body": {"error": {"id": 1, "format": "{why}", "variables": {"why": why}, "showUser": true}},
        }));
    }
}

fn receive(mut input: impl BufRead, sender: &Sender<Result<Request, String>>, waiting: &Waiting) {
    loop {
        let (message, ends) = match read_message(&mut input) {
            Ok(None) => return,
            Ok(Some(text)) => match serde_json::from_slice::<Value>(&text) {
                Ok(message) => match Request::read(&message) {
                    Ok(None) => continue,
                    Ok(Some(request)) => (Ok(request), false),
                    Err(why) => (Err(why), false),
                },
                Err(error) => (Err(format!("a message is not JSON: {error}")), false),
            },
            // Where the next message starts is not known.
            Err(why) => (Err(why), true),
        };
        waiting.0.fetch_add(1, Ordering::Relaxed);
        if sender.send(message).is_err() || ends {
            return;
        }
    }
}

/// The bytes of a message; `None` at the end of the input.
fn read_message(input: &mut impl BufRead) -> Result<Option<Vec<u8>>, String> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        let limit = LONGEST_HEADER as u64;
        match input.by_ref().take(limit).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return Ok(None),
            Ok(LONGEST_HEADER) => return Err("a header line is too long".into()),
            Ok(_) => {}
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim();
        if line.is_empty() {
            match length {
                Some(length) if length <= LONGEST_MESSAGE => {
                    let mut text = vec![0; length];
                    return Ok(input.read_exact(&mut text).is_ok().then_some(text));
                }
                Some(length) => return Err(format!("a message of {length} bytes is too long")),
                None => return Err("a message has no Content-Length".into()),
            }
        }
        let Some((name, value)) = line.split_once(':') else {
            return Err(format!("expected `Content-Length: N`, found {line:?}"));
        };
        if name.eq_ignore_ascii_case("Content-Length") {
            length = Some(value.trim().parse().map_err(|_| format!("{:?} is not a length", value.trim()))?);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Option<Vec<u8>>, String> {
        read_message(&mut text.as_bytes())
    }

    #[test]
    fn messages_are_as_long_as_their_header_says() {
        assert_eq!(read("Content-Length: 2\r\n\r\n{}..").unwrap().unwrap(), b"{}");
        assert_eq!(read("content-length:2\nOther: x\n\n{}").unwrap().unwrap(), b"{}");
        assert_eq!(read("").unwrap(), None);
        assert_eq!(read("Content-Length: 9\r\n\r\n{}").unwrap(), None);
        for wrong in
            ["\r\n", "Content-Length: -1\r\n\r\n", "Content-Length: 99999999999\r\n\r\n", "hello\r\n"]
        {
            read(wrong).unwrap_err();
        }
        read(&"x".repeat(1 << 20)).unwrap_err();
    }

    #[test]
    fn what_is_no_request_is_reported_and_the_next_one_read() {
        let message = |text: &str| format!("Content-Length: {}\r\n\r\n{text}", text.len());
        let input = [
            message("[]"),
            message("{"),
            message(r#"{"type": "response"}"#),
            message(r#"{"type": "request", "seq": 1}"#),
            message(r#"{"type": "request", "seq": 7, "command": "threads"}"#),
        ];
        let mut connection = Connection::new(std::io::Cursor::new(input.concat()), std::io::sink());
        let request = connection.next_request().unwrap();
        assert_eq!((request.seq, request.command.as_str(), request.arguments), (7, "threads", json!({})));
        assert!(connection.next_request().is_none());
    }
}
