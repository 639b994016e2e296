//! The way back from a model's input to the frame it was made of.

use super::ContentRegion;

/// Where the pixels of a model's input come from.
///
/// ```
/// use tensor_core::{preprocess::{ContentRegion, Origin}, shape::Region};
/// // The right half of a frame of 1280x720, letterboxed into 640x640.
/// let content = ContentRegion::new(Region::new(35, 0, 569, 640), 640, 640);
/// let taken = ContentRegion::new(Region::new(640, 0, 640, 720), 1280, 720);
/// let origin = Origin { content, taken: Some(taken) };
/// assert_eq!(origin.to_frame(content.normalized()), [0.5, 0.0, 1.0, 1.0]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Where the image lies in the input.
    pub content: ContentRegion,
    /// Which part of the frame the image is; `None` where only the image is known.
    pub taken: Option<ContentRegion>,
}

impl Origin {
    /// A box that a model found, given as parts of its input, as parts of the whole frame: of the
    /// image where the frame is not known. `[xmin, ymin, xmax, ymax]`, held to what was taken.
    #[must_use]
    pub fn to_frame(&self, found: [f32; 4]) -> [f32; 4] {
        let image = self.content.unletter(found);
        let Some(taken) = self.taken else { return image };
        let [left, top, right, bottom] = taken.normalized();
        let [x0, y0, x1, y1] = image;
        let along = |part: f32, from: f32, to: f32| from + part * (to - from);
        [
            along(x0, left, right),
            along(y0, top, bottom),
            along(x1, left, right),
            along(y1, top, bottom),
        ]
    }
}
