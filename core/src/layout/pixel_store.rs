//! A row stride as OpenGL takes it: `glPixelStorei` knows no bytes between rows, only a row length in
//! pixels and an alignment.

/// The two numbers that make `glTexImage2D`, `glReadPixels` and the like step by a row stride.
///
/// Left at GL's own (4, 0) they are wrong for most rows of three-byte pixels: GL then reads or
/// writes past the last row, or shears the image.
///
/// ```
/// use tensor_core::layout::GlPixelStore;
/// let rgb = GlPixelStore::of_row_stride(128, 3).unwrap();
/// assert_eq!((rgb.row_length, rgb.alignment), (42, 4));
/// assert_eq!(GlPixelStore::of_row_stride(127, 3), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GlPixelStore {
    /// `GL_UNPACK_ROW_LENGTH` or `GL_PACK_ROW_LENGTH`, in pixels.
    pub row_length: i32,
    /// `GL_UNPACK_ALIGNMENT` or `GL_PACK_ALIGNMENT`, in bytes: 1, 2, 4 or 8.
    pub alignment: i32,
}

impl GlPixelStore {
    /// The numbers for rows `row_stride` bytes apart, of pixels of `pixel_bytes`.
    ///
    /// `None` for a stride that GL cannot step by: one that is neither whole pixels nor whole pixels
    /// rounded up to 2, 4 or 8 bytes. A stride that is a multiple of eight always can, up to
    /// eight-byte pixels.
    #[must_use]
    pub fn of_row_stride(row_stride: usize, pixel_bytes: usize) -> Option<Self> {
        let pixels = row_stride.checked_div(pixel_bytes)?;
        let row_bytes = pixels.checked_mul(pixel_bytes)?;
        let steps_by_stride =
            |alignment: &usize| row_bytes.checked_next_multiple_of(*alignment) == Some(row_stride);
        let alignment = [1, 2, 4, 8].into_iter().find(steps_by_stride)?;
        // A row length of none means the image's width to GL.
        let row_length = i32::try_from(pixels).ok().filter(|pixels| *pixels > 0)?;
        Some(Self { row_length, alignment: i32::try_from(alignment).ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes between rows by the formula of the OpenGL specification (8.4.4.1).
    fn gl_steps(store: GlPixelStore, component_bytes: usize, components: usize) -> usize {
        let length = usize::try_from(store.row_length).unwrap();
        let alignment = usize::try_from(store.alignment).unwrap();
        if component_bytes >= alignment {
            components * length * component_bytes
        } else {
            alignment * (component_bytes * components * length).div_ceil(alignment)
        }
    }

    // G18
    #[test]
    fn what_gl_steps_by_is_the_stride_it_was_made_of() {
        for component_bytes in [1, 2, 4] {
            for components in 1..=4 {
                let pixel_bytes = component_bytes * components;
                for stride in pixel_bytes..=400 {
                    if let Some(store) = GlPixelStore::of_row_stride(stride, pixel_bytes) {
                        let steps = gl_steps(store, component_bytes, components);
                        assert_eq!(steps, stride, "{pixel_bytes} bytes a pixel: {store:?}");
                    }
                }
            }
        }
    }

    // G18
    #[test]
    fn rows_of_whole_pixels_and_of_whole_64_bytes_are_always_said() {
        for pixel_bytes in 1..=8 {
            for pixels in 1..=100 {
                let tight = GlPixelStore::of_row_stride(pixels * pixel_bytes, pixel_bytes);
                assert_eq!(tight.map(|store| store.alignment), Some(1));
                assert!(GlPixelStore::of_row_stride(pixels * 64, pixel_bytes).is_some());
            }
        }
    }

    #[test]
    fn what_gl_cannot_say_is_none() {
        for (stride, pixel_bytes) in [(0, 3), (2, 3), (127, 3), (usize::MAX, 1), (64, 0)] {
            assert_eq!(GlPixelStore::of_row_stride(stride, pixel_bytes), None);
        }
    }
}
