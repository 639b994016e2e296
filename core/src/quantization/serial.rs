//! The JSON form: `scale`, `zero_point` and `axis`, as model metadata writes them.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Quantization;

/// Model metadata writes one value bare and several as a list.
#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    fn into_vec(self) -> Vec<T> {
        match self {
            Self::One(value) => vec![value],
            Self::Many(values) => values,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename = "Quantization")]
struct Read {
    scale: OneOrMany<f32>,
    #[serde(default)]
    zero_point: Option<OneOrMany<i32>>,
    #[serde(default)]
    axis: Option<usize>,
}

#[derive(Serialize)]
#[serde(rename = "Quantization")]
struct Written<'a> {
    scale: &'a [f32],
    #[serde(skip_serializing_if = "<[i32]>::is_empty")]
    zero_point: &'a [i32],
    #[serde(skip_serializing_if = "Option::is_none")]
    axis: Option<usize>,
}

impl Serialize for Quantization {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let (scale, zero_point, axis) = (self.scales(), self.zero_points(), self.axis());
        Written { scale, zero_point, axis }.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Quantization {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let Read { scale, zero_point, axis } = Read::deserialize(from)?;
        let zero_points = zero_point.map_or_else(Vec::new, OneOrMany::into_vec);
        Self::new(scale.into_vec(), zero_points, axis).map_err(serde::de::Error::custom)
    }
}
