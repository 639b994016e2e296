//! Every format of the table, its planes in every number of memories and at unequal steps.

use super::*;

const SIZE: (usize, usize) = (34, 18);

/// Every way to deal `planes` planes out to memories, numbered as planes first name them.
fn deals(planes: usize) -> Vec<Vec<usize>> {
    (0..planes).fold(vec![Vec::new()], |deals, _| {
        let more = |deal: Vec<usize>| {
            let next = deal.iter().max().map_or(0, |last| last + 1);
            (0..=next).map(move |memory| [deal.as_slice(), &[memory]].concat())
        };
        deals.into_iter().flat_map(more).collect()
    })
}

/// Planes with gaps that differ between them, rows with padding that differs between planes; the
/// last plane of a memory lies first in it.
fn uneven(format: PixelFormat, deal: &[usize]) -> ImageLayout {
    let (width, height) = SIZE;
    let mut ends = [0; MAX_PLANES];
    let mut planes: Vec<PlanePlacement> = Vec::new();
    for (plane, memory) in deal.iter().enumerate().rev() {
        let row = format.planes()[plane];
        let stride = row.row_bytes(width).unwrap() + 8 * (plane + 1);
        let offset = ends[*memory] + 16 * (plane + 1);
        ends[*memory] = offset + stride * row.rows(height);
        planes.insert(0, place(*memory, offset, stride));
    }
    ImageLayout::from_planes(format, width, height, &planes).unwrap()
}

fn tensor(layout: &ImageLayout) -> TensorDyn {
    let memories = (0..layout.memories()).map(|memory| shm(layout.required_len(memory)));
    TensorDyn::from_image(layout.clone(), memories, CpuAccess::ReadWrite).unwrap()
}

fn numbered(len: usize) -> Vec<u8> {
    (0..len).map(|n| (n % 251) as u8).collect()
}

/// The samples as a reader of rows finds them.
fn rows_of(tensor: &TensorDyn) -> Vec<u8> {
    let map = tensor.map_read().unwrap();
    map.planes().flat_map(|plane| plane.rows().collect::<Vec<_>>()).flatten().copied().collect()
}

#[test]
fn planes_are_dealt_in_every_way_once() {
    assert_eq!(deals(2), [[0, 0], [0, 1]]);
    assert_eq!((deals(3).len(), deals(4).len()), (5, 15));
}

// S-MP-01, S-MP-02, S-MP-03, D-40, D-41
#[test]
fn every_plane_of_every_format_is_copied_and_mapped_wherever_it_lies() {
    for format in PixelFormat::ALL.iter().copied() {
        for deal in deals(format.planes().len()) {
            let layout = uneven(format, &deal);
            let frame = tensor(&layout);
            assert_eq!(frame.is_multiplane(), layout.memories() > 1, "{format} {deal:?}");
            assert_eq!((frame.width(), frame.height()), (Some(SIZE.0), Some(SIZE.1)));
            let flat = numbered(frame.flat_len());
            frame.copy_from_flat(&flat).unwrap();
            let mut back = vec![0; flat.len()];
            frame.copy_to_flat(&mut back).unwrap();
            assert!(back == flat, "{format} {deal:?}");
            assert!(rows_of(&frame) == flat, "{format} {deal:?}: rows");
        }
    }
}

// S-MP-02, S-VIEW-07, D-35
#[test]
fn a_view_of_planes_in_several_memories_is_that_of_planes_in_one() {
    let region = Region::new(4, 2, 20, 12);
    for format in PixelFormat::ALL.iter().copied() {
        let mut expected = None;
        for deal in deals(format.planes().len()) {
            let frame = tensor(&uneven(format, &deal));
            frame.copy_from_flat(&numbered(frame.flat_len())).unwrap();
            let view = frame.view(region).unwrap();
            let mut flat = vec![0; view.flat_len()];
            view.copy_to_flat(&mut flat).unwrap();
            assert!(rows_of(&view) == flat, "{format} {deal:?}");
            assert!(*expected.get_or_insert_with(|| flat.clone()) == flat, "{format} {deal:?}");
        }
    }
}

/// A step of the channel axis is one number. Planes without one have no strides, and say so.
#[test]
fn strides_are_told_only_where_they_are_true() {
    for format in PixelFormat::ALL.iter().copied() {
        let counts_planes = format.layout() == crate::format::PixelLayout::Planar;
        for deal in deals(format.planes().len()) {
            let frame = tensor(&uneven(format, &deal));
            let refused = matches!(frame.strides(), Err(LayoutError::PlaneStep { .. }));
            assert_eq!(refused, counts_planes, "{format} {deal:?}");
        }
        let (width, height) = SIZE;
        let even = ImageLayout::packed(format, width, height, StrideAlign::DMA).unwrap();
        assert_eq!(tensor(&even).strides(), even.strides());
        assert!(even.strides().is_ok(), "{format}");
    }
}

// S-MP-05, D-56
#[test]
fn each_plane_is_checked_against_its_own_stride_and_memory() {
    for format in PixelFormat::ALL.iter().copied() {
        let planes = format.planes().len();
        let layout = uneven(format, &(0..planes).collect::<Vec<_>>());
        for short in 0..planes {
            let len = |memory| layout.required_len(memory) - usize::from(memory == short);
            let memories = (0..planes).map(|memory| shm(len(memory)));
            let refused = TensorDyn::from_image(layout.clone(), memories, CpuAccess::Read);
            let is_told = |error: &TensorError| {
                matches!(error, TensorError::TooSmall { plane, memory, .. }
                    if *plane == short && *memory == short)
            };
            assert!(refused.as_ref().is_err_and(is_told), "{format} {short}: {refused:?}");
            let mut narrow = layout.planes().to_vec();
            narrow[short].stride = layout.row_bytes(short) - 1;
            let refused = ImageLayout::from_planes(format, SIZE.0, SIZE.1, &narrow);
            assert!(
                matches!(refused, Err(LayoutError::Stride { plane, .. }) if plane == short),
                "{format} {short}: {refused:?}"
            );
        }
    }
    let planes = [place(0, 0, 64), place(1, 0, 64)];
    let layout = ImageLayout::from_planes(PixelFormat::Nv12, 64, 36, &planes).unwrap();
    let write = shm(64 * 36);
    let read = Memory::import(write.fd().unwrap(), CpuAccess::Read).unwrap();
    let frame = TensorDyn::from_image(layout, [write, read], CpuAccess::ReadWrite).unwrap();
    assert_eq!(frame.access(), CpuAccess::Read, "what every plane allows");
}

// S-MP-01, S-MP-03: descriptors of one file, each a duplicate, are one memory
#[test]
fn descriptors_make_the_memories_that_the_files_behind_them_are() {
    for format in PixelFormat::ALL.iter().copied() {
        for deal in deals(format.planes().len()) {
            let layout = uneven(format, &deal);
            let own = tensor(&layout);
            let describe = |place: &PlanePlacement| {
                let fd = own.memories()[place.memory].fd().unwrap();
                PlaneDescriptor::new(fd, place.offset, place.stride).unwrap()
            };
            let planes: Vec<_> = layout.planes().iter().map(describe).collect();
            let access = CpuAccess::ReadWrite;
            let frame = TensorDyn::from_planes(format, SIZE.0, SIZE.1, &planes, access).unwrap();
            assert_eq!(frame.image_layout(), Some(&layout), "{deal:?}");
            own.copy_from_flat(&numbered(own.flat_len())).unwrap();
            assert!(rows_of(&frame) == numbered(own.flat_len()), "{format} {deal:?}");
        }
    }
    let file = shm(4096);
    let plane = |offset| PlaneDescriptor::new(file.fd().unwrap(), offset, 64).unwrap();
    let overlapping = [plane(0), plane(64 * 35)];
    let refused = TensorDyn::from_planes(PixelFormat::Nv12, 64, 36, &overlapping, CpuAccess::Read);
    assert!(matches!(refused, Err(TensorError::Layout(LayoutError::Overlap { .. }))));
    let five = [0, 1, 2, 3, 4].map(|n| plane(n * 64));
    let refused = TensorDyn::from_planes(PixelFormat::Nv12, 64, 36, &five, CpuAccess::Read);
    assert!(matches!(refused, Err(TensorError::Layout(LayoutError::PlaneCount { .. }))));
}

// S-MP-04, D-41
#[test]
fn planes_in_several_memories_take_no_other_format() {
    for format in PixelFormat::ALL.iter().copied() {
        for deal in deals(format.planes().len()) {
            let frame = tensor(&uneven(format, &deal));
            if frame.is_multiplane() {
                assert!(frame.with_format(PixelFormat::Grey).is_err(), "{format} {deal:?}");
                assert!(frame.configure_image(PixelFormat::Grey, 8, 8).is_err(), "{format}");
                assert!(frame.reshape(frame.shape()).is_err(), "{format} {deal:?}");
            }
        }
    }
}
