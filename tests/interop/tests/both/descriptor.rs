//! Descriptors, within one process.

use ours::transfer::{descriptor, import_descriptor};

use super::*;

/// Our struct as theirs: the same bytes under another name.
fn as_theirs(desc: &ours::TensorDesc) -> theirs::TensorDesc {
    const { assert!(size_of::<ours::TensorDesc>() == size_of::<theirs::TensorDesc>()) };
    const { assert!(align_of::<ours::TensorDesc>() == align_of::<theirs::TensorDesc>()) };
    // SAFETY: both are `repr(C)` structs of integers and one pointer, of one size.
    unsafe { std::mem::transmute_copy(desc) }
}

fn as_ours(desc: &theirs::TensorDesc) -> ours::TensorDesc {
    // SAFETY: as above.
    unsafe { std::mem::transmute_copy(desc) }
}

#[test]
fn ours_is_read_by_them() {
    for (format, their_format) in FORMATS {
        for kind in [ours::TensorMemory::Mem, ours::TensorMemory::Shm] {
            let tensor = our_image(format, (64, 48), kind);
            let desc = descriptor(&tensor).expect("describes");
            let there = theirs::TensorDyn::import_descriptor(&as_theirs(&desc)).expect("imports");
            assert_eq!(there.format(), Some(their_format));
            assert_eq!((there.width(), there.height()), (Some(64), Some(48)), "{format}");
            let (seen, written) = (their_bytes(&there), our_bytes(&tensor));
            assert_eq!(seen[..written.len()], written, "{format} {kind}");
        }
    }
}

#[test]
fn theirs_is_read_by_us() {
    for (format, their_format) in FORMATS {
        let tensor = their_image(their_format, (64, 48));
        let pin = tensor.pin_host(theirs::CpuAccess::Read).expect("pins");
        let desc = as_ours(&tensor.descriptor_pinned(Some(&pin)));
        // SAFETY: the tensor and its pin outlive the memory, and nobody writes.
        let memory = unsafe { ours::Memory::described(&desc) }.expect("names memory");
        let here = import_descriptor(&desc, memory).expect("imports");
        assert_eq!(
            (here.format(), here.width(), here.height()),
            (Some(format), Some(64), Some(48))
        );
        let seen = our_bytes(&here);
        assert_eq!(seen, their_bytes(&tensor)[..seen.len()], "{format}");
    }
}
