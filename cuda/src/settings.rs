//! What the user asks for in environment variables; `docs/cuda.md` lists them.

use crate::error::{Code, Error};
use crate::profile::Profile;
use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;
use warpsmith::Target;
use warpsmith::watch::Selection;

/// The device of programs that ask for none.
const DEFAULT_DEVICE: Target = Target::sm(90);
/// The most devices there can be.
const MOST_DEVICES: usize = 64;

/// Everything that can be set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// `WARPSMITH_DEVICES`, those that `CUDA_VISIBLE_DEVICES` leaves.
    pub devices: Vec<Profile>,
    /// `WARPSMITH_CHECK`
    pub check: Selection,
    /// `WARPSMITH_COVERAGE`: the folder for it.
    pub coverage: Option<PathBuf>,
    /// `WARPSMITH_PROFILE`: the folder for it.
    pub profile: Option<PathBuf>,
    /// `WARPSMITH_REPORT`: the folder for findings, faults and refused modules.
    pub report: Option<PathBuf>,
    /// `WARPSMITH_STREAMS=async`
    pub asynchronous: bool,
    /// `WARPSMITH_ERRORS=sticky`
    pub sticky: bool,
    /// `WARPSMITH_STEPS`: what a launch may execute.
    pub steps: Option<u64>,
    /// `WARPSMITH_WORKERS`: host threads of a launch.
    pub workers: Option<usize>,
}

fn wrong(name: &str, value: &str, expected: &str) -> Error {
    Error::new(Code::INVALID_VALUE, format!("{name}={value}: expected {expected}"))
}

fn variable<T>(name: &str, parse: impl FnOnce(&str) -> Result<T, Error>) -> Result<Option<T>, Error> {
    match std::env::var_os(name) {
        None => Ok(None),
        Some(value) if value.is_empty() => Ok(None),
        Some(value) => match value.to_str() {
            Some(text) => parse(text).map(Some),
            None => Err(wrong(name, &value.to_string_lossy(), "UTF-8")),
        },
    }
}

fn number<T: FromStr>(name: &str) -> Result<Option<T>, Error> {
    variable(name, |text| text.parse().map_err(|_| wrong(name, text, "a number")))
}

fn word(name: &str, meaning: &str, other: &str) -> Result<bool, Error> {
    let choice = variable(name, |text| match text {
        _ if text == meaning => Ok(true),
        _ if text == other => Ok(false),
        _ => Err(wrong(name, text, &format!("`{meaning}` or `{other}`"))),
    })?;
    Ok(choice.unwrap_or(false))
}

/// `sm_90`, `2xsm_90`, `4`, or several with commas.
fn devices(text: &str) -> Result<Vec<Profile>, Error> {
    let expected = "targets with commas between, as `sm_90` or `2xsm_80`, or how many";
    let mut devices = Vec::new();
    for part in text.split(',').map(str::trim) {
        let (count, target) = match part.split_once('x') {
            _ if part.parse::<usize>().is_ok() => (part, ""),
            Some((count, target)) => (count, target),
            None => ("1", part),
        };
        let count = count.parse::<usize>().ok().filter(|count| *count <= MOST_DEVICES);
        let count = count.ok_or_else(|| wrong("WARPSMITH_DEVICES", text, expected))?;
        let target = if target.is_empty() { Ok(DEFAULT_DEVICE) } else { target.parse() };
        let target = target.map_err(|_| wrong("WARPSMITH_DEVICES", text, expected))?;
        devices.extend(vec![Profile::of(target)?; count]);
    }
    Ok(devices)
}

/// The devices that `CUDA_VISIBLE_DEVICES` names, in its order, up to the first that there is not.
fn visible(devices: &[Profile], list: Option<OsString>) -> Vec<Profile> {
    let Some(list) = list else { return devices.to_vec() };
    let list = list.to_string_lossy().into_owned();
    let chosen = list.split(',').map(|word| word.trim().parse::<usize>().ok().and_then(|i| devices.get(i)));
    chosen.take_while(Option::is_some).flatten().cloned().collect()
}

/// A number of bytes: `2G`, `512M`, `4096`.
fn bytes(text: &str) -> Option<u64> {
    let (digits, shift) = match text.trim().strip_suffix(['K', 'M', 'G']) {
        Some(digits) if text.ends_with('K') => (digits, 10),
        Some(digits) if text.ends_with('M') => (digits, 20),
        Some(digits) => (digits, 30),
        None => (text.trim(), 0),
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift).filter(|bytes| *bytes > 0)
}

/// Half of the host's memory: what devices pretend to have must be there when a program fills it.
fn half_of_host() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes << 9)
}

impl Settings {
    /// What the environment says.
    pub fn from_environment() -> Result<Settings, Error> {
        let mut all = match variable("WARPSMITH_DEVICES", devices)? {
            Some(all) => all,
            None => vec![Profile::of(DEFAULT_DEVICE)?],
        };
        let folder = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let check = variable("WARPSMITH_CHECK", |text| {
            text.parse().map_err(|expected: String| wrong("WARPSMITH_CHECK", text, &expected))
        })?;
        let memory = variable("WARPSMITH_MEMORY", |text| {
            bytes(text).ok_or_else(|| wrong("WARPSMITH_MEMORY", text, "bytes, as `8G` or `512M`"))
        })?;
        let most = half_of_host().unwrap_or(4 << 30) / all.len().max(1) as u64;
        for device in &mut all {
            device.memory = memory.unwrap_or(device.memory.min(most));
        }
        Ok(Settings {
            devices: visible(&all, std::env::var_os("CUDA_VISIBLE_DEVICES")),
            check: check.unwrap_or(Selection::empty()),
            coverage: folder("WARPSMITH_COVERAGE"),
            profile: folder("WARPSMITH_PROFILE"),
            report: folder("WARPSMITH_REPORT"),
            asynchronous: word("WARPSMITH_STREAMS", "async", "direct")?,
            sticky: word("WARPSMITH_ERRORS", "sticky", "once")?,
            steps: number("WARPSMITH_STEPS")?,
            workers: number("WARPSMITH_WORKERS")?,
        })
    }

    /// True if launches are watched.
    pub fn watches(&self) -> bool {
        self.check != Selection::empty() || self.coverage.is_some() || self.profile.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!([bytes("4096"), bytes("3K"), bytes(" 2G")], [Some(4096), Some(3072), Some(2 << 30)]);
        assert!(["", "G", "0", "1T", "-1", "99999999999G"].into_iter().all(|wrong| bytes(wrong).is_none()));
    }

    #[test]
    fn devices_are_named_and_counted() {
        let names = |text: &str| -> Vec<String> {
            devices(text).unwrap().iter().map(|device| device.target.to_string()).collect()
        };
        assert_eq!(names("2"), ["sm_90", "sm_90"]);
        assert_eq!(names("sm_80, 2xsm_120"), ["sm_80", "sm_120", "sm_120"]);
        for wrong in ["sm_12", "x", "999", "-1", "sm_90;sm_80", "99999999999999999999"] {
            assert!(devices(wrong).is_err(), "{wrong}");
        }
        let two = devices("sm_80,sm_90").unwrap();
        let seen = |list: &str| visible(&two, Some(list.into())).len();
        assert_eq!(
            (seen("1,0"), seen("-1"), seen(""), seen("1,7,0"), visible(&two, None).len()),
            (2, 0, 0, 1, 2)
        );
    }
}
