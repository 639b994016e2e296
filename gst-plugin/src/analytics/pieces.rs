//! What a tensor is to a reader that knows dimensions and no strides.

use tensor_core::{DType, ImageLayout, Layout, PixelLayout, transfer::Referenced};

use super::AnalyticsError;

/// Elements that follow each other in C order, padding counted as elements.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// Which plane of an image whose planes differ.
    pub(super) plane: Option<usize>,
    /// The handle of the memory, and the first byte in it.
    pub(super) handle: i64,
    pub(super) offset: usize,
    pub(super) dims: Vec<usize>,
    /// Bytes of all elements.
    pub(super) len: usize,
}

/// The pieces of a tensor: one, or one for each plane.
pub(super) fn pieces(tensor: &Referenced, dtype: DType) -> Result<Vec<Piece>, AnalyticsError> {
    let planes_differ = tensor.layout.image().is_some_and(|image| {
        matches!(image.format().layout(), PixelLayout::SemiPlanar | PixelLayout::PlanarChroma)
    });
    if let Layout::Image(image) = &tensor.layout
        && (planes_differ || image.strides().is_err())
    {
        return planes(image, &tensor.handles, dtype);
    }
    let is_batch = matches!(tensor.layout, Layout::Batch(_));
    let (shape, strides) = (tensor.layout.shape(), tensor.layout.strides());
    let (Ok(shape), Ok(strides), false) = (shape, strides, is_batch) else {
        return Err(AnalyticsError::Batch);
    };
    let (handle, bytes) = tensor.parts().next().unwrap_or_default();
    Ok(vec![piece(None, (handle, bytes.start), &shape, &strides, dtype)?])
}

fn planes(
    image: &ImageLayout,
    handles: &[i64],
    dtype: DType,
) -> Result<Vec<Piece>, AnalyticsError> {
    let rows = image.planes().iter().zip(image.format().planes());
    let pieces = rows.enumerate().map(|(plane, (place, format))| {
        let handle = handles.get(place.memory).copied().unwrap_or(-1);
        let element = dtype.size_bytes();
        // Interleaved components are an axis of their own; a block of several columns is one element
        // after the other.
        let is_column = format.block_width == 1;
        let parts = format.block_bytes.checked_div(element).filter(|_| is_column).unwrap_or(1);
        let column = element.saturating_mul(parts);
        let columns = image.row_bytes(plane).checked_div(column).unwrap_or(0);
        let shape = [image.rows(plane), columns, parts];
        let strides = [place.stride, column, element];
        let rank = if parts > 1 { 3 } else { 2 };
        let strides = strides.map(|bytes| isize::try_from(bytes).unwrap_or(isize::MAX));
        let (shape, strides) = (shape.get(..rank), strides.get(..rank));
        let at = (handle, place.offset);
        piece(Some(plane), at, shape.unwrap_or_default(), strides.unwrap_or_default(), dtype)
    });
    pieces.collect()
}

fn piece(
    plane: Option<usize>,
    (handle, offset): (i64, usize),
    shape: &[usize],
    strides: &[isize],
    dtype: DType,
) -> Result<Piece, AnalyticsError> {
    let element_bytes = dtype.size_bytes();
    let told = padded(shape, strides, element_bytes).and_then(|dims| {
        let bytes = dims.iter().try_fold(element_bytes, |bytes, dim| bytes.checked_mul(*dim))?;
        Some((dims, bytes))
    });
    let (dims, len) = told.ok_or_else(|| {
        let (shape, strides) = (shape.to_vec(), strides.to_vec());
        AnalyticsError::Steps { shape, strides, element_bytes }
    })?;
    Ok(Piece { plane, handle, offset, dims, len })
}

/// The dimensions under which elements in C order without gaps are where these strides say; `None`
/// when there are none.
///
/// A step that is longer than the axis inside it adds elements to that axis, if it is so many whole
/// steps. Where an axis has one element its step says nothing.
fn padded(shape: &[usize], strides: &[isize], element_bytes: usize) -> Option<Vec<usize>> {
    let mut dims = shape.to_vec();
    let mut inner: Option<(usize, usize)> = None;
    let axes = shape.iter().zip(strides).enumerate().filter(|(_, (len, _))| **len != 1);
    for (axis, (_, stride)) in axes.rev() {
        let stride = usize::try_from(*stride).ok().filter(|stride| *stride > 0)?;
        match inner {
            None if stride == element_bytes => (),
            None => return None,
            Some((inner, step)) => {
                let len = stride.checked_div(step).filter(|_| stride.is_multiple_of(step))?;
                let dim = dims.get_mut(inner)?;
                if len < *dim {
                    return None;
                }
                *dim = len;
            }
        }
        inner = Some((axis, stride));
    }
    Some(dims)
}

#[cfg(test)]
mod tests {
    use tensor_core::{PixelFormat, StrideAlign};

    use super::*;

    #[test]
    fn padding_is_counted_where_it_is_whole_steps() {
        let dims = |shape: &[usize], strides: &[isize]| padded(shape, strides, 4);
        assert_eq!(dims(&[2, 3, 5], &[60, 20, 4]), Some(vec![2, 3, 5]));
        assert_eq!(dims(&[2, 3, 5], &[96, 32, 4]), Some(vec![2, 3, 8]));
        assert_eq!(dims(&[2, 3, 5], &[128, 32, 4]), Some(vec![2, 4, 8]));
        assert_eq!(dims(&[4, 1, 10], &[64, 7, 4]), Some(vec![4, 1, 16]));
        assert_eq!(dims(&[1, 1], &[0, -3]), Some(vec![1, 1]));
        assert_eq!(dims(&[], &[]), Some(vec![]));
    }

    #[test]
    fn what_no_dimensions_express_is_none() {
        let dims = |shape: &[usize], strides: &[isize]| padded(shape, strides, 4);
        assert_eq!(dims(&[2, 5], &[22, 4]), None, "no whole steps");
        assert_eq!(dims(&[2, 5], &[16, 4]), None, "rows that overlap");
        assert_eq!(dims(&[2, 5], &[-20, 4]), None, "upside down");
        assert_eq!(dims(&[2, 5], &[0, 4]), None, "one row again and again");
        assert_eq!(dims(&[5, 2], &[4, 20]), None, "transposed");
        assert_eq!(dims(&[5], &[8]), None, "every second element");
    }

    fn image(format: PixelFormat) -> Vec<(Option<usize>, usize, Vec<usize>, usize)> {
        let layout = ImageLayout::packed(format, 60, 4, StrideAlign::DMA).unwrap();
        let handles = [3].into_iter().collect();
        let tensor = Referenced { layout: Layout::Image(layout), handles };
        let pieces = pieces(&tensor, format.dtype()).unwrap();
        assert!(pieces.iter().all(|piece| piece.handle == 3));
        pieces.into_iter().map(|p| (p.plane, p.offset, p.dims, p.len)).collect()
    }

    #[test]
    fn planes_that_differ_are_pieces_of_their_own() {
        assert_eq!(image(PixelFormat::Rgba), [(None, 0, vec![4, 64, 4], 1024)]);
        assert_eq!(image(PixelFormat::Grey), [(None, 0, vec![4, 64], 256)]);
        assert_eq!(
            image(PixelFormat::Nv12),
            [(Some(0), 0, vec![4, 64], 256), (Some(1), 256, vec![2, 32, 2], 128)]
        );
        assert_eq!(image(PixelFormat::PlanarRgb), [(None, 0, vec![3, 4, 64], 768)]);
    }
}
