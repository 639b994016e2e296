use std::os::fd::{AsFd, OwnedFd};

use super::*;
use crate::{
    blob::BlobView, format::PixelFormat, layout::PlanePlacement, layout::StrideAlign, sys::memfd,
};

fn grey(width: usize) -> ImageLayout {
    ImageLayout::packed(PixelFormat::Grey, width, 8, StrideAlign::DMA).unwrap()
}

fn file() -> OwnedFd {
    memfd::create("t", 4096).unwrap()
}

fn import(cache: &mut ImportCache, layout: &ImageLayout, fds: &[&OwnedFd]) -> Lookup {
    let fds: Vec<_> = fds.iter().map(|fd| fd.as_fd()).collect();
    let frame = Frame {
        layout,
        colorimetry: Colorimetry::default(),
        quantization: None,
        access: CpuAccess::Read,
        fds: &fds,
        handles: &[0, 1][..fds.len()],
    };
    cache.import(&frame, |_, _| ()).unwrap()
}

// S-ID-06
#[test]
fn a_cycle_of_four_buffers_is_four_imports() {
    let (mut cache, layout) = (ImportCache::default(), grey(64));
    let files: Vec<_> = (0..4).map(|_| file()).collect();
    let first: Vec<_> = files.iter().map(|fd| import(&mut cache, &layout, &[fd]).import).collect();
    for n in 4..1000 {
        // A new number for the same file every time, as unixfdsrc gives.
        let dup = files[n % 4].try_clone().unwrap();
        let found = import(&mut cache, &layout, &[&dup]);
        assert!(found.hit && Arc::ptr_eq(&found.import, &first[n % 4]));
    }
    let stats = cache.stats();
    assert_eq!((stats.misses, stats.hits, stats.live), (4, 996, 4));
    assert_eq!(stats.pinned_bytes, 4 * 4096);
}

// S-ID-07
#[test]
fn another_geometry_on_the_same_buffer_is_another_import() {
    let (mut cache, fd) = (ImportCache::default(), file());
    let wide = import(&mut cache, &grey(64), &[&fd]);
    let narrow = import(&mut cache, &grey(32), &[&fd]);
    assert!(!narrow.hit);
    assert_eq!(narrow.import.tensor.width(), Some(32));
    assert_eq!(wide.import.tensor.width(), Some(64));
    assert_eq!(cache.stats().live, 1);
}

#[test]
fn another_description_of_the_same_buffer_takes_the_place_of_the_first() {
    let (mut cache, layout, fd) = (ImportCache::<()>::default(), grey(64), file());
    let quantization = Quantization::per_tensor(0.5, 128).unwrap();
    let plain = Frame {
        layout: &layout,
        colorimetry: Colorimetry::default(),
        quantization: None,
        access: CpuAccess::Read,
        fds: &[fd.as_fd()],
        handles: &[0],
    };
    let quantized = Frame { quantization: Some(&quantization), ..plain };
    let unread = Frame { access: CpuAccess::None, ..quantized };
    for frame in [plain, quantized, unread] {
        let lookup = cache.import(&frame, |_, _| ()).unwrap();
        assert_eq!(
            (lookup.hit, lookup.replaced),
            (false, frame.access != plain.access || frame.quantization.is_some())
        );
        assert_eq!(lookup.import.tensor.quantization(), frame.quantization);
        assert_eq!(lookup.import.tensor.access(), frame.access);
        assert!(cache.import(&frame, |_, _| ()).unwrap().hit);
    }
    assert_eq!((cache.stats().live, cache.new_generation()), (1, 1));
}

// S-ID-08
#[test]
fn a_reused_descriptor_number_with_another_file_is_no_hit() {
    use std::os::fd::AsRawFd;
    let (mut cache, layout) = (ImportCache::default(), grey(64));
    let first = file();
    let number = first.as_raw_fd();
    import(&mut cache, &layout, &[&first]);
    drop(first);
    let second = file();
    assert_eq!(second.as_raw_fd(), number, "the kernel gives the lowest free number");
    assert!(!import(&mut cache, &layout, &[&second]).hit);
}

#[test]
fn an_inode_number_is_of_its_filesystem() {
    let key = |dev, ino, offset| PlaneKey { identity: FileIdentity { dev, ino }, offset };
    assert_eq!(key(1, 7, 0), key(1, 7, 0));
    assert_ne!(key(1, 7, 0), key(27, 7, 0));
    assert_ne!(key(1, 7, 0), key(1, 7, 64));
}

// S-ID-09
#[test]
fn an_upstream_that_never_recycles_is_bounded() {
    let (mut cache, layout) = (ImportCache::new(8), grey(64));
    for _ in 0..1000 {
        import(&mut cache, &layout, &[&file()]);
        assert!(cache.stats().live <= 8);
    }
    assert_eq!(cache.stats().evictions, 992);
}

#[test]
fn the_least_recently_seen_goes_first() {
    let (mut cache, layout) = (ImportCache::new(2), grey(64));
    let (a, b, c) = (file(), file(), file());
    let first = import(&mut cache, &layout, &[&a]).import;
    import(&mut cache, &layout, &[&b]);
    cache.note_hit(&first);
    import(&mut cache, &layout, &[&c]);
    assert!(import(&mut cache, &layout, &[&a]).hit);
    assert!(!import(&mut cache, &layout, &[&b]).hit);
}

#[test]
fn an_entry_not_seen_for_long_is_dropped() {
    let (mut cache, layout) = (ImportCache::default(), grey(64));
    let (idle, busy) = (file(), file());
    let weak = Arc::downgrade(&import(&mut cache, &layout, &[&idle]).import);
    let busy_import = import(&mut cache, &layout, &[&busy]).import;
    for _ in 0..2 * IDLE_FRAMES {
        cache.note_hit(&busy_import);
    }
    assert!(weak.upgrade().is_none());
    assert_eq!(cache.stats().live, 1);
}

/// Two elements behind a tee see the same memories; each counts its own frames.
#[test]
fn another_caches_import_is_counted_and_not_aged() {
    let (mut old, mut new, layout) = (ImportCache::default(), ImportCache::default(), grey(64));
    let files: Vec<_> = (0..4).map(|_| file()).collect();
    let imports: Vec<_> = files.iter().map(|fd| import(&mut old, &layout, &[fd]).import).collect();
    let cycle = |cache: &mut ImportCache, frames: u64| {
        (0..frames).zip(imports.iter().cycle()).for_each(|(_, import)| cache.note_hit(import));
    };
    cycle(&mut old, 4 * IDLE_FRAMES);
    for _ in 0..4 * IDLE_FRAMES {
        cycle(&mut old, 4);
        cycle(&mut new, 4);
    }
    assert_eq!((old.stats().evictions, old.stats().live), (0, 4));
    assert_eq!((new.stats().hits, new.stats().live), (16 * IDLE_FRAMES, 0));
    // Gone for the one is gone, however busy the other is.
    let gone = import(&mut old, &grey(32), &[&file()]).import;
    for _ in 0..3 * IDLE_FRAMES {
        new.note_hit(&gone);
        cycle(&mut old, 4);
    }
    assert_eq!(old.stats().live, 4);
}

#[test]
fn a_file_is_pinned_once_however_many_windows_it_has() {
    let at = |offset| {
        let plane = [PlanePlacement { memory: 0, offset, stride: 64 }];
        ImageLayout::from_planes(PixelFormat::Grey, 64, 8, &plane).unwrap()
    };
    let (mut cache, fd) = (ImportCache::default(), file());
    (0..4).for_each(|n| drop(import(&mut cache, &at(512 * n), &[&fd])));
    assert_eq!((cache.stats().live, cache.stats().pinned_bytes), (4, 4096));
}

#[test]
fn a_new_generation_lets_go_of_everything_at_once() {
    let (mut cache, layout, fd) = (ImportCache::default(), grey(64), file());
    let weak = Arc::downgrade(&import(&mut cache, &layout, &[&fd]).import);
    cache.new_generation();
    assert!(weak.upgrade().is_none());
    let stats = cache.stats();
    assert_eq!((stats.live, stats.pinned_bytes, stats.evictions), (0, 0, 1));
}

#[test]
fn planes_in_two_files_are_one_entry_keyed_by_both() {
    let planes = [
        PlanePlacement { memory: 0, offset: 0, stride: 64 },
        PlanePlacement { memory: 1, offset: 0, stride: 64 },
    ];
    let layout = ImageLayout::from_planes(PixelFormat::Nv12, 64, 36, &planes).unwrap();
    let (mut cache, luma, chroma, other) = (ImportCache::default(), file(), file(), file());
    let lookup = import(&mut cache, &layout, &[&luma, &chroma]);
    assert!(import(&mut cache, &layout, &[&luma, &chroma]).hit);
    assert!(!import(&mut cache, &layout, &[&luma, &other]).hit);
    let view = BlobView::parse(&lookup.import.blob).unwrap();
    assert_eq!(view.planes().map(|plane| plane.handle).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn offsets_in_one_file_are_different_entries() {
    let at = |offset| {
        let plane = [PlanePlacement { memory: 0, offset, stride: 64 }];
        ImageLayout::from_planes(PixelFormat::Grey, 64, 8, &plane).unwrap()
    };
    let (mut cache, fd) = (ImportCache::default(), file());
    import(&mut cache, &at(0), &[&fd]);
    import(&mut cache, &at(512), &[&fd]);
    assert!(import(&mut cache, &at(0), &[&fd]).hit);
    assert!(import(&mut cache, &at(512), &[&fd]).hit);
}

// G08
#[test]
fn a_frame_too_large_for_its_file_is_refused_and_leaves_nothing() {
    let (mut cache, fd) = (ImportCache::<()>::default(), file());
    let layout = ImageLayout::packed(PixelFormat::Grey, 4097, 1, StrideAlign::NONE).unwrap();
    let frame = Frame {
        layout: &layout,
        colorimetry: Colorimetry::default(),
        quantization: None,
        access: CpuAccess::Read,
        fds: &[fd.as_fd()],
        handles: &[0],
    };
    let error = cache.import(&frame, |_, _| ()).unwrap_err().to_string();
    assert!(error.contains("4097") && error.contains("4096"), "{error}");
    assert_eq!(cache.stats(), CacheStats::default());
}
