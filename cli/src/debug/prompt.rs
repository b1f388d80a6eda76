//! Commands from a terminal, where lines are edited and remembered, or from a pipe.

use std::io::{BufRead, IsTerminal, Write};

pub struct Prompt {
    interactive: bool,
    #[cfg(feature = "terminal")]
    editor: Option<terminal::Editor>,
}

impl Prompt {
    pub fn new() -> Prompt {
        let interactive = std::io::stdin().is_terminal();
        #[cfg(feature = "terminal")]
        let editor = interactive.then(terminal::editor).flatten();
        Prompt {
            interactive,
            #[cfg(feature = "terminal")]
            editor,
        }
    }

    /// The next line; `None` at the end.
    pub fn line(&mut self, prompt: &str) -> Option<String> {
        #[cfg(feature = "terminal")]
        if let Some(editor) = &mut self.editor {
            return terminal::line(editor, prompt);
        }
        if self.interactive {
            let mut out = std::io::stdout().lock();
            // Without a reader the prompt is not missed.
            out.write_all(prompt.as_bytes()).and_then(|()| out.flush()).unwrap_or_default();
        }
        let mut line = String::new();
        match std::io::stdin().lock().read_line(&mut line) {
            Ok(1..) => Some(line),
            _ => None,
        }
    }

    /// True after Ctrl-C, until the next prompt.
    pub fn interrupted(&mut self) -> bool {
        #[cfg(feature = "terminal")]
        if self.editor.is_some() {
            return terminal::interrupted();
        }
        false
    }
}

#[cfg(feature = "terminal")]
mod terminal {
    use rustyline::Config;
    use rustyline::error::ReadlineError;
    use rustyline::history::MemHistory;
    use std::sync::atomic::{AtomicBool, Ordering};

    pub type Editor = rustyline::Editor<(), MemHistory>;

    /// Ctrl-C was pressed while the kernel ran; at the prompt it is the editor's.
    static INTERRUPTED: AtomicBool = AtomicBool::new(false);

    /// `None` where the terminal cannot be had: then lines are read as they come.
    pub fn editor() -> Option<Editor> {
        let editor = Editor::with_history(Config::default(), MemHistory::new()).ok()?;
        // Without the handler Ctrl-C ends the program, as it does elsewhere.
        ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::Relaxed)).unwrap_or_default();
        Some(editor)
    }

    pub fn line(editor: &mut Editor, prompt: &str) -> Option<String> {
        INTERRUPTED.store(false, Ordering::Relaxed);
        loop {
            match editor.readline(prompt) {
                Ok(line) => {
                    // A line that is not remembered is still executed.
                    editor.add_history_entry(&line).unwrap_or_default();
                    return Some(line);
                }
                Err(ReadlineError::Interrupted) => println!("Quit"),
                Err(_) => return None,
            }
        }
    }

    pub fn interrupted() -> bool {
        INTERRUPTED.load(Ordering::Relaxed)
    }
}
