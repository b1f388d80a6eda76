fn main() -> Result<(), warpsmith_build::Error> {
    let mut build = warpsmith_build::Build::new().target("sm_80").kernel_crate("../kernels");
    if std::env::var_os("CARGO_FEATURE_BUILD_STD").is_some() {
        build = build.build_std(&["core"]);
    }
    build.compile("kernels").map(drop)
}
