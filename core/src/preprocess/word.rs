//! The choices of a preprocessing, one word each.

use crate::vocabulary::vocabulary;

vocabulary! {
    /// Where a letterboxed image lies in its destination.
    #[derive(Default)]
    LetterboxPlacement {
        /// In the middle; an odd pixel of padding goes to the right or to the bottom.
        #[default]
        Center = 0, "center";
        /// At the top left corner; all padding is to the right or at the bottom.
        TopLeft = 1, "topleft";
    }
}

vocabulary! {
    /// How an image of another aspect is fit into its destination.
    #[derive(Default)]
    FitMode {
        /// Each axis is scaled by itself; the destination is filled.
        #[default]
        Stretch = 0, "stretch";
        /// The aspect is kept; what remains is padded.
        Letterbox = 1, "letterbox";
    }
}

vocabulary! {
    /// How samples between pixels are made.
    #[derive(Default)]
    Interpolation {
        /// Two taps an axis, at half pixel centres, at every scale.
        #[default]
        Bilinear = 0, "bilinear";
        /// The nearest pixel.
        Nearest = 1, "nearest";
        /// Four taps an axis.
        Bicubic = 2, "bicubic";
        /// The mean of the pixels covered.
        Area = 3, "area";
    }
}

vocabulary! {
    /// What the numbers of a padding colour are.
    #[derive(Default)]
    PadSpace {
        /// Pixel values, 0 to 255, that are normalized as the image is.
        #[default]
        Pixel = 0, "pixel";
        /// Values of the model's input, written as they are.
        Normalized = 1, "normalized";
    }
}

impl Interpolation {
    /// The filter in place of this one where there are but two, as on a GPU or in a camera's scaler:
    /// nearest for nearest, bilinear for all others. Who falls back says so.
    ///
    /// [`convert`](crate::convert) has all four and falls back to none.
    ///
    /// ```
    /// use tensor_core::preprocess::Interpolation;
    /// assert_eq!(Interpolation::Area.supported(), Interpolation::Bilinear);
    /// ```
    #[must_use]
    pub const fn supported(self) -> Self {
        match self {
            Self::Nearest => Self::Nearest,
            Self::Bilinear | Self::Bicubic | Self::Area => Self::Bilinear,
        }
    }
}

/// How an image is fit, with the colour of its padding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum Fit {
    /// Each axis is scaled by itself; the destination is filled.
    #[default]
    Stretch,
    /// The aspect is kept; what remains is padded.
    Letterbox {
        /// Red, green, blue and alpha of the padding, 0 to 255.
        pad: [u8; 4],
    },
}

impl Fit {
    /// The same without the colour.
    #[must_use]
    pub const fn mode(self) -> FitMode {
        match self {
            Self::Stretch => FitMode::Stretch,
            Self::Letterbox { .. } => FitMode::Letterbox,
        }
    }
}
