//! Functions that are the driver's but for their names, and those that are not there: made by the build of `data/forward.tsv` and `data/names.txt`.
#![allow(non_snake_case)]

use crate::driver::Slot;
use crate::error::call;
use crate::{context, register};

include!(concat!(env!("OUT_DIR"), "/forward.rs"));
include!(concat!(env!("OUT_DIR"), "/missing.rs"));
