//! What tests of numba-cuda link with: forms of one source, which nvcc makes.

use super::{Clients, succeed};
use crate::in_root;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// The source, by the name that the tests look for.
const SOURCE: &str = "test_device_functions";

/// Forms: the end of the file's name, and how nvcc is asked for it.
const FORMS: &[(&str, &[&str])] = &[
    (".ptx", &["-rdc=true", "-arch=sm_90", "-ptx"]),
    (".cubin", &["-rdc=true", "-arch=sm_90", "-cubin"]),
    (".fatbin", &["-rdc=true", "-arch=sm_90", "-fatbin"]),
    (
        "_multi.fatbin",
        &[
            "-rdc=true",
            "-gencode=arch=compute_80,code=sm_80",
            "-gencode=arch=compute_90,code=sm_90",
            "-fatbin",
        ],
    ),
    (".o", &["-arch=sm_90", "-dc"]),
    (".a", &["-rdc=true", "-arch=sm_90", "-lib"]),
    (".ltoir", &["-arch=lto_90", "-dc"]),
];

/// A folder with all forms.
pub fn folder(clients: &Clients) -> Result<PathBuf, String> {
    let folder = in_root("target/clients/binaries");
    fs::create_dir_all(&folder).map_err(|e| format!("cannot create {}: {e}", folder.display()))?;
    let from = in_root("cuda/tests/clients").join(format!("{SOURCE}.cu"));
    let source = folder.join(format!("{SOURCE}.cu"));
    fs::copy(&from, &source).map_err(|e| format!("cannot copy {}: {e}", from.display()))?;
    let nvcc = clients.toolkit()?.join("bin/nvcc");
    for (end, asked) in FORMS {
        let made = folder.join(format!("{SOURCE}{end}"));
        if !made.exists() {
            succeed(Command::new(&nvcc).args(*asked).arg(&source).arg("-o").arg(&made))?;
        }
    }
    Ok(folder)
}
