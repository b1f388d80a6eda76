//! `warpsmith debug --dap`: editors on standard input and output, or on a port.

use super::{Options, load};
use crate::input;
use crate::{Failure, Outcome};
use std::io::{Write, stderr};
use std::net::{Shutdown, TcpListener};
use std::path::Path;
use warpsmith::diag::{Diagnostics, Language, Renderer};
use warpsmith::launch::LaunchSpec;
use warpsmith::watch::debug::dap::{Connection, LaunchArguments, Request, Settings};
use warpsmith_harness::session::{Subject, own_launch};

pub fn run(options: &Options) -> Outcome {
    let Some(port) = options.port else {
        converse(options, &mut Connection::new(std::io::stdin(), std::io::stdout()));
        return Ok(());
    };
    // Whoever reaches the port can have kernels executed: it is no other machine.
    let failed = |error: std::io::Error| Failure::Usage(format!("cannot listen on port {port}: {error}"));
    let listener = TcpListener::bind(("127.0.0.1", port)).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    writeln!(stderr(), "listening on {address}")?;
    loop {
        let (stream, _) = listener.accept().map_err(failed)?;
        let input = stream.try_clone().map_err(failed)?;
        let end = stream.try_clone().map_err(failed)?;
        converse(options, &mut Connection::new(input, stream));
        // The thread that reads ends with the stream. An editor that has gone away has closed it.
        end.shutdown(Shutdown::Both).unwrap_or_default();
    }
}

/// One session.
fn converse(options: &Options, connection: &mut Connection) {
    while let Some(request) = connection.handshake() {
        match prepare(options, connection, &request) {
            Ok((subject, launch, settings)) => {
                subject.serve(&launch, connection, &request, settings);
                return;
            }
            // The editor may ask again.
            Err(why) => {
                connection.output("stderr", &format!("{why}\n"));
                connection.refuse(&request, &why);
            }
        }
    }
}

/// What the request asks to debug, with what the command line says where it says nothing.
fn prepare(
    options: &Options,
    connection: &mut Connection,
    request: &Request,
) -> Result<(Subject, LaunchSpec, Settings), String> {
    let arguments = LaunchArguments::read(&request.arguments)?;
    for warning in &arguments.warnings {
        connection.output("important", &format!("{warning}\n"));
    }
    let file = arguments.program.as_deref().or(options.file.as_deref());
    let file = file
        .ok_or("`program` of the launch configuration is missing: the .ptx or .wir file with the kernel")?;
    let source = input::read(file)?;
    let mut launch = match &arguments.launch {
        Some(serde_json::Value::String(path)) => described(input::read(Path::new(path))?.text())?,
        Some(inline) => described(&inline.to_string())?,
        None => match &options.launch {
            Some(path) => described(input::read(path)?.text())?,
            None => own_launch(source.text(), source.language).map_err(|reason| {
                format!("`launch` of the launch configuration is needed for {}: {reason}", source.name())
            })?,
        },
    };
    let schedule = arguments.schedule.as_deref().map(str::parse).transpose();
    launch.schedule = schedule
        .map_err(|why| format!("`schedule` of the launch configuration: {why}"))?
        .or(options.schedule)
        .or(launch.schedule);
    launch.seed = arguments.seed.or(options.seed).or(launch.seed);
    let target = match &arguments.target {
        Some(name) => Some(
            crate::target::parse_target(name)
                .map_err(|why| format!("`target` of the launch configuration: {why}"))?,
        ),
        None => options.target,
    };
    let level = match arguments.level {
        Some(level) => crate::parse_level(&level.to_string())
            .map_err(|why| format!("`optLevel` of the launch configuration: {why}"))?,
        None => options.level,
    };
    let subject = load(&source, &launch, target, level).map_err(|errors| drawn(&errors))?;
    let ptx = matches!(source.language, Language::Ptx).then(|| file.to_owned());
    let folder = file.parent().unwrap_or(Path::new("")).to_owned();
    Ok((subject, launch, Settings { ptx, folder, ..arguments.settings }))
}

fn described(text: &str) -> Result<LaunchSpec, String> {
    LaunchSpec::parse(text).map_err(|errors| {
        let errors: Vec<String> = errors.iter().map(|error| format!("launch description: {error}")).collect();
        errors.join("\n")
    })
}

fn drawn(errors: &Diagnostics) -> String {
    Renderer::plain().diagnostics(errors.source(), errors)
}
