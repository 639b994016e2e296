//! The JSON form of a normalization: a preset's name, or `mean` and `std`.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use super::{Normalization, NormalizationPreset};

#[derive(Serialize)]
#[serde(untagged)]
enum Written {
    Preset(NormalizationPreset),
    Numbers { mean: [f32; 3], std: [f32; 3] },
}

impl Serialize for Normalization {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let numbers = || Written::Numbers { mean: self.mean(), std: self.std() };
        self.as_preset().map_or_else(numbers, Written::Preset).serialize(to)
    }
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a preset's name, or an object with mean and std")]
enum Read {
    Name(String),
    Numbers { mean: Vec<f32>, std: Vec<f32> },
}

impl<'de> Deserialize<'de> for Normalization {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match Read::deserialize(from)? {
            Read::Name(name) => {
                let preset: NormalizationPreset = name.parse().map_err(D::Error::custom)?;
                Ok(preset.into())
            }
            Read::Numbers { mean, std } => Self::mean_std(&mean, &std).map_err(D::Error::custom),
        }
    }
}
