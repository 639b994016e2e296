//! A model's whole preprocessing.

use super::{
    ContentRegion, ContentRegionError, ContentRegionSource, FitMode, Interpolation,
    LetterboxPlacement, Normalization, PadSpace, letterbox_rect,
};

/// How a model wants its input made, as its metadata says it.
///
/// The default is what metadata that says nothing means: values of 0 to 1, a centred letterbox
/// padded with 114, bilinear.
///
/// ```
/// use tensor_core::preprocess::{FitMode, PreprocessSpec};
/// let mut spec = PreprocessSpec::default();
/// assert_eq!(spec.pad, [114.0; 3]);
/// spec.fit = FitMode::Stretch;
/// spec.size = Some((640, 640));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default))]
#[non_exhaustive]
pub struct PreprocessSpec {
    /// What is done to pixel values.
    pub normalization: Normalization,
    /// How the image is fit into the input.
    pub fit: FitMode,
    /// Where a letterboxed image lies; of no meaning when it is stretched.
    pub placement: LetterboxPlacement,
    /// Red, green and blue of a letterbox's padding, in the space of `pad_space`.
    pub pad: [f32; 3],
    /// What the numbers of `pad` are.
    pub pad_space: PadSpace,
    /// How samples between pixels were made when the model was trained.
    pub interpolation: Interpolation,
    /// Width and height of the input in pixels, where the metadata says it.
    pub size: Option<(usize, usize)>,
}

impl Default for PreprocessSpec {
    fn default() -> Self {
        Self {
            normalization: Normalization::unsigned(),
            fit: FitMode::Letterbox,
            placement: LetterboxPlacement::Center,
            pad: [114.0; 3],
            pad_space: PadSpace::Pixel,
            interpolation: Interpolation::Bilinear,
            size: None,
        }
    }
}

impl PreprocessSpec {
    /// The default; change its public fields.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The padding as the model sees it.
    ///
    /// ```
    /// use tensor_core::preprocess::{PadSpace, PreprocessSpec};
    /// let mut spec = PreprocessSpec::default();
    /// assert_eq!(spec.pad_seen(), [114.0 / 255.0; 3]);
    /// spec.pad_space = PadSpace::Normalized;
    /// assert_eq!(spec.pad_seen(), [114.0; 3]);
    /// ```
    #[must_use]
    pub fn pad_seen(&self) -> [f32; 3] {
        match self.pad_space {
            PadSpace::Pixel => self.normalization.apply(self.pad),
            PadSpace::Normalized => self.pad,
        }
    }

    /// The padding in pixel values, which need be neither whole nor within 0 to 255.
    #[must_use]
    pub fn pad_pixel(&self) -> [f32; 3] {
        match self.pad_space {
            PadSpace::Pixel => self.pad,
            PadSpace::Normalized => self.normalization.invert(self.pad),
        }
    }
}

impl ContentRegionSource for PreprocessSpec {
    fn content_region(
        &self,
        src_width: usize,
        src_height: usize,
        dst_width: usize,
        dst_height: usize,
    ) -> Result<ContentRegion, ContentRegionError> {
        Ok(match self.fit {
            FitMode::Stretch => ContentRegion::full(dst_width, dst_height),
            FitMode::Letterbox => {
                let rect =
                    letterbox_rect(src_width, src_height, dst_width, dst_height, self.placement);
                ContentRegion::new(rect, dst_width, dst_height)
            }
        })
    }
}
