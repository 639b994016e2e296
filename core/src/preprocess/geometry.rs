//! Where an image lies in its destination.

use thiserror::Error;

use super::LetterboxPlacement;
use crate::shape::Region;

/// The rectangle that an image takes up in a destination of another aspect when its own is kept.
///
/// The axis that is scaled less is filled; the other is `round(destination * ratio)`, half upwards,
/// and at least one pixel. An image or a destination without pixels fills the destination. All
/// sizes are in pixels.
///
/// ```
/// use tensor_core::{preprocess::{LetterboxPlacement, letterbox_rect}, shape::Region};
/// let rect = letterbox_rect(1280, 720, 640, 640, LetterboxPlacement::Center);
/// assert_eq!(rect, Region::new(0, 140, 640, 360));
/// let rect = letterbox_rect(1280, 720, 640, 640, LetterboxPlacement::TopLeft);
/// assert_eq!(rect, Region::new(0, 0, 640, 360));
/// ```
#[must_use]
pub fn letterbox_rect(
    src_width: usize,
    src_height: usize,
    dst_width: usize,
    dst_height: usize,
    placement: LetterboxPlacement,
) -> Region {
    let whole = Region::new(0, 0, dst_width, dst_height);
    if Region::new(0, 0, src_width, src_height).is_empty() || whole.is_empty() {
        return whole;
    }
    let (width, height) = if is_wider((src_width, src_height), (dst_width, dst_height)) {
        (dst_width, scaled(dst_width, src_height, src_width).min(dst_height))
    } else {
        (scaled(dst_height, src_width, src_height).min(dst_width), dst_height)
    };
    let (x, y) = match placement {
        LetterboxPlacement::Center => {
            (dst_width.abs_diff(width) / 2, dst_height.abs_diff(height) / 2)
        }
        LetterboxPlacement::TopLeft => (0, 0),
    };
    Region { x, y, width, height }
}

/// Whether the first size is wider for its height than the second.
fn is_wider(first: (usize, usize), second: (usize, usize)) -> bool {
    product(first.0, second.1) > product(second.0, first.1)
}

/// `round(length * above / below)`, half upwards, at least 1; `below` is not 0.
fn scaled(length: usize, above: usize, below: usize) -> usize {
    // Twice a product of two 64 bit sizes can pass 128 bits; then the quotient of the halves, which
    // is off by less than a pixel, is the answer.
    let exact = product(length, above).checked_mul(2).and_then(|twice| {
        let half_up = twice.checked_add(wide(below))?;
        half_up.checked_div(wide(below).checked_mul(2)?)
    });
    let rough = product(length, above).checked_div(wide(below)).unwrap_or(1);
    usize::try_from(exact.unwrap_or(rough)).unwrap_or(usize::MAX).max(1)
}

fn product(a: usize, b: usize) -> u128 {
    // Two sizes of 64 bits have a product of 128.
    wide(a).saturating_mul(wide(b))
}

#[expect(clippy::as_conversions, reason = "no usize is wider than 128 bits")]
const fn wide(size: usize) -> u128 {
    size as u128
}

/// Takes a letterbox off a box: from parts of the destination to parts of the image in it.
///
/// Both are `[xmin, ymin, xmax, ymax]`, the box and the `content` as parts of the destination, as
/// [`ContentRegion::normalized`] has them. The corners are put in order first, the result is held
/// to 0 to 1, and an axis along which the content has no extent is only moved, not scaled.
///
/// ```
/// use tensor_core::preprocess::unletter_norm;
/// let content = [0.0, 0.25, 1.0, 0.75];
/// assert_eq!(unletter_norm([0.5, 0.5, 1.0, 0.75], content), [0.5, 0.5, 1.0, 1.0]);
/// ```
#[must_use]
pub fn unletter_norm(found: [f32; 4], content: [f32; 4]) -> [f32; 4] {
    let [x0, y0, x1, y1] = found;
    let [left, top, right, bottom] = content;
    let along = |value: f32, from: f32, to: f32| {
        let scale = if to > from { 1.0 / (to - from) } else { 1.0 };
        ((value - from) * scale).clamp(0.0, 1.0)
    };
    [
        along(x0.min(x1), left, right),
        along(y0.min(y1), top, bottom),
        along(x0.max(x1), left, right),
        along(y0.max(y1), top, bottom),
    ]
}

/// Where an image lies in its destination, in pixels and as parts of the destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentRegion {
    pixels: Region,
    dst_width: usize,
    dst_height: usize,
}

impl ContentRegion {
    /// The rectangle `pixels` of a destination of `dst_width` by `dst_height` pixels.
    ///
    /// ```
    /// use tensor_core::{preprocess::ContentRegion, shape::Region};
    /// let content = ContentRegion::new(Region::new(0, 140, 640, 360), 640, 640);
    /// assert_eq!(content.normalized(), [0.0, 0.21875, 1.0, 0.78125]);
    /// ```
    #[must_use]
    pub const fn new(pixels: Region, dst_width: usize, dst_height: usize) -> Self {
        Self { pixels, dst_width, dst_height }
    }

    /// An image that fills a destination of `dst_width` by `dst_height` pixels.
    #[must_use]
    pub const fn full(dst_width: usize, dst_height: usize) -> Self {
        Self::new(Region::new(0, 0, dst_width, dst_height), dst_width, dst_height)
    }

    /// The rectangle in pixels of the destination.
    #[must_use]
    pub const fn pixels(&self) -> Region {
        self.pixels
    }

    /// Width and height of the destination in pixels.
    #[must_use]
    pub const fn size(&self) -> (usize, usize) {
        (self.dst_width, self.dst_height)
    }

    /// The rectangle as parts of the destination: `[xmin, ymin, xmax, ymax]`, 0 to 1.
    #[must_use]
    pub fn normalized(&self) -> [f32; 4] {
        if self.is_full() {
            return [0.0, 0.0, 1.0, 1.0];
        }
        let part = |position: usize, of: usize| float(position) / float(of.max(1));
        let Region { x, y, width, height } = self.pixels;
        [
            part(x, self.dst_width),
            part(y, self.dst_height),
            part(x.saturating_add(width), self.dst_width),
            part(y.saturating_add(height), self.dst_height),
        ]
    }

    /// Whether the image fills the destination.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.pixels == Region::new(0, 0, self.dst_width, self.dst_height)
    }

    /// The rectangle as parts, unless the image fills the destination.
    #[must_use]
    pub fn letterboxed(&self) -> Option<[f32; 4]> {
        (!self.is_full()).then(|| self.normalized())
    }

    /// A box given as parts of the destination, as parts of the image: see [`unletter_norm`].
    #[must_use]
    pub fn unletter(&self, found: [f32; 4]) -> [f32; 4] {
        unletter_norm(found, self.normalized())
    }
}

#[expect(clippy::as_conversions, reason = "rounds to the nearest float; sizes to 2^24 are exact")]
const fn float(size: usize) -> f32 {
    size as f32
}

/// What knows where it puts an image: a [`PreprocessSpec`](super::PreprocessSpec), or a converter's
/// options. A decoder of a model's output takes it, to find the way back to the image.
pub trait ContentRegionSource {
    /// Where an image of `src_width` by `src_height` pixels lies in a destination of `dst_width`
    /// by `dst_height`.
    ///
    /// # Errors
    /// [`ContentRegionError`] when the source cannot put such an image there.
    fn content_region(
        &self,
        src_width: usize,
        src_height: usize,
        dst_width: usize,
        dst_height: usize,
    ) -> Result<ContentRegion, ContentRegionError>;
}

/// Why there is no content region.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContentRegionError {
    /// The part of the image to be taken is not in the image.
    #[error("crop: expected a rectangle within {width}x{height}, got {crop}")]
    CropOutOfBounds {
        /// The rectangle asked for.
        crop: Region,
        /// Width of the image in pixels.
        width: usize,
        /// Height of the image in pixels.
        height: usize,
    },
}
