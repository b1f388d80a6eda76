//! The commands: their names, abbreviations and help, and which function does which.

use super::{Debugger, Flow};
use warpsmith_interp::observe::{Resume, View};

/// Scripts read scripts no deeper than this.
const MOST_SCRIPTS: usize = 16;

/// Name, arguments, help. The shortest abbreviations are those of [`SHORT`]; any unambiguous start of a name will do.
const COMMANDS: &[(&str, &str, &str)] = &[
    ("advance", "PLACE", "Go on to a place"),
    ("awatch", "EXPRESSION", "Stop when memory is read or written"),
    ("backtrace", "[full] [N | -N]", "The calls that the thread is in; `full`: with their variables"),
    (
        "break",
        "[PLACE] [if CONDITION]",
        "Stop at a line of the PTX, FILE:LINE of the source, a function or a label",
    ),
    ("call", "[/FORMAT] EXPRESSION", "Print a value, or change one: call x = 5"),
    ("clear", "[PLACE]", "Delete the breakpoints at a place"),
    ("complete", "TEXT", "The ways in which a command can go on"),
    ("condition", "N [CONDITION]", "Give a breakpoint a condition, or none"),
    ("continue", "[N]", "Go on, past N-1 more stops at this breakpoint"),
    ("cuda", "[block (X,Y,Z)] [thread (X,Y,Z)] [warp N] [lane N]", "Show or change the thread in focus"),
    ("delete", "[display] [N..]", "Delete breakpoints and watchpoints, or displays"),
    ("disable", "[display] [N..]", "Disable breakpoints and watchpoints, or displays"),
    ("disassemble", "[PLACE]", "The PTX of a function"),
    ("display", "[/FORMAT] EXPRESSION", "Show a value whenever the kernel stops"),
    ("down", "[N]", "Select the frame that this one has called"),
    ("echo", "TEXT", "Print text; \\n is a new line"),
    ("enable", "[display] [N..]", "Enable breakpoints and watchpoints, or displays"),
    ("finish", "", "Go on until the selected frame returns"),
    ("frame", "[N]", "Show or select a frame"),
    ("help", "[COMMAND]", "What commands there are"),
    ("ignore", "N COUNT", "Pass a breakpoint so many times"),
    ("info", "TOPIC", "What there is: registers, locals, threads, warps, blocks, ..."),
    ("kill", "", "End the run"),
    ("lanes", "[/FORMAT] EXPRESSION", "A value in all lanes of the warp in focus"),
    ("list", "[LINE | A,B | PLACE]", "Show the source, or the PTX where there is none"),
    ("next", "[N]", "Go on to another line of this function"),
    ("nexti", "[N]", "Execute an instruction, calls as one"),
    ("output", "[/FORMAT] EXPRESSION", "Print a value and nothing else"),
    ("print", "[/FORMAT] EXPRESSION", "Print a value; formats are x d u o t c a f s z"),
    ("printf", "\"FORMAT\", EXPRESSION, ..", "Print values as C's printf does"),
    ("ptype", "EXPRESSION | TYPE", "The type of a value, with its members"),
    ("quit", "", "End the session"),
    ("run", "", "Start the kernel"),
    ("rwatch", "EXPRESSION", "Stop when memory is read"),
    ("set", "var X = EXPRESSION", "Change a register, a variable or memory"),
    ("source", "FILE", "Read commands from a file"),
    ("step", "[N]", "Go on to another line, into calls"),
    ("stepi", "[N]", "Execute an instruction"),
    ("tbreak", "[PLACE] [if CONDITION]", "Stop at a place once"),
    ("thread", "[(X,Y,Z)]", "Show or change the thread in focus"),
    ("undisplay", "[N..]", "Show values no longer"),
    ("until", "[PLACE]", "Go on to a line further down, or to a place"),
    ("up", "[N]", "Select the frame that has called this one"),
    ("watch", "EXPRESSION", "Stop when memory or a register changes"),
    ("whatis", "EXPRESSION", "The type of a value"),
    (
        "x",
        "[/NFU] ADDRESS",
        "Show memory: @shared 16, &tile, %rd3; N units of b h w g in a format, i for instructions",
    ),
];

/// What gdb's users type.
const SHORT: &[(&str, &str)] = &[
    ("b", "break"),
    ("br", "break"),
    ("bt", "backtrace"),
    ("c", "continue"),
    ("cont", "continue"),
    ("d", "delete"),
    ("dis", "disable"),
    ("disas", "disassemble"),
    ("f", "frame"),
    ("fin", "finish"),
    ("h", "help"),
    ("hb", "break"),
    ("hbreak", "break"),
    ("i", "info"),
    ("inf", "info"),
    ("inspect", "print"),
    ("k", "kill"),
    ("l", "list"),
    ("n", "next"),
    ("ni", "nexti"),
    ("p", "print"),
    ("q", "quit"),
    ("r", "run"),
    ("s", "step"),
    ("si", "stepi"),
    ("start", "start"),
    ("tb", "tbreak"),
    ("thbreak", "tbreak"),
    ("th", "thread"),
    ("u", "until"),
    ("where", "backtrace"),
    ("wa", "watch"),
    ("exit", "quit"),
];

/// The names of commands that start so.
pub(super) fn names(start: &str) -> Vec<&'static str> {
    COMMANDS.iter().map(|(name, ..)| *name).filter(|name| name.starts_with(start)).collect()
}

fn find(word: &str) -> Result<&'static str, String> {
    if let Some((_, name)) = SHORT.iter().find(|(short, _)| *short == word) {
        return Ok(name);
    }
    let names = || COMMANDS.iter().map(|(name, ..)| *name);
    if let Some(name) = names().find(|name| *name == word) {
        return Ok(name);
    }
    let starts: Vec<&str> = names().filter(|name| name.starts_with(word)).collect();
    match starts.as_slice() {
        [one] => Ok(one),
        [] => {
            let near = warpsmith_diag::nearest(word, names());
            let hint = near.map_or_else(String::new, |near| format!("  Did you mean \"{near}\"?"));
            Err(format!("Undefined command: \"{word}\".  Try \"help\".{hint}"))
        }
        many => Err(format!("Ambiguous command \"{word}\": {}.", many.join(", "))),
    }
}

impl Debugger<'_> {
    /// Does a command.
    pub(super) fn command(&mut self, line: &str, view: Option<&mut View<'_>>) -> Result<Flow, String> {
        let line = line.trim();
        let line = line.split_once(" # ").map_or(line, |(command, _)| command.trim_end());
        if line.is_empty() || line.starts_with('#') {
            return Ok(Flow::Stay);
        }
        let end =
            line.find(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_').unwrap_or(line.len());
        let (word, args) = line.split_at(end);
        if word.is_empty() {
            return Err(format!("Undefined command: \"{line}\".  Try \"help\"."));
        }
        let name = find(word)?;
        let args = args.trim();
        match name {
            "help" => self.help(args),
            "quit" => Ok(Flow::Quit),
            "run" | "start" => {
                if name == "start" {
                    let first = self.symbols.program.kernels().next().map(str::to_owned);
                    self.break_at(&first.unwrap_or_default(), true, None)?;
                }
                Ok(Flow::Run)
            }
            "kill" => match view {
                Some(_) => {
                    self.say("[Kernel killed]\n");
                    Ok(Flow::Resume(Resume::End))
                }
                None => Err("The program is not being run.".into()),
            },
            "echo" => {
                let text = args.replace("\\n", "\n").replace("\\t", "\t").replace("\\ ", " ");
                self.say(text.strip_suffix('\\').unwrap_or(&text));
                Ok(Flow::Stay)
            }
            "source" => self.source(args),
            "break" => self.break_at(args, false, view),
            "tbreak" => self.break_at(args, true, view),
            "clear" => self.clear(args, view),
            "condition" | "ignore" => self.change_point(name, args, view),
            "delete" | "enable" | "disable" => {
                match args.split_once(char::is_whitespace).unwrap_or((args, "")) {
                    ("display", numbers) => self.each_display(name, numbers.trim()),
                    _ => self.each_point(name, args),
                }
            }
            "watch" | "rwatch" | "awatch" => self.watch(name, args, view),
            "continue" => self.proceed(args, view),
            "step" | "next" | "stepi" | "nexti" | "until" => self.step(name, args, view),
            "advance" => self.advance(args, view),
            "finish" => self.finish(view),
            "print" | "call" => self.print(args, false, view),
            "printf" => self.printf(args, view),
            "display" => self.display(args, view),
            "undisplay" => self.undisplay(args),
            "output" => self.output(args, view),
            "lanes" => self.lanes(args, view),
            "ptype" | "whatis" => self.type_of(args, name == "ptype", view),
            "complete" => {
                let found = self.completions(args, view);
                self.say(&found.iter().map(|one| format!("{one}\n")).collect::<String>());
                Ok(Flow::Stay)
            }
            "set" => self.set(args, view),
            "x" => self.examine(args, view),
            "info" => self.info(args, view),
            "cuda" => self.cuda(args, view),
            "thread" => self.thread(args, view),
            "backtrace" => self.backtrace(args, view),
            "frame" | "up" | "down" => self.select(name, args, view),
            "list" => self.list(args, view),
            "disassemble" => self.disassemble(args, view),
            other => Err(format!("Undefined command: \"{other}\".  Try \"help\".")),
        }
    }

    fn source(&mut self, path: &str) -> Result<Flow, String> {
        if self.scripts.len() >= MOST_SCRIPTS {
            return Err(format!("{path}: scripts are nested too deep."));
        }
        let Some(text) = self.console.file(path) else {
            return Err(format!("{path}: No such file or directory."));
        };
        self.scripts.push(text.lines().rev().map(str::to_owned).collect());
        Ok(Flow::Stay)
    }

    fn help(&mut self, args: &str) -> Result<Flow, String> {
        let mut text = String::new();
        if args.is_empty() {
            for (name, args, what) in COMMANDS {
                putln!(text, "{:<44} {what}.", format!("{name} {args}"));
            }
        } else {
            let name = find(args.split_whitespace().next().unwrap_or_default())?;
            if let Some((name, args, what)) = COMMANDS.iter().find(|(n, ..)| *n == name) {
                let short: Vec<&str> = SHORT.iter().filter(|(_, n)| n == name).map(|(s, _)| *s).collect();
                let short =
                    if short.is_empty() { String::new() } else { format!("Also: {}\n", short.join(", ")) };
                text = format!("{what}.\nUsage: {name} {args}\n{short}");
            }
        }
        self.say(&text);
        Ok(Flow::Stay)
    }
}
