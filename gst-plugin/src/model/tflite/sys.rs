//! The tables of TensorFlow Lite's schema, as far as they are read: each field by the offset that
//! `schema.fbs` gives it in its table's vtable (4 for the first, then 2 for each).
//!
//! The crate's verifier sees a file before anything of it is read, so what an accessor finds is of
//! the type that was verified at the same offset.

use flatbuffers::{
    Follow, ForwardsUOffset, InvalidFlatbuffer, Table, VOffsetT, Vector, Verifiable, Verifier,
    VerifierOptions, root_with_opts,
};

use crate::model::ModelError;

/// The most tensors of a model, and the deepest nesting of what is read.
const OPTIONS: VerifierOptions = VerifierOptions {
    max_depth: 16,
    max_tables: 1_000_000,
    max_apparent_size: 0x7fff_ffff,
    ignore_missing_null_terminator: false,
};

type Tables<T> = ForwardsUOffset<Vector<'static, ForwardsUOffset<T>>>;
type Numbers<T> = ForwardsUOffset<Vector<'static, T>>;

/// Declares a table: what is verified of it.
macro_rules! table {
    ($(#[$meta:meta])* $table:ident { $($name:literal: $field:ident = $kind:ty,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy)]
        pub(super) struct $table<'a>(Table<'a>);

        impl $table<'_> {
            $(const $field: VOffsetT = offset($name);)+
        }

        impl<'a> Follow<'a> for $table<'a> {
            type Inner = Self;

            unsafe fn follow(buf: &'a [u8], loc: usize) -> Self {
                // SAFETY: the caller promises a table at `loc`, as `Table::new` wants it.
                Self(unsafe { Table::new(buf, loc) })
            }
        }

        impl Verifiable for $table<'_> {
            fn run_verifier(v: &mut Verifier<'_, '_>, at: usize) -> Result<(), InvalidFlatbuffer> {
                let table = v.visit_table(at)?;
                $(let table = table.visit_field::<$kind>(stringify!($field), Self::$field, false)?;)+
                table.finish();
                Ok(())
            }
        }
    };
}

/// The vtable offset of the field with this number.
const fn offset(number: VOffsetT) -> VOffsetT {
    2_u16.saturating_mul(number).saturating_add(4)
}

table! {
    /// A model: its graphs.
    Model { 2: GRAPHS = Tables<Graph<'static>>, }
}

table! {
    /// A graph: its tensors, and which of them are its inputs.
    Graph { 0: TENSORS = Tables<Tensor<'static>>, 1: INPUTS = Numbers<i32>, }
}

table! {
    /// A tensor.
    Tensor {
        0: SHAPE = Numbers<i32>,
        1: TYPE = i8,
        3: NAME = ForwardsUOffset<&'static str>,
        4: QUANTIZATION = ForwardsUOffset<Quantization<'static>>,
        7: SIGNATURE = Numbers<i32>,
    }
}

table! {
    /// How a tensor's integers stand for real numbers.
    Quantization { 2: SCALE = Numbers<f32>, 3: ZERO_POINT = Numbers<i64>, 6: AXIS = i32, }
}

impl<'a> Model<'a> {
    pub(super) fn verified(bytes: &'a [u8]) -> Result<Self, ModelError> {
        root_with_opts::<Self>(&OPTIONS, bytes)
            .map_err(|error| ModelError::FlatBuffer(error.to_string()))
    }

    /// The first input of the first graph.
    pub(super) fn first_input(&self) -> Option<Tensor<'a>> {
        // SAFETY: verified as tables of graphs.
        let graphs = unsafe {
            self.0
                .get::<ForwardsUOffset<Vector<'a, ForwardsUOffset<Graph<'a>>>>>(Self::GRAPHS, None)
        }?;
        let graph = graphs.iter().next()?;
        // SAFETY: verified as numbers.
        let inputs =
            unsafe { graph.0.get::<ForwardsUOffset<Vector<'a, i32>>>(Graph::INPUTS, None) }?;
        // SAFETY: verified as tables of tensors.
        let tensors = unsafe {
            graph.0.get::<ForwardsUOffset<Vector<'a, ForwardsUOffset<Tensor<'a>>>>>(
                Graph::TENSORS,
                None,
            )
        }?;
        let first = usize::try_from(inputs.iter().next()?).ok()?;
        (first < tensors.len()).then(|| tensors.get(first))
    }
}

impl<'a> Tensor<'a> {
    pub(super) fn name(&self) -> Option<&'a str> {
        // SAFETY: verified as a string.
        unsafe { self.0.get::<ForwardsUOffset<&'a str>>(Self::NAME, None) }
    }

    pub(super) fn element_type(&self) -> i8 {
        // SAFETY: verified as this number.
        unsafe { self.0.get::<i8>(Self::TYPE, Some(0)) }.unwrap_or(0)
    }

    /// The dimensions, those of the signature first.
    pub(super) fn shape(&self) -> impl Iterator<Item = i32> + use<'a> {
        let numbers = |field| {
            // SAFETY: both fields were verified as numbers.
            unsafe { self.0.get::<ForwardsUOffset<Vector<'a, i32>>>(field, None) }
        };
        let signature = numbers(Self::SIGNATURE).filter(|signature| !signature.is_empty());
        signature.or_else(|| numbers(Self::SHAPE)).into_iter().flat_map(|dims| dims.iter())
    }

    /// Scales, zero points and the axis they belong to.
    pub(super) fn quantization(&self) -> Option<(Vec<f32>, Vec<i64>, i32)> {
        // SAFETY: verified as such a table.
        let table =
            unsafe { self.0.get::<ForwardsUOffset<Quantization<'a>>>(Self::QUANTIZATION, None) }?;
        // SAFETY: verified as numbers.
        let scales =
            unsafe { table.0.get::<ForwardsUOffset<Vector<'a, f32>>>(Quantization::SCALE, None) }?;
        // SAFETY: verified as numbers.
        let zero_points = unsafe {
            table.0.get::<ForwardsUOffset<Vector<'a, i64>>>(Quantization::ZERO_POINT, None)
        };
        // SAFETY: verified as this number.
        let axis = unsafe { table.0.get::<i32>(Quantization::AXIS, Some(0)) }.unwrap_or(0);
        let zero_points = zero_points.into_iter().flat_map(|zeros| zeros.iter()).collect();
        Some((scales.iter().collect(), zero_points, axis))
    }
}
