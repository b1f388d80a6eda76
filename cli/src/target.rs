//! Names that users give to targets.

use std::str::FromStr;
use target_lexicon::{Architecture, Triple};
use warpsmith::{DEFAULT_TARGET, Target};

/// Reads `sm_90`, `sm_90a`, `compute_90`, or a triple such as `nvptx64-nvidia-cuda`, which means [`DEFAULT_TARGET`].
pub fn parse_target(name: &str) -> Result<Target, String> {
    let sm = name.strip_prefix("compute_").map_or_else(|| name.to_owned(), |rest| format!("sm_{rest}"));
    if let Ok(target) = sm.parse() {
        return Ok(target);
    }
    if let Some(digits) = sm.strip_prefix("sm_") {
        let number = digits.trim_end_matches(['a', 'f']).parse().unwrap_or(0);
        let mut near: Vec<Target> = Target::all().collect();
        near.sort_by_key(|target| target.sm.abs_diff(number));
        near.truncate(3);
        let near: Vec<String> = near.iter().map(Target::to_string).collect();
        return Err(format!(
            "`{name}` is not a target; the nearest are {} (`warpsmith targets` lists all)",
            near.join(", ")
        ));
    }
    match Triple::from_str(name).map(|triple| triple.architecture) {
        Ok(Architecture::Nvptx64) => Ok(DEFAULT_TARGET),
        Ok(Architecture::Unknown) | Err(_) => Err(format!(
            "`{name}` is neither a target such as sm_90a nor a triple such as nvptx64-nvidia-cuda"
        )),
        Ok(other) => Err(format!("`{name}` is for {other}; only nvptx64 is a target of this compiler")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_targets() {
        assert_eq!(parse_target("sm_90a").unwrap().to_string(), "sm_90a");
        assert_eq!(parse_target("compute_80"), Ok(Target::sm(80)));
        assert_eq!(parse_target("nvptx64-nvidia-cuda"), Ok(DEFAULT_TARGET));
        let message = |name| parse_target(name).unwrap_err();
        assert!(message("sm_91").contains("sm_90"), "{}", message("sm_91"));
        assert!(message("x86_64-unknown-linux-gnu").contains("x86_64"));
        assert!(message("nvptx-nvidia-cuda").contains("nvptx"), "{}", message("nvptx-nvidia-cuda"));
        for name in ["", "sm_", "sm_999999999999", "\u{1F600}"] {
            message(name);
        }
    }
}
