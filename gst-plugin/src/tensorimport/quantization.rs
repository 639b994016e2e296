//! The `quantization` property: a structure of numbers, read.

use gst::glib;
use tensor_core::{Quantization, QuantizationError};
use thiserror::Error;

/// A structure that is no quantization.
#[derive(Debug, Error)]
pub(super) enum QuantizationFieldError {
    /// Numbers that mean nothing.
    #[error("quantization {given}: {error}")]
    Numbers {
        /// The structure.
        given: gst::Structure,
        /// Why.
        error: QuantizationError,
    },
    /// A field that is missing or of another type.
    #[error(
        "quantization {given}: the field {field} must be {expected}, \
         as in \"quantization,scale=0.0039,zero-point=0\""
    )]
    Field {
        /// The structure.
        given: gst::Structure,
        /// Its field.
        field: &'static str,
        /// What it should hold.
        expected: &'static str,
    },
}

/// The fields `scale`, `zero-point` and `axis`, each of the first two alone or as an array.
pub(super) fn quantization(given: &gst::Structure) -> Result<Quantization, QuantizationFieldError> {
    let refused =
        |field, expected| QuantizationFieldError::Field { given: given.clone(), field, expected };
    let scales = values::<f64>(given, "scale").ok().flatten();
    let scales = scales.ok_or_else(|| refused("scale", "a double or an array of doubles"))?;
    let zero_points = values::<i32>(given, "zero-point")
        .map_err(|()| refused("zero-point", "an int or an array of ints"))?;
    let axis = match given.get_optional::<i32>("axis").map(|axis| axis.map(usize::try_from)) {
        Ok(None) => None,
        Ok(Some(Ok(axis))) => Some(axis),
        Ok(Some(Err(_))) | Err(_) => return Err(refused("axis", "an int from 0 on")),
    };
    Quantization::new(
        scales.into_iter().map(narrow).collect(),
        zero_points.unwrap_or_default(),
        axis,
    )
    .map_err(|error| QuantizationFieldError::Numbers { given: given.clone(), error })
}

/// The wire keeps single precision.
#[expect(clippy::as_conversions, reason = "the one way to round a double to the nearest float")]
fn narrow(scale: f64) -> f32 {
    scale as f32
}

/// A field's value, or those of its array; `Ok(None)` without the field.
fn values<T>(of: &gst::Structure, field: &str) -> Result<Option<Vec<T>>, ()>
where
    T: for<'v> glib::value::FromValue<'v>,
{
    let Ok(value) = of.value(field) else { return Ok(None) };
    let one = |value: &glib::Value| value.get::<T>().map_err(|_| ());
    match value.get::<gst::Array>() {
        Ok(array) => array.iter().map(|value| one(value)).collect::<Result<_, _>>().map(Some),
        Err(_) => one(value).map(|value| Some(vec![value])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quantized(text: &str) -> Result<Quantization, QuantizationFieldError> {
        gst::init().unwrap();
        quantization(&text.parse().unwrap())
    }

    #[test]
    fn a_quantization_is_read_from_its_fields() {
        let one = quantized("quantization,scale=0.5,zero-point=128").unwrap();
        assert_eq!(one, Quantization::per_tensor(0.5, 128).unwrap());
        let many = quantized("q,scale=<0.5,0.25>,zero-point=<1,2>,axis=2").unwrap();
        assert_eq!(many, Quantization::per_channel(vec![0.5, 0.25], vec![1, 2], 2).unwrap());
        let symmetric = quantized("q,scale=0.5").unwrap();
        assert_eq!(symmetric, Quantization::per_tensor_symmetric(0.5).unwrap());
    }

    #[test]
    fn a_quantization_that_means_nothing_is_refused_by_field() {
        for (text, said) in [
            ("q", "field scale"),
            ("q,scale=wide", "field scale"),
            ("q,scale=0.5,zero-point=x", "field zero-point"),
            ("q,scale=<0.5,0.25>,axis=-1", "field axis"),
            ("q,scale=-1.0", "scale"),
        ] {
            let error = quantized(text).unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
