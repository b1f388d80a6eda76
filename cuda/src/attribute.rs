//! Attributes of devices: the numbers of `CUdevice_attribute`, and what each is of a profile.

use crate::api::texture::PITCH_ALIGNMENT;
use crate::profile::Profile;
use warpsmith::isa::limits;

type Of = fn(&Profile) -> u64;

/// Sizes that all devices since sm_75 have (CUDA C++ Programming Guide, technical specifications by compute capability; textures and surfaces).
const FIXED: &[(u32, u64)] = &[
    (1, limits::BLOCK_THREADS as u64), // MAX_THREADS_PER_BLOCK
    (2, limits::BLOCK[0] as u64),
    (3, limits::BLOCK[1] as u64),
    (4, limits::BLOCK[2] as u64),
    (5, limits::GRID[0] as u64),
    (6, limits::GRID[1] as u64),
    (7, limits::GRID[2] as u64),
    (8, limits::STATIC_SHARED_BYTES),  // MAX_SHARED_MEMORY_PER_BLOCK
    (9, limits::CONST_BYTES),          // TOTAL_CONSTANT_MEMORY
    (10, limits::WARP_THREADS as u64), // WARP_SIZE
    (11, i32::MAX as u64),             // MAX_PITCH
    (12, limits::MULTIPROCESSOR_REGISTERS as u64), // MAX_REGISTERS_PER_BLOCK
    (14, 512),                         // TEXTURE_ALIGNMENT
    (15, 1),                           // GPU_OVERLAP
    (17, 0),                           // KERNEL_EXEC_TIMEOUT
    (18, 0),                           // INTEGRATED
    (19, 1),                           // CAN_MAP_HOST_MEMORY
    (20, 0),                           // COMPUTE_MODE: default
    (21, 131_072),                     // MAXIMUM_TEXTURE1D_WIDTH
    (22, 131_072),
    (23, 65_536),
    (24, 16_384),
    (25, 16_384),
    (26, 16_384),
    (27, 32_768), // MAXIMUM_TEXTURE2D_LAYERED_WIDTH
    (28, 32_768),
    (29, 2048),
    (30, 512), // SURFACE_ALIGNMENT
    (31, 1),   // CONCURRENT_KERNELS
    (32, 0),   // ECC_ENABLED
    (34, 0),   // PCI_DEVICE_ID
    (35, 0),   // TCC_DRIVER
    (40, 3),   // ASYNC_ENGINE_COUNT
    (41, 1),   // UNIFIED_ADDRESSING
    (42, 32_768),
    (43, 2048),
    (44, 1), // CAN_TEX2D_GATHER
    (45, 32_768),
    (46, 32_768),
    (47, 8192),
    (48, 8192),
    (49, 32_768),
    (50, 0),                      // PCI_DOMAIN_ID
    (51, PITCH_ALIGNMENT as u64), // TEXTURE_PITCH_ALIGNMENT
    (52, 32_768),
    (53, 32_768),
    (54, 2046),
    (55, 32_768), // MAXIMUM_SURFACE1D_WIDTH
    (56, 131_072),
    (57, 65_536),
    (58, 16_384),
    (59, 16_384),
    (60, 16_384),
    (61, 32_768),
    (62, 2048),
    (63, 32_768),
    (64, 32_768),
    (65, 2048),
    (66, 32_768),
    (67, 32_768),
    (68, 2046),
    (69, 268_435_456), // MAXIMUM_TEXTURE1D_LINEAR_WIDTH
    (70, 131_072),
    (71, 65_000),
    (72, 2_097_120),
    (73, 32_768),
    (74, 32_768),
    (77, 32_768),
    (78, 1),                                       // STREAM_PRIORITIES_SUPPORTED
    (79, 1),                                       // GLOBAL_L1_CACHE_SUPPORTED
    (80, 1),                                       // LOCAL_L1_CACHE_SUPPORTED
    (82, limits::MULTIPROCESSOR_REGISTERS as u64), // MAX_REGISTERS_PER_MULTIPROCESSOR
    (83, 1),                                       // MANAGED_MEMORY
    (84, 0),                                       // MULTI_GPU_BOARD
    (86, 1),                                       // HOST_NATIVE_ATOMIC_SUPPORTED
    (87, 2),                                       // SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO
    (88, 0),                                       // PAGEABLE_MEMORY_ACCESS
    (89, 1),                                       // CONCURRENT_MANAGED_ACCESS
    (90, 1),                                       // COMPUTE_PREEMPTION_SUPPORTED
    (91, 1),                                       // CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM
    (92, 1),
    (93, 1),
    (94, 1),
    (95, 1),  // COOPERATIVE_LAUNCH
    (96, 0),  // COOPERATIVE_MULTI_DEVICE_LAUNCH
    (98, 1),  // CAN_FLUSH_REMOTE_WRITES
    (99, 1),  // HOST_REGISTER_SUPPORTED
    (100, 0), // PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES
    (101, 1), // DIRECT_MANAGED_MEM_ACCESS_FROM_HOST
    (102, 1), // VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED
    (103, 1), // HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED
    (104, 0),
    (105, 0),
    (107, 0),
    (108, 0),
    (109, 0),
    (110, 0),
    (111, limits::RESERVED_SHARED_BYTES), // RESERVED_SHARED_MEMORY_PER_BLOCK
    (112, 0),
    (113, 1), // READ_ONLY_HOST_REGISTER_SUPPORTED
    (114, 0),
    (115, 1), // MEMORY_POOLS_SUPPORTED
    (116, 0),
    (117, 0),
    (118, 0),
    (119, 0), // MEMPOOL_SUPPORTED_HANDLE_TYPES
    (121, 0),
    (122, 1),
    (123, 1),
    (124, 0),
    (125, 0), // IPC_EVENT_SUPPORTED
    (128, 0),
    (129, 0),
    (130, 0),
    (131, 0),
    (132, 0),
    (133, 0),
    (134, u32::MAX as u64), // HOST_NUMA_ID: none
    (135, 0),
    (136, 0),
    (137, 0),
    (138, 0),
    (139, 0),
    (140, 0),
    (141, 0),
    (142, 0),
    (143, 0),
    (144, 0),
    (145, 0),
    (146, 0),
    (147, 0),
];

/// Those that depend on the device.
const OF_PROFILE: &[(u32, Of)] = &[
    (13, |p| u64::from(p.clock_mhz) * 1000),            // CLOCK_RATE
    (16, |p| p.sms.into()),                             // MULTIPROCESSOR_COUNT
    (36, |p| u64::from(p.bus[1]) * 1000),               // MEMORY_CLOCK_RATE
    (37, |p| p.bus[0].into()),                          // GLOBAL_MEMORY_BUS_WIDTH
    (38, |p| p.l2.into()),                              // L2_CACHE_SIZE
    (39, |p| p.sm.threads.into()),                      // MAX_THREADS_PER_MULTIPROCESSOR
    (75, |p| p.capability()[0].into()),                 // COMPUTE_CAPABILITY_MAJOR
    (76, |p| p.capability()[1].into()),                 // COMPUTE_CAPABILITY_MINOR
    (81, |p| p.sm.shared_bytes.into()),                 // MAX_SHARED_MEMORY_PER_MULTIPROCESSOR
    (97, |p| p.sm.block_shared_bytes.into()),           // MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
    (106, |p| p.sm.blocks.into()),                      // MAX_BLOCKS_PER_MULTIPROCESSOR
    (120, |p| p.sm.has_clusters().into()),              // CLUSTER_LAUNCH
    (126, |p| if p.sm.has_clusters() { 4 } else { 1 }), // MEM_SYNC_DOMAIN_COUNT
    (127, |p| p.sm.has_clusters().into()),              // TENSOR_MAP_ACCESS_SUPPORTED
];

/// `PCI_BUS_ID`, `MULTI_GPU_BOARD_GROUP_ID`: the number of the device.
const NUMBER: [u32; 2] = [33, 85];

/// An attribute of a device; `None` if there is none of that number.
pub fn of_device(number: u32, profile: &Profile, device: usize) -> Option<i32> {
    if NUMBER.contains(&number) {
        return i32::try_from(device).ok().map(|device| if number == 33 { device + 1 } else { device });
    }
    let fixed = FIXED.iter().find(|(known, _)| *known == number).map(|(_, value)| *value);
    let value =
        fixed.or_else(|| OF_PROFILE.iter().find(|(known, _)| *known == number).map(|(_, of)| of(profile)))?;
    Some(value as u32 as i32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpsmith::Target;

    #[test]
    fn every_attribute_of_cuda_13_has_one_value() {
        let profile = Profile::of(Target::sm(90)).unwrap();
        let named: Vec<u32> =
            FIXED.iter().map(|(n, _)| *n).chain(OF_PROFILE.iter().map(|(n, _)| *n)).chain(NUMBER).collect();
        for number in 1..=147 {
            let times = named.iter().filter(|n| **n == number).count();
            // 3.. are consecutive; nothing has number 0.
            assert_eq!(times, 1, "attribute {number}");
            assert!(of_device(number, &profile, 0).is_some());
        }
        assert_eq!((of_device(0, &profile, 0), of_device(148, &profile, 0)), (None, None));
        assert_eq!((of_device(75, &profile, 0), of_device(97, &profile, 0)), (Some(9), Some(232_448)));
    }
}
