//! Processor time, which other programs on the machine disturb less than the clock on the wall.

use std::path::PathBuf;
use std::time::Duration;

/// The least that `clock` counts over one run, of several.
pub fn best(runs: u32, clock: fn() -> Duration, mut run: impl FnMut()) -> Duration {
    let mut time = || {
        let start = clock();
        run();
        clock() - start
    };
    (0..runs.max(1)).map(|_| time()).min().unwrap_or_default()
}

/// The processor time of this process, user and system.
pub fn own() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The clock on the wall.
pub fn wall() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The processor time of the children that have ended, in ticks of 10 ms.
pub fn children() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: u64 =
        fields.skip(13).take(2).map(|word| word.parse::<u64>().expect("a number of ticks")).sum();
    Duration::from_millis(10 * ticks)
}

/// A temporary folder, removed at the end.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Folder {
        let path = std::env::temp_dir().join(format!("warpsmith-speed-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the temporary folder is writable");
        Folder(path)
    }

    /// A module of nothing, for what starting LLVM takes.
    pub fn empty(&self) -> PathBuf {
        let path = self.file("empty.ll");
        std::fs::write(&path, "target triple = \"nvptx64-nvidia-cuda\"\n").expect("a temporary file");
        path
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A leftover in the temporary folder does no harm.
        std::fs::remove_dir_all(&self.0).unwrap_or_default();
    }
}
