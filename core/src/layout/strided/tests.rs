use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

fn shape(dims: &[usize]) -> Shape {
    Shape::new(dims).unwrap()
}

fn strided(dims: &[usize], steps: &[isize], offset: usize, bytes: usize) -> StridedLayout {
    StridedLayout::new(shape(dims), Strides::new(steps).unwrap(), offset, bytes).unwrap()
}

/// Every index of a shape, in C order.
fn indices(dims: &[usize]) -> Vec<Vec<usize>> {
    dims.iter().fold(vec![vec![]], |all, dim| {
        all.iter().flat_map(|at| (0..*dim).map(move |i| [at.as_slice(), &[i]].concat())).collect()
    })
}

/// The first byte of every element, in C order.
fn elements(layout: &StridedLayout) -> Vec<usize> {
    indices(layout.shape()).iter().map(|at| layout.offset_of(at).unwrap()).collect()
}

#[test]
fn a_dense_layout_is_one_run_from_byte_0() {
    let dense = StridedLayout::dense(&shape(&[4, 5, 1]), 4).unwrap();
    assert_eq!(&**dense.strides(), [20, 4, 4]);
    assert_eq!((dense.bounds(), dense.required_len(), dense.elements()), (0..80, 80, 20));
    assert!(dense.is_dense() && dense.is_element_aligned() && !dense.may_overlap_itself());
    assert_eq!((dense.rows().row_bytes(), dense.rows().len()), (80, 1));
    let scalar = StridedLayout::dense(&shape(&[]), 8).unwrap();
    assert_eq!((scalar.bounds(), scalar.elements(), scalar.is_dense()), (0..8, 1, true));
}

// design.md section 3: strides of length-1 axes never matter to any question
#[test]
fn the_stride_of_a_length_1_axis_never_matters() {
    let usual = strided(&[1, 4, 1, 6], &[24, 6, 6, 1], 16, 1);
    for odd in [0, -7, isize::MIN, isize::MAX, 1] {
        let other = strided(&[1, 4, 1, 6], &[odd, 6, odd, 1], 16, 1);
        assert_eq!(other, usual);
        assert_eq!(other.bounds(), 16..40);
        assert!(other.is_dense() && other.is_element_aligned() && !other.may_overlap_itself());
        assert_eq!(other.rows().collect::<Vec<_>>(), [16]);
        assert_eq!(other.offset_of(&[0, 2, 0, 3]), Some(16 + 15));
        assert_eq!(other.flip(0).unwrap(), usual);
        assert_eq!(other.narrow(2, 0..1).unwrap(), usual);
        assert_eq!(other.select(0, 0).unwrap(), usual.select(0, 0).unwrap());
    }
    assert_ne!(strided(&[4, 6], &[7, 1], 16, 1), strided(&[4, 6], &[6, 1], 16, 1));
}

// S-GEO-12, D-44: a stride that is no whole number of elements is kept to the byte
#[test]
fn a_stride_between_elements_is_exact_and_said_to_be_unaligned() {
    let strides = c_byte_strides(&shape(&[4, 16]), 4, 0, Some(67)).unwrap();
    assert_eq!(&*strides, [67, 4]);
    let layout = StridedLayout::new(shape(&[4, 16]), strides, 0, 4).unwrap();
    assert_eq!(layout.required_len(), 3 * 67 + 64);
    assert_eq!(layout.rows().collect::<Vec<_>>(), [0, 67, 134, 201]);
    assert!(!layout.is_element_aligned());
    assert!(!strided(&[4], &[4], 2, 4).is_element_aligned());
}

// G13, D-34
#[test]
fn logical_span_and_stride_bytes_are_three_numbers() {
    let padded = strided(&[17, 33, 3], &[128, 3, 1], 0, 1);
    assert_eq!(padded.elements(), 1683);
    assert_eq!(padded.required_len(), 16 * 128 + 99);
    assert_eq!((padded.rows().row_bytes(), padded.rows().len()), (99, 17));
    let corner = padded.slice(&[16..17, 32..33, 0..3]).unwrap();
    assert_eq!(corner.bounds(), 16 * 128 + 96..16 * 128 + 99);
}

#[test]
fn rotated_and_mirrored_layouts_stay_in_their_bytes() {
    let image = StridedLayout::dense(&shape(&[2, 3]), 2).unwrap();
    let mirrored = image.flip(1).unwrap();
    assert_eq!((mirrored.offset(), mirrored.bounds()), (4, 0..12));
    assert_eq!(elements(&mirrored), [4, 2, 0, 10, 8, 6]);
    let upside_down = image.flip(0).unwrap();
    assert_eq!((upside_down.rows().row_bytes(), upside_down.rows().collect()), (6, vec![6, 0]));
    let quarter = image.transpose(0, 1).unwrap().flip(1).unwrap();
    assert_eq!(&**quarter.shape(), [3, 2]);
    assert_eq!(elements(&quarter), [6, 0, 8, 2, 10, 4]);
    assert_eq!(quarter.rows().collect::<Vec<_>>(), elements(&quarter));
    assert_eq!(quarter.flip(1).unwrap().transpose(0, 1).unwrap(), image);
}

#[test]
fn axes_that_continue_each_other_are_one_run() {
    let batch = strided(&[2, 4, 8, 3], &[256, 64, 3, 1], 0, 1);
    assert_eq!((batch.rows().row_bytes(), batch.rows().len()), (24, 8));
    assert_eq!(batch.rows().collect::<Vec<_>>(), (0..8).map(|row| row * 64).collect::<Vec<_>>());
    let images = batch.narrow(1, 0..2).unwrap();
    assert_eq!(images.rows().collect::<Vec<_>>(), [0, 64, 256, 320]);
}

#[test]
fn a_layout_without_elements_has_no_bytes() {
    let none = StridedLayout::dense(&shape(&[3, 0, 5]), 4).unwrap();
    assert_eq!((none.elements(), none.bounds(), none.required_len()), (0, 0..0, 0));
    assert_eq!(none.rows().count(), 0);
    assert!(none.is_dense() && !none.may_overlap_itself());
    assert_eq!(none.flip(1).unwrap(), none);
    assert!(none.narrow(1, 0..1).is_err());
}

/// Parts are not checked when they are made, so they must be what a check would let pass.
fn is_sound(part: &StridedLayout) -> bool {
    let (shape, strides) = (part.shape().clone(), part.strides().clone());
    StridedLayout::new(shape, strides, part.offset(), part.element_bytes()).as_ref() == Ok(part)
}

#[test]
fn parts_at_the_edge_of_the_address_space_are_sound_or_refused() {
    let half = isize::MAX / 2;
    let wholes = [
        strided(&[3, 2], &[half, 0], 0, 1),
        strided(&[3, 1], &[-half, isize::MIN], isize::MAX.unsigned_abs() - 1, 1),
        // Without elements any step passes.
        strided(&[0, 5], &[1, isize::MAX], 0, 1),
        strided(&[5, 0], &[isize::MIN, isize::MIN], 7, 1),
    ];
    for whole in wholes {
        for axis in 0..2 {
            let parts = [
                whole.flip(axis),
                whole.transpose(0, 1),
                whole.narrow(axis, 1..2),
                whole.narrow(axis, 2..3),
                whole.select(axis, 1),
                whole.select(axis, 2),
            ];
            assert!(parts.iter().flatten().all(is_sound), "{whole:?}: {parts:?}");
        }
    }
}

#[test]
fn repeated_and_interleaved_axes_may_overlap() {
    assert!(strided(&[4, 3], &[0, 1], 0, 1).may_overlap_itself());
    assert!(strided(&[4, 3], &[2, 1], 0, 1).may_overlap_itself());
    assert!(strided(&[4], &[3], 0, 4).may_overlap_itself());
    assert!(!strided(&[4, 3], &[1, 4], 0, 1).may_overlap_itself());
    assert!(!strided(&[4, 3], &[-3, 1], 9, 1).may_overlap_itself());
}

#[test]
fn what_cannot_be_is_refused_with_its_numbers() {
    let new = |dims: &[usize], steps: &[isize], offset, bytes| {
        StridedLayout::new(shape(dims), Strides::new(steps).unwrap(), offset, bytes)
    };
    assert_eq!(new(&[2], &[1], 0, 0), Err(StridedError::Element));
    assert_eq!(new(&[2, 3], &[1], 0, 1), Err(StridedError::Rank { rank: 2, strides: 1 }));
    assert_eq!(new(&[4], &[-2], 5, 2), Err(StridedError::BelowStart { offset: 5, below: 6 }));
    assert!(new(&[4], &[-2], 6, 2).is_ok());
    let layout = strided(&[4, 6], &[6, 1], 0, 1);
    assert_eq!(layout.narrow(2, 0..1), Err(StridedError::Axis { axis: 2, rank: 2 }));
    assert_eq!(layout.flip(2), Err(StridedError::Axis { axis: 2, rank: 2 }));
    assert_eq!(layout.transpose(0, 2), Err(StridedError::Axis { axis: 2, rank: 2 }));
    assert_eq!(
        layout.slice(std::slice::from_ref(&(0..1))),
        Err(StridedError::Axis { axis: 1, rank: 2 })
    );
    for (start, end) in [(0, 5), (4, 5), (2, 2), (3, 1), (usize::MAX, usize::MAX)] {
        let range = StridedError::Range { axis: 0, start, end, dim: 4 };
        assert_eq!(layout.narrow(0, start..end), Err(range));
    }
    assert!(layout.select(0, usize::MAX).is_err());
    assert_eq!(layout.offset_of(&[4, 0]), None);
    assert_eq!(layout.offset_of(&[0]), None);
}

// S-GEO-16, D-37, D-38: the same answer with and without overflow checks compiled in
#[test]
fn bytes_past_the_address_space_are_refused() {
    for dims in
        [&[1 << 42, 1 << 42][..], &[usize::MAX], &[1 << 63], &[1 << 61], &[0, 1 << 42, 1 << 42]]
    {
        assert!(StridedLayout::dense(&shape(dims), 4).is_err(), "{dims:?}");
    }
    assert!(StridedLayout::dense(&shape(&[1 << 62]), 1).is_ok());
    let new = |dims: &[usize], steps: &[isize], offset, bytes| {
        StridedLayout::new(shape(dims), Strides::new(steps).unwrap(), offset, bytes)
    };
    assert!(new(&[2], &[isize::MAX], 0, 1).is_err());
    assert!(new(&[3], &[isize::MIN], 1 << 63, 1).is_err());
    assert!(new(&[2], &[isize::MIN], usize::MAX, 1).is_err());
    assert!(new(&[1], &[1], usize::MAX, 1).is_err());
    assert!(new(&[1], &[1], 1 << 63, 1).is_err());
    assert!(new(&[1 << 40, 1 << 40], &[0, 0], 0, 1).is_err());
}

#[derive(Clone, Debug)]
enum Step {
    Narrow(usize, usize, usize),
    Flip(usize),
    Transpose(usize, usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0..4_usize, 0..4_usize, 1..4_usize).prop_map(|(a, s, l)| Step::Narrow(a, s, l)),
        (0..4_usize).prop_map(Step::Flip),
        (0..4_usize, 0..4_usize).prop_map(|(a, b)| Step::Transpose(a, b)),
    ]
}

fn layout() -> impl Strategy<Value = StridedLayout> {
    let axis = (1..5_usize, -40..40_isize);
    (prop::collection::vec(axis, 0..4), 600..700_usize, 1..5_usize).prop_map(
        |(axes, offset, bytes)| {
            let (dims, steps): (Vec<_>, Vec<_>) = axes.into_iter().unzip();
            strided(&dims, &steps, offset, bytes)
        },
    )
}

proptest! {
    #[test]
    fn bounds_are_the_first_and_last_byte_of_any_element(layout in layout()) {
        let at = elements(&layout);
        let (low, high) = (at.iter().min().unwrap(), at.iter().max().unwrap());
        prop_assert_eq!(layout.bounds(), *low..*high + layout.element_bytes());
        prop_assert_eq!(layout.required_len(), layout.bounds().end);
    }

    #[test]
    fn runs_are_the_elements_in_order_and_as_long_as_can_be(layout in layout()) {
        let size = layout.element_bytes();
        let runs: Vec<usize> = layout.rows().collect();
        prop_assert_eq!(runs.len(), layout.rows().len());
        let row_bytes = layout.rows().row_bytes();
        let walked: Vec<usize> =
            runs.iter().flat_map(|run| (0..row_bytes / size).map(move |i| run + i * size)).collect();
        prop_assert_eq!(walked, elements(&layout));
        let is_dense = elements(&layout).windows(2).all(|pair| pair[1] == pair[0] + size);
        prop_assert_eq!(layout.is_dense(), is_dense);
    }

    #[test]
    fn a_layout_that_says_no_never_overlaps(layout in layout()) {
        if !layout.may_overlap_itself() {
            let mut taken = HashSet::new();
            for at in elements(&layout) {
                prop_assert!((at..at + layout.element_bytes()).all(|byte| taken.insert(byte)));
            }
        }
    }

    #[test]
    fn every_part_addresses_elements_of_the_whole(
        whole in layout(),
        steps in prop::collection::vec(step(), 0..6),
    ) {
        let all: HashSet<usize> = elements(&whole).into_iter().collect();
        let mut part = whole;
        for step in steps {
            let next = match step {
                Step::Narrow(axis, start, len) => part.narrow(axis, start..start + len),
                Step::Flip(axis) => part.flip(axis),
                Step::Transpose(a, b) => part.transpose(a, b),
            };
            part = next.unwrap_or(part);
        }
        prop_assert!(is_sound(&part));
        prop_assert!(elements(&part).iter().all(|at| all.contains(at)));
    }

    #[test]
    fn a_range_of_a_range_is_one_range(
        (dim, step, a, b, c, d) in (1..50_usize, -9..9_isize)
            .prop_flat_map(|(dim, step)| (Just(dim), Just(step), 0..dim))
            .prop_flat_map(|(dim, step, a)| (Just(dim), Just(step), Just(a), a + 1..=dim))
            .prop_flat_map(|(dim, step, a, b)| (Just(dim), Just(step), Just(a), Just(b), 0..b - a))
            .prop_flat_map(|(dim, step, a, b, c)| {
                (Just(dim), Just(step), Just(a), Just(b), Just(c), c + 1..=b - a)
            })
    ) {
        let whole = strided(&[dim], &[step], 500, 1);
        let twice = whole.narrow(0, a..b).unwrap().narrow(0, c..d).unwrap();
        prop_assert_eq!(twice, whole.narrow(0, a + c..a + d).unwrap());
    }

    #[test]
    fn no_numbers_panic(
        dims in prop::collection::vec(any::<usize>(), 0..=8),
        steps in prop::collection::vec(any::<isize>(), 0..=8),
        offset in any::<usize>(),
        bytes in any::<usize>(),
    ) {
        let _ = StridedLayout::dense(&shape(&dims), bytes);
        if let Ok(layout) = StridedLayout::new(shape(&dims), Strides::new(&steps).unwrap(), offset, bytes) {
            prop_assert!(layout.bounds().start <= layout.offset());
            prop_assert!(isize::try_from(layout.required_len()).is_ok());
            let _ = (layout.rows().next(), layout.may_overlap_itself(), layout.flip(0), layout.select(0, 1));
        }
    }
}
