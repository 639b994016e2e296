use super::*;
use crate::{
    layout::{PlanePlacement, StrideAlign},
    memory::{AllocPolicy, MapError},
    shape::Region,
};

fn place(memory: usize, offset: usize, stride: usize) -> PlanePlacement {
    PlanePlacement { memory, offset, stride }
}

fn shm(len: usize) -> Memory {
    Memory::shm(len).unwrap()
}

/// Every row of every plane holds a value of its own, padding holds 0xEE.
fn fill(tensor: &TensorDyn) {
    let layout = tensor.image_layout().unwrap().clone();
    let mut map = tensor.map_mut().unwrap();
    for plane in 0..layout.planes().len() {
        let (stride, row_bytes) = (layout.planes()[plane].stride, layout.row_bytes(plane));
        for (y, row) in map.plane_mut(plane).unwrap().chunks_mut(stride).enumerate() {
            row.fill(0xEE);
            row[..row_bytes].fill(u8::try_from(plane * 100 + y % 100).unwrap());
        }
    }
}

// G01, S-MP-01
#[test]
fn rows_of_every_plane_are_read_without_their_padding() {
    let one = [place(0, 0, 96), place(0, 3456, 128)];
    let two = [place(0, 128, 96), place(1, 0, 128)];
    for (planes, lens) in [(one, vec![3456 + 18 * 128]), (two, vec![128 + 36 * 96, 18 * 128])] {
        let layout = ImageLayout::from_planes(PixelFormat::Nv12, 64, 36, &planes).unwrap();
        let tensor =
            TensorDyn::from_image(layout, lens.into_iter().map(shm), CpuAccess::ReadWrite).unwrap();
        fill(&tensor);
        let map = tensor.map_read().unwrap();
        for (plane, rows) in [(0, 36), (1, 18)] {
            let mapped = map.plane(plane).unwrap();
            assert_eq!(mapped.rows().count(), rows);
            for (y, row) in mapped.rows().enumerate() {
                assert_eq!(row, [u8::try_from(plane * 100 + y).unwrap(); 64]);
                assert_eq!(mapped.row(y), Some(row));
            }
            assert_eq!(mapped.row(rows), None);
        }
        assert!(map.plane(2).is_none());
    }
}

// S-CLS-08, D-11
#[test]
fn a_plane_past_the_real_end_of_its_memory_is_refused_with_both_numbers() {
    let layout = ImageLayout::packed(PixelFormat::Nv12, 640, 480, StrideAlign::NONE).unwrap();
    let error = TensorDyn::from_image(layout, [shm(460_799)], CpuAccess::Read).unwrap_err();
    let expected = TensorError::TooSmall { plane: 1, memory: 0, need: 460_800, have: 460_799 };
    assert_eq!(error.to_string(), expected.to_string());
}

#[test]
fn memories_must_be_as_many_as_named_and_of_one_kind() {
    let planes = [place(0, 0, 64), place(1, 0, 64)];
    let layout = ImageLayout::from_planes(PixelFormat::Nv12, 64, 36, &planes).unwrap();
    let make = |memories: Vec<Memory>| {
        TensorDyn::from_image(layout.clone(), memories, CpuAccess::Read).unwrap_err()
    };
    let counted = |error| matches!(error, TensorError::MemoryCount { expected: 2, given: 1 | 5 });
    assert!(counted(make(vec![shm(4096)])));
    assert!(counted(make(vec![shm(4096); 5])));
    assert!(matches!(
        make(vec![shm(4096), Memory::heap(4096).unwrap()]),
        TensorError::MixedKinds { first: TensorMemory::Shm, other: TensorMemory::Mem }
    ));
}

// S-CPU-02, S-CPU-07
#[test]
fn the_declaration_is_narrowed_and_kept() {
    let layout = ImageLayout::packed(PixelFormat::Grey, 8, 8, StrideAlign::NONE).unwrap();
    let memory = shm(64);
    let tensor = TensorDyn::from_image(layout.clone(), [memory.clone()], CpuAccess::Read).unwrap();
    assert!(matches!(tensor.map_mut(), Err(MapError::AccessDenied { .. })));
    let lent = Memory::import(memory.fd().unwrap(), CpuAccess::Read).unwrap();
    let alias = TensorDyn::from_image(layout, [lent], CpuAccess::ReadWrite).unwrap();
    assert_eq!(alias.access(), CpuAccess::Read);
}

// S-DISP-04, D-24
#[test]
fn one_tensor_cannot_be_mapped_twice_for_writing() {
    let layout = ImageLayout::packed(PixelFormat::Grey, 8, 8, StrideAlign::NONE).unwrap();
    let tensor = TensorDyn::from_image(layout, [shm(64)], CpuAccess::ReadWrite).unwrap();
    let clone = tensor.clone();
    let first = tensor.map_mut().unwrap();
    assert!(matches!(clone.map_mut(), Err(MapError::Busy { writer: true })));
    drop(first);
    assert!(clone.map_mut().is_ok());
    assert_eq!(clone.identity().id(), tensor.identity().id());
}

/// An RGBA image in heap memory whose pixel (x, y) is [x, y, 0, 255].
fn coordinates(width: usize, height: usize) -> TensorDyn {
    let desc = ImageDesc::new(PixelFormat::Rgba, width, height).with_memory(TensorMemory::Mem);
    let tensor = TensorDyn::image_desc(&desc).unwrap();
    let flat: Vec<u8> = (0..height)
        .flat_map(|y| (0..width).flat_map(move |x| [x as u8, y as u8, 0, 255]))
        .collect();
    tensor.copy_from_flat(&flat).unwrap();
    tensor
}

fn pixel(tensor: &TensorDyn, x: usize, y: usize) -> [u8; 2] {
    let map = tensor.map_read().unwrap();
    let row = map.plane(0).unwrap().row(y).unwrap();
    [row[4 * x], row[4 * x + 1]]
}

// S-VIEW-01, S-VIEW-02, S-ID-05, S-VIEW-13
#[test]
fn a_view_of_a_view_adds_up_and_outlives_its_parent() {
    let frame = coordinates(64, 64);
    let outer = frame.view(Region::new(8, 8, 32, 32)).unwrap();
    let inner = outer.view(Region::new(4, 4, 8, 8)).unwrap();
    assert_eq!(pixel(&inner, 0, 0), [12, 12]);
    assert_eq!(inner.identity().id(), frame.identity().id());
    assert!(inner.is_view() && inner.aliases(&frame) && !inner.aliases(&coordinates(4, 4)));
    let weak = frame.identity().weak();
    drop((frame, outer));
    assert!(weak.is_alive());
    assert_eq!(pixel(&inner, 7, 7), [19, 19]);
}

// S-VIEW-06, D-34
#[test]
fn a_view_that_touches_the_last_pixel_maps() {
    let corner = coordinates(64, 64).view(Region::new(32, 32, 32, 32)).unwrap();
    assert_eq!(pixel(&corner, 31, 31), [63, 63]);
}

// S-VIEW-03, S-VIEW-07, S-VIEW-08, D-35, D-42
#[test]
fn views_of_every_layout_work_or_say_what_would() {
    for format in [PixelFormat::Nv12, PixelFormat::I420, PixelFormat::PlanarRgb, PixelFormat::Yuyv]
    {
        let frame = TensorDyn::image(format, 64, 36, CpuAccess::ReadWrite).unwrap();
        let view = frame.view(Region::new(16, 8, 32, 16)).unwrap();
        assert_eq!((view.width(), view.height()), (Some(32), Some(16)), "{format}");
        assert!(frame.view(Region::new(33, 0, 32, 16)).is_err(), "{format}");
    }
    let yuyv = TensorDyn::image(PixelFormat::Yuyv, 64, 36, CpuAccess::ReadWrite).unwrap();
    assert!(yuyv.view(Region::new(1, 0, 8, 8)).unwrap_err().to_string().contains('2'));
}

// S-VIEW-12, D-48: nextest gives this test a process of its own
#[test]
fn a_thousand_views_cost_no_descriptor() {
    let frame = TensorDyn::from_image(
        ImageLayout::packed(PixelFormat::Rgba, 64, 64, StrideAlign::DMA).unwrap(),
        [shm(64 * 64 * 4)],
        CpuAccess::ReadWrite,
    )
    .unwrap();
    let count = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let before = count();
    let views: Vec<_> =
        (0..1000).map(|n| frame.view(Region::new(n % 32, n % 16, 8, 8)).unwrap()).collect();
    assert_eq!(count(), before);
    drop(views);
}

// S-GEO-14, S-VIEW-04, S-VIEW-05
#[test]
fn a_batch_is_indexed_by_image() {
    let desc = ImageDesc::new(PixelFormat::Rgb, 8, 4).with_memory(TensorMemory::Mem);
    let batch = TensorDyn::image_desc(&desc.clone().with_batch(3)).unwrap();
    assert_eq!(batch.shape()[..], [3, 4, 8, 3]);
    assert_eq!((batch.width(), batch.height()), (Some(8), Some(4)));
    for n in 0..3 {
        let image = batch.batch(n).unwrap();
        image.copy_from_flat(&[n as u8 + 1; 96]).unwrap();
    }
    let mut flat = vec![0; batch.flat_len()];
    batch.copy_to_flat(&mut flat).unwrap();
    assert!(flat.chunks(96).enumerate().all(|(n, image)| image.iter().all(|b| *b == n as u8 + 1)));
    let text = batch.batch(3).unwrap_err().to_string();
    assert!(text.contains('3'), "{text}");
    let one = TensorDyn::image_desc(&desc.with_batch(1)).unwrap();
    assert_eq!(one.batch(0).unwrap().flat_len(), one.flat_len());
    assert_eq!(one.batch(0).unwrap().identity().id(), one.identity().id());
}

// S-STR-04, S-STR-05
#[test]
fn rows_of_an_image_follow_the_memory_it_is_in() {
    let stride = |format, width| {
        let desc = ImageDesc::new(format, width, 4).with_memory(TensorMemory::Mem);
        TensorDyn::image_desc(&desc).unwrap().image_layout().unwrap().planes()[0].stride
    };
    assert_eq!((stride(PixelFormat::Rgba, 321), stride(PixelFormat::Nv12, 321)), (1284, 384));
    let frame = TensorDyn::image_with_stride(PixelFormat::Nv12, 640, 480, 704, CpuAccess::Read);
    let frame = frame.unwrap();
    let smaller = frame.configure_image(PixelFormat::Nv12, 320, 240).unwrap();
    assert_eq!(smaller.image_layout().unwrap().planes()[0].stride, 704);
    assert_eq!(smaller.identity().id(), frame.identity().id());
    assert!(frame.configure_image(PixelFormat::Rgba, 1920, 1080).is_err());
}

// S-SEL-04, S-PBO-07, S-PLAT-03, S-CPU-11, S-TILE-01, S-TILE-02
#[test]
fn what_cannot_be_given_is_refused_and_says_why() {
    use crate::compression::{Compression, CompressionScheme};
    let desc = || ImageDesc::new(PixelFormat::Rgba, 64, 64).with_memory(TensorMemory::Mem);
    let pbo = TensorDyn::image_desc(&desc().with_memory(TensorMemory::Pbo)).unwrap_err();
    assert!(pbo.to_string().contains("Memory::pbo"), "{pbo}");
    let any = desc().with_compression(Compression::Any);
    assert!(matches!(
        TensorDyn::image_desc(&any),
        Err(TensorError::CompressionAccess { access: CpuAccess::ReadWrite })
    ));
    assert!(TensorDyn::image_desc(&any.with_access(CpuAccess::None)).is_ok());
    let ubwc = Compression::Scheme(CompressionScheme::Ubwc);
    let named = desc().with_access(CpuAccess::None).with_compression(ubwc);
    assert!(matches!(TensorDyn::image_desc(&named), Err(TensorError::Compression { .. })));
}

// S-CPU-02 to S-CPU-06
#[test]
fn a_view_is_never_mapped_for_writing_alone() {
    let desc = ImageDesc::new(PixelFormat::Grey, 8, 8).with_memory(TensorMemory::Shm);
    let write = TensorDyn::image_desc(&desc.with_access(CpuAccess::Write)).unwrap();
    assert!(write.map_mut().is_err() && write.map_read().is_err());
    assert_eq!(write.write_access(), CpuAccess::Write);
    assert!(write.map_write().is_ok() && write.map_for_write().is_ok());
    let view = write.view(Region::new(0, 0, 4, 4)).unwrap();
    assert_eq!(view.write_access(), CpuAccess::ReadWrite);
    for refused in [view.map_write(), view.map_for_write(), view.map_for_partial_write()] {
        assert!(matches!(refused, Err(MapError::AccessDenied { .. })));
    }
}

// S-TYPE-07, S-TYPE-08
#[test]
fn a_typed_tensor_counts_elements() {
    let shape = Shape::new(&[2, 3]).unwrap();
    let heap = AllocPolicy::only(TensorMemory::Mem).unwrap();
    let tensor = TensorDyn::new(&shape, DType::F32, &heap, CpuAccess::ReadWrite).unwrap();
    assert!(tensor.as_u8().is_none() && tensor.as_f16().is_none());
    let typed = tensor.as_f32().unwrap();
    typed.elements(CpuAccess::Write).unwrap().copy_from_slice(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let elements = typed.elements(CpuAccess::Read).unwrap();
    assert_eq!((elements.len(), elements[4]), (6, 5.0));
    #[cfg(feature = "ndarray")]
    assert_eq!(elements.view().unwrap()[[1, 0]], 4.0);
    let back = tensor.clone().into_typed::<u8>().unwrap_err();
    assert_eq!(back.identity().id(), tensor.identity().id());
    let part = tensor.slice(&[1..2, 1..3]).unwrap();
    let mut flat = [0; 8];
    part.copy_to_flat(&mut flat).unwrap();
    assert_eq!(flat[..4], 5.0_f32.to_le_bytes());
}

// S-TYPE-09
#[test]
#[should_panic(expected = "mapped for reading")]
fn elements_mapped_for_reading_cannot_be_written() {
    let shape = Shape::new(&[4]).unwrap();
    let heap = AllocPolicy::only(TensorMemory::Mem).unwrap();
    let tensor = Tensor::<u8>::new(&shape, &heap, CpuAccess::ReadWrite).unwrap();
    tensor.elements(CpuAccess::Read).unwrap()[0] = 1;
}

// S-VIEW-14, D-46
#[test]
fn bytes_take_a_format_they_have_the_shape_of() {
    let heap = AllocPolicy::only(TensorMemory::Mem).unwrap();
    let make = |dims: &[usize]| {
        TensorDyn::new(&Shape::new(dims).unwrap(), DType::U8, &heap, CpuAccess::ReadWrite).unwrap()
    };
    let nv12 = make(&[720, 640]).with_format(PixelFormat::Nv12).unwrap();
    assert_eq!(nv12.shape()[..], [480, 640]);
    assert_eq!(nv12.image_layout().unwrap().planes()[1].offset, 307_200);
    assert!(make(&[721, 640]).with_format(PixelFormat::Nv12).is_err());
    assert!(make(&[48, 64, 3]).with_format(PixelFormat::Rgb).is_ok());
    assert!(make(&[48, 64, 4]).with_format(PixelFormat::Rgb).is_err());
    let image = make(&[2, 48, 64, 3]).batch(1).unwrap().with_format(PixelFormat::Rgb).unwrap();
    assert_eq!(image.image_layout().unwrap().planes()[0].offset, 48 * 64 * 3);
    let flat = make(&[2, 6]).reshape(&Shape::new(&[3, 4]).unwrap()).unwrap();
    assert_eq!(flat.strides().unwrap()[..], [4, 1]);
    assert!(make(&[2, 6]).reshape(&Shape::new(&[5]).unwrap()).is_err());
}

// S-MP-01, S-TYPE-11
#[test]
fn planes_in_descriptors_of_their_own_make_an_image() {
    let (luma, chroma) = (shm(4096), shm(4096));
    let plane = |memory: &Memory, offset, stride| {
        PlaneDescriptor::new(memory.fd().unwrap(), offset, stride).unwrap()
    };
    let planes = [plane(&luma, 128, 64), plane(&chroma, 0, 96)];
    let make = |planes: &[PlaneDescriptor]| {
        TensorDyn::from_planes(PixelFormat::Nv12, 64, 37, planes, CpuAccess::ReadWrite)
    };
    let frame = make(&planes).unwrap();
    assert!(frame.is_multiplane() && frame.height() == Some(37));
    let mut flat = vec![0; frame.flat_len()];
    frame.copy_from_flat(&vec![5; frame.flat_len()]).unwrap();
    frame.copy_to_flat(&mut flat).unwrap();
    assert!(flat.len() == 64 * 37 + 64 * 19 && flat.iter().all(|byte| *byte == 5));
    assert!(frame.copy_to_flat(&mut flat[1..]).is_err());
    assert!(make(&planes[..1]).is_err());
    assert!(frame.configure_image(PixelFormat::Grey, 8, 8).is_err());
}

// S-MP-02, S-MP-03, D-40, D-41
#[test]
fn every_plane_of_every_format_is_made_and_copied() {
    for (format, height) in [
        (PixelFormat::Nv12, 37),
        (PixelFormat::Nv16, 37),
        (PixelFormat::Nv24, 37),
        (PixelFormat::I420, 37),
    ] {
        let packed = ImageLayout::packed(format, 33, height, StrideAlign::DMA).unwrap();
        let planes: Vec<_> = (0..packed.planes().len())
            .map(|plane| {
                let stride = packed.planes()[plane].stride;
                let memory = shm(stride * packed.rows(plane));
                PlaneDescriptor::new(memory.fd().unwrap(), 0, stride).unwrap()
            })
            .collect();
        let access = CpuAccess::ReadWrite;
        let frame = TensorDyn::from_planes(format, 33, height, &planes, access).unwrap();
        assert_eq!(frame.memories().len(), planes.len(), "{format}");
        let flat: Vec<u8> = (0..frame.flat_len()).map(|n| (n % 251) as u8).collect();
        frame.copy_from_flat(&flat).unwrap();
        let mut back = vec![0; flat.len()];
        frame.copy_to_flat(&mut back).unwrap();
        assert!(back == flat, "{format}");
        let rows = frame
            .map_read()
            .unwrap()
            .planes()
            .flat_map(|plane| plane.rows())
            .map(<[u8]>::len)
            .sum::<usize>();
        assert_eq!(rows, flat.len(), "{format}: chroma is mapped too");
        // Another format over several memories would leave chroma behind: it is refused.
        assert!(frame.with_format(PixelFormat::Grey).is_err(), "{format}");
        assert!(frame.configure_image(PixelFormat::Grey, 8, 8).is_err(), "{format}");
    }
}

mod elements;
mod lines;
mod planes;

const fn assert_send_sync<T: Send + Sync>() {}
const _: () = assert_send_sync::<TensorDyn>();
const _: () = assert_send_sync::<TensorMap<'_>>();
