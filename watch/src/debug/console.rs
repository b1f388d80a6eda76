//! Where commands come from and what they show goes to.

use std::collections::VecDeque;

/// A terminal, or what denotes one.
pub trait Console: Send {
    /// The next command; `None` when there are no more.
    fn read(&mut self, prompt: &str) -> Option<String>;
    /// Shows text.
    fn write(&mut self, text: &str);
    /// The text of a source file or of a script, if it can be read.
    fn file(&mut self, path: &str) -> Option<String>;
    /// True if someone wants the run to stop; until the next command is read. Asked before every instruction.
    fn interrupted(&mut self) -> bool {
        false
    }
}

/// Commands that are known beforehand, and what came of them, as a terminal would show it.
#[derive(Clone, Default, Debug)]
pub struct Script {
    commands: VecDeque<String>,
    files: Vec<(String, String)>,
    output: String,
}

impl Script {
    /// One command in each line.
    pub fn new(commands: &str) -> Script {
        Script { commands: commands.lines().map(str::to_owned).collect(), ..Script::default() }
    }

    /// With a file that can be read.
    pub fn with_file(mut self, path: impl Into<String>, text: impl Into<String>) -> Script {
        self.files.push((path.into(), text.into()));
        self
    }

    /// Prompts, commands, and what they have shown.
    pub fn output(&self) -> &str {
        &self.output
    }
}

impl Console for Script {
    fn read(&mut self, prompt: &str) -> Option<String> {
        let command = self.commands.pop_front()?;
        self.output += prompt;
        self.output += &command;
        self.output.push('\n');
        Some(command)
    }

    fn write(&mut self, text: &str) {
        self.output += text;
    }

    fn file(&mut self, path: &str) -> Option<String> {
        self.files.iter().find(|(name, _)| name == path).map(|(_, text)| text.clone())
    }
}
