//! Properties as a table of their fields and of what is said of them, and the enums among them.

use gst::glib::{self, prelude::*};

/// A value that a property holds.
pub(crate) trait Field {
    /// The value.
    fn get(&self) -> glib::Value;

    /// Takes a value of the property's type; any other is not taken.
    fn set(&mut self, value: &glib::Value);
}

impl<T: ToValue + for<'v> glib::value::FromValue<'v>> Field for T {
    fn get(&self) -> glib::Value {
        self.to_value()
    }

    fn set(&mut self, value: &glib::Value) {
        if let Ok(value) = value.get() {
            *self = value;
        }
    }
}

/// A property whose value is a field of `S`.
#[derive(Debug)]
pub(crate) struct Property<S> {
    pub(crate) spec: glib::ParamSpec,
    pub(crate) field: fn(&mut S) -> &mut dyn Field,
}

/// The field of a property; `None` for one that is not in the table.
pub(crate) fn field<'s, S>(
    table: &[Property<S>],
    settings: &'s mut S,
    name: &str,
) -> Option<&'s mut dyn Field> {
    let property = table.iter().find(|property| property.spec.name() == name)?;
    Some((property.field)(settings))
}

/// In place of the standard macro inside `glib::Enum`, imported as `format`. Where another copy of
/// this code has taken a type's name the derive picks between a literal and a `String`, which does
/// not compile: made one here.
macro_rules! leaked {
    ($($part:tt)*) => {
        &*std::format!($($part)*).leak()
    };
}

pub(crate) use leaked;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_goes_to_its_field_and_no_other_type_does() {
        let mut settings = (3_u32, true);
        let table: [Property<(u32, bool)>; 2] = [
            Property {
                spec: glib::ParamSpecUInt::builder("count").build(),
                field: |settings| &mut settings.0,
            },
            Property {
                spec: glib::ParamSpecBoolean::builder("whether").build(),
                field: |settings| &mut settings.1,
            },
        ];
        field(&table, &mut settings, "count").unwrap().set(&7_u32.to_value());
        field(&table, &mut settings, "whether").unwrap().set(&7_u32.to_value());
        assert_eq!(settings, (7, true));
        assert_eq!(field(&table, &mut settings, "count").unwrap().get().get(), Ok(7_u32));
        assert!(field(&table, &mut settings, "other").is_none());
    }
}
