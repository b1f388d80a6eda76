//! `warpsmith debug --dap` as editors start it: on standard input and output, and on a port.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn adapter(arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpsmith"));
    command.args(["debug", "--dap"]).args(arguments).current_dir(root());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the command starts")
}

/// The editor's side of a connection.
struct Editor<R, W> {
    input: BufReader<R>,
    output: W,
    sent: u64,
}

impl<R: Read, W: Write> Editor<R, W> {
    fn new(input: R, output: W) -> Self {
        Editor { input: BufReader::new(input), output, sent: 0 }
    }

    fn read(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.input.read_line(&mut line).expect("the adapter answers") > 0, "the adapter is gone");
            match line.trim_end().split_once(": ") {
                Some(("Content-Length", number)) => length = number.parse().expect("a number"),
                _ => break,
            }
        }
        let mut body = vec![0; length];
        self.input.read_exact(&mut body).expect("as long as it says");
        serde_json::from_slice(&body).expect("JSON")
    }

    /// Sends a request and waits for what answers it.
    fn ask(&mut self, command: &str, arguments: &Value) -> Value {
        self.sent += 1;
        let body = json!({"seq": self.sent, "type": "request", "command": command, "arguments": arguments});
        let body = body.to_string();
        write!(self.output, "Content-Length: {}\r\n\r\n{body}", body.len()).expect("the adapter reads");
        self.output.flush().expect("the adapter reads");
        loop {
            let message = self.read();
            if message["type"] == "response" && message["request_seq"] == self.sent {
                assert_eq!(message["success"], true, "{command}: {message}");
                return message["body"].clone();
            }
        }
    }

    fn event(&mut self, name: &str) -> Value {
        loop {
            let message = self.read();
            if message["type"] == "event" && message["event"] == name {
                return message["body"].clone();
            }
        }
    }

    /// A breakpoint in a kernel, a variable there, and on to the end.
    fn session(&mut self) {
        let capabilities = self.ask("initialize", &json!({"adapterID": "warpsmith"}));
        assert_eq!(capabilities["supportsConfigurationDoneRequest"], true);
        self.ask("launch", &json!({"program": "tests/watch/debug/reduce.ptx"}));
        let at = json!({"source": {"path": "tests/watch/debug/reduce.cu"}, "breakpoints": [{"line": 10}]});
        assert_eq!(self.ask("setBreakpoints", &at)["breakpoints"][0]["verified"], true);
        self.ask("configurationDone", &json!({}));
        let stopped = self.event("stopped");
        assert_eq!(stopped["reason"], "breakpoint");
        let stack = self.ask("stackTrace", &json!({"threadId": stopped["threadId"]}));
        assert_eq!(stack["stackFrames"][0]["line"], 10);
        let value = json!({"expression": "blockDim.x", "frameId": stack["stackFrames"][0]["id"]});
        assert_eq!(self.ask("evaluate", &value)["result"], "64");
        self.ask(
            "setBreakpoints",
            &json!({"source": {"path": "tests/watch/debug/reduce.cu"}, "breakpoints": []}),
        );
        self.ask("continue", &json!({"threadId": 1}));
        assert_eq!(self.event("exited")["exitCode"], 0);
        self.ask("disconnect", &json!({}));
    }
}

#[test]
fn on_standard_input_and_output() {
    let mut adapter = adapter(&[]);
    let (output, input) = (adapter.stdout.take().expect("piped"), adapter.stdin.take().expect("piped"));
    Editor::new(output, input).session();
    assert!(adapter.wait().expect("it ends").success());
}

#[test]
fn on_a_port_one_editor_after_the_other() {
    let mut adapter = adapter(&["--port", "0"]);
    let mut line = String::new();
    let mut said = BufReader::new(adapter.stderr.take().expect("piped"));
    said.read_line(&mut line).expect("it says where it listens");
    let address = line.trim().strip_prefix("listening on ").expect("an address").to_owned();
    for _ in 0..2 {
        let stream = TcpStream::connect(&address).expect("it listens");
        Editor::new(stream.try_clone().expect("a socket"), stream).session();
    }
    adapter.kill().expect("it runs");
    adapter.wait().expect("it ends");
}
