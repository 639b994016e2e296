//! NNStreamer's caps of one static tensor: `other/tensors, format=static, num_tensors=1, …`.
//!
//! NNStreamer writes dimensions innermost first; shapes here are outermost first. Only this module
//! turns one into the other. There are no strides in these caps: the tensor is dense.

use tensor_core::{DType, MAX_RANK, Shape};
use thiserror::Error;

/// NNStreamer's names of element types.
const TYPES: [(&str, DType); 11] = [
    ("uint8", DType::U8),
    ("int8", DType::I8),
    ("uint16", DType::U16),
    ("int16", DType::I16),
    ("uint32", DType::U32),
    ("int32", DType::I32),
    ("uint64", DType::U64),
    ("int64", DType::I64),
    ("float16", DType::F16),
    ("float32", DType::F32),
    ("float64", DType::F64),
];

/// Caps that are not those of one static tensor.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
#[error("{caps}: {field} is not that of one static tensor")]
pub struct TensorCapsError {
    /// The caps.
    pub caps: String,
    /// Which field is missing or has another value.
    pub field: &'static str,
}

/// NNStreamer's name of an element type.
#[must_use]
pub fn type_name(dtype: DType) -> Option<&'static str> {
    TYPES.iter().find(|(_, known)| *known == dtype).map(|(name, _)| *name)
}

/// A shape as NNStreamer writes it: innermost first.
///
/// ```
/// use gsttensor::tensor_caps::dimensions;
/// let shape = tensor_core::Shape::new(&[1, 480, 640, 3]).unwrap();
/// assert_eq!(dimensions(&shape), "3:640:480:1");
/// ```
#[must_use]
pub fn dimensions(shape: &Shape) -> String {
    let dims: Vec<_> = shape.iter().rev().map(ToString::to_string).collect();
    dims.join(":")
}

/// The shape that NNStreamer writes as `dimensions`; `None` for several tensors, a dimension of 0 or
/// more axes than a tensor has.
#[must_use]
pub fn shape(dimensions: &str) -> Option<Shape> {
    let parse = |dim: &str| dim.trim().parse::<usize>().ok().filter(|dim| *dim > 0);
    let dims = dimensions.rsplit(':').take(MAX_RANK.saturating_add(1)).map(parse);
    Shape::new(&dims.collect::<Option<Vec<_>>>()?)
}

/// The media type of NNStreamer's tensors.
pub(crate) const TENSORS: &str = "other/tensors";

/// The start of the caps of `count` static tensors.
pub(crate) fn fixed(count: i32) -> gst::caps::Builder<gst::caps::NoFeature> {
    gst::Caps::builder(TENSORS).field("format", "static").field("num_tensors", count)
}

/// The caps of one static tensor.
#[must_use]
pub fn caps(dtype: DType, shape: &Shape, framerate: gst::Fraction) -> gst::Caps {
    fixed(1)
        .field_if_some("types", type_name(dtype))
        .field("dimensions", dimensions(shape))
        .field("framerate", framerate)
        .build()
}

/// The dtype that NNStreamer has this name for.
#[must_use]
pub fn dtype(name: &str) -> Option<DType> {
    TYPES.iter().find(|(known, _)| *known == name).map(|(_, dtype)| *dtype)
}

/// The dtype and shape of caps of one static tensor.
///
/// # Errors
/// [`TensorCapsError`], with the field that is in the way.
pub fn parse(caps: &gst::CapsRef) -> Result<(DType, Shape), TensorCapsError> {
    let refuse = |field| TensorCapsError { caps: caps.to_string(), field };
    let structure = caps.structure(0).filter(|first| first.name() == TENSORS);
    let structure = structure.ok_or_else(|| refuse("name"))?;
    if structure.get::<&str>("format") != Ok("static") {
        return Err(refuse("format"));
    }
    if structure.get::<i32>("num_tensors") != Ok(1) {
        return Err(refuse("num_tensors"));
    }
    let name = structure.get::<&str>("types").map_err(|_| refuse("types"))?;
    let dims = structure.get::<&str>("dimensions").ok().and_then(shape);
    Ok((dtype(name).ok_or_else(|| refuse("types"))?, dims.ok_or_else(|| refuse("dimensions"))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// G12: one order here, converted at the border to NNStreamer and nowhere else.
    #[test]
    fn dimensions_are_innermost_first() {
        gst::init().unwrap();
        let image = Shape::new(&[1, 480, 640, 3]).unwrap();
        assert_eq!(dimensions(&image), "3:640:480:1");
        assert_eq!(shape("3:640:480:1"), Some(image.clone()));
        for (_, dtype) in TYPES {
            let caps = caps(dtype, &image, gst::Fraction::new(30, 1));
            assert_eq!(parse(&caps), Ok((dtype, image.clone())), "{caps}");
        }
        let theirs = "other/tensors,format=static,num_tensors=1,types=uint8,\
                      dimensions=3:640:480:1,framerate=30/1";
        let theirs = theirs.parse::<gst::Caps>().unwrap();
        assert_eq!(theirs, caps(DType::U8, &image, gst::Fraction::new(30, 1)));
    }

    #[test]
    fn other_caps_are_refused_by_the_field() {
        gst::init().unwrap();
        let field = |caps: &str| parse(&caps.parse::<gst::Caps>().unwrap()).unwrap_err().field;
        assert_eq!(field("video/x-raw,format=RGB"), "name");
        assert_eq!(field("other/tensors,format=flexible"), "format");
        let two = "other/tensors,format=static,num_tensors=2,types=uint8,dimensions=3:4";
        assert_eq!(field(two), "num_tensors");
        let one = "other/tensors,format=static,num_tensors=1";
        assert_eq!(field(&format!("{one},types=bool,dimensions=(string)3:4")), "types");
        for dims in ["", "3:0:4", "3:x", "1:1:1:1:1:1:1:1:1:1:1:1", "3:4,3:4"] {
            let caps = format!("{one},types=uint8,dimensions=(string)\"{dims}\"");
            assert_eq!(field(&caps), "dimensions", "{dims}");
        }
    }
}
