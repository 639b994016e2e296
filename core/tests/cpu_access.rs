//! What a tensor was declared for is what the CPU may do, on every kind of memory, whole or in part.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "what goes wrong here fails a test"
)]

use std::{
    ptr::NonNull,
    sync::{
        Arc, Mutex,
        atomic::{AtomicPtr, Ordering},
    },
};

use tensor_core::{
    CpuAccess, ImageDesc, ImageLayout, Memory, PixelFormat, Region, StrideAlign, TensorDyn,
    memory::{AllocPolicy, MapError, PboError, PboOps, Step},
    transfer::{TransportMode, export, import},
};

const ASKED: [CpuAccess; 3] = [CpuAccess::Read, CpuAccess::Write, CpuAccess::ReadWrite];
const LEN: usize = 64 * 16;

/// A GL side that is none, and remembers in which directions its one buffer was mapped.
#[derive(Debug)]
struct Watched {
    start: AtomicPtr<u8>,
    asked: Mutex<Vec<CpuAccess>>,
}

impl Watched {
    fn new() -> Arc<Self> {
        let bytes: &'static mut [u8; LEN] = Box::leak(Box::new([0; LEN]));
        Arc::new(Self { start: AtomicPtr::new(bytes.as_mut_ptr()), asked: Mutex::default() })
    }

    fn image(self: &Arc<Self>, access: CpuAccess) -> TensorDyn {
        let memory = Memory::pbo(1, LEN, self.clone(), access).unwrap();
        TensorDyn::from_image(layout(), [memory], access).unwrap()
    }

    fn asked(&self) -> Vec<CpuAccess> {
        self.asked.lock().unwrap().clone()
    }
}

// SAFETY: the bytes are `LEN` of the heap, which are never given back and nobody else's.
unsafe impl PboOps for Watched {
    fn map(&self, _: u32, len: usize, access: CpuAccess) -> Result<NonNull<u8>, PboError> {
        assert_eq!(len, LEN);
        self.asked.lock().unwrap().push(access);
        NonNull::new(self.start.load(Ordering::Relaxed)).ok_or(PboError::Disconnected)
    }

    fn unmap(&self, _: u32) -> Result<(), PboError> {
        Ok(())
    }

    fn delete(&self, _: u32) {}
}

fn layout() -> ImageLayout {
    ImageLayout::packed(PixelFormat::Grey, 64, 16, StrideAlign::DMA).unwrap()
}

/// An image declared for `access` in every kind of memory there is.
fn images(access: CpuAccess) -> Vec<TensorDyn> {
    let allocate = |step| match AllocPolicy::from_steps([step]).allocate(LEN, access) {
        Ok(allocation) => {
            Some(TensorDyn::from_image(layout(), [allocation.memory], access).unwrap())
        }
        Err(error) => {
            println!("skipped: {error}");
            None
        }
    };
    let steps = [Step::Heap, Step::Memfd, Step::DmaHeap, Step::Udmabuf];
    let mut images: Vec<_> = steps.into_iter().filter_map(allocate).collect();
    images.push(Watched::new().image(access));
    images
}

// S-CPU-02, S-CPU-03, S-MAP-03: the same refusal on every kind of memory
#[test]
fn exactly_the_declared_directions_map_on_every_kind() {
    for declared in CpuAccess::ALL {
        for image in images(declared) {
            let kind = image.memory();
            for asked in ASKED {
                match image.map(asked) {
                    Ok(_) => assert!(declared.covers(asked), "{kind}: {declared} {asked}"),
                    Err(MapError::AccessDenied { declared: said, requested }) => {
                        assert!(!declared.covers(asked), "{kind}: {declared} {asked}");
                        assert_eq!((said, requested), (declared, asked), "{kind}");
                    }
                    Err(error) => panic!("{kind}: {error}"),
                }
            }
            assert_eq!(image.map_mut().is_ok(), declared == CpuAccess::ReadWrite, "{kind}");
        }
    }
}

// S-CPU-02: refused before the memory is touched
#[test]
fn a_refused_direction_does_not_reach_the_memory() {
    for declared in CpuAccess::ALL {
        let watched = Watched::new();
        let image = watched.image(declared);
        for asked in ASKED.into_iter().filter(|asked| !declared.covers(*asked)) {
            assert!(image.map(asked).is_err());
        }
        assert_eq!(watched.asked(), [], "{declared}");
    }
}

// S-CPU-04, S-CPU-05, S-CPU-06, D-45
#[test]
fn a_part_is_never_mapped_for_writing_alone() {
    for whole in images(CpuAccess::Write) {
        let kind = whole.memory();
        assert_eq!(whole.write_access(), CpuAccess::Write, "{kind}");
        assert!(whole.map_for_write().is_ok() && whole.map_write().is_ok(), "{kind}");
        assert!(whole.map_for_partial_write().is_err(), "{kind}");
        let part = whole.view(Region::new(1, 1, 8, 8)).unwrap();
        assert_eq!(part.write_access(), CpuAccess::ReadWrite, "{kind}");
        for refused in [part.map_write(), part.map_for_write(), part.map_for_partial_write()] {
            let expected = matches!(
                refused,
                Err(MapError::AccessDenied {
                    declared: CpuAccess::Write,
                    requested: CpuAccess::ReadWrite
                })
            );
            assert!(expected, "{kind}: {refused:?}");
        }
    }
    let watched = Watched::new();
    let part = watched.image(CpuAccess::ReadWrite).view(Region::new(1, 1, 8, 8)).unwrap();
    drop(part.map_write().unwrap());
    assert_eq!(watched.asked(), [CpuAccess::ReadWrite], "what is around the part stays");
}

// S-CPU-12, S-CPU-13
#[test]
fn a_pass_that_fills_an_image_maps_it_for_writing_alone() {
    let watched = Watched::new();
    let image = watched.image(CpuAccess::Write);
    image.copy_from_flat(&[7; LEN]).unwrap();
    assert_eq!(watched.asked(), [CpuAccess::Write]);
    let refused = image.copy_to_flat(&mut [0; LEN]);
    assert!(matches!(refused, Err(MapError::AccessDenied { .. })), "{refused:?}");
    assert_eq!(watched.asked(), [CpuAccess::Write]);
}

// S-CPU-08, D-19
#[test]
fn the_declaration_travels_in_a_blob_and_is_never_widened() {
    for declared in CpuAccess::ALL {
        let desc = ImageDesc::new(PixelFormat::Nv12, 64, 16).with_access(declared);
        let frame = TensorDyn::image_desc(&desc.with_policy(AllocPolicy::with_fd())).unwrap();
        let (blob, fds) = export(&frame, TransportMode::Reference).unwrap();
        assert_eq!(import(&blob, &fds).unwrap().access(), declared);
        // What lets the CPU read may travel in the blob, and stays what it was declared for.
        match export(&frame, TransportMode::Inline) {
            Ok((blob, _)) => assert_eq!(import(&blob, &[]).unwrap().access(), declared),
            Err(error) => assert!(!declared.reads(), "{declared}: {error}"),
        }
    }
}
