//! Tensors whose element type is a Rust type: a thin face of [`TensorDyn`].

use std::{
    marker::PhantomData,
    ops::{Deref, DerefMut},
};

use bytemuck::{TransparentWrapper, checked::try_cast_slice};
use half::f16;

use super::{Element, TensorDyn, TensorError, TensorMap};
use crate::{
    access::CpuAccess,
    layout::StridedLayout,
    memory::{AllocPolicy, MapError},
    shape::Shape,
};

/// A tensor of `T`. It derefs to its [`TensorDyn`].
///
/// ```
/// use tensor_core::{CpuAccess, Shape, Tensor, memory::AllocPolicy};
/// let shape = Shape::new(&[2, 3]).unwrap();
/// let tensor = Tensor::<f32>::new(&shape, &AllocPolicy::default(), CpuAccess::ReadWrite)?;
/// tensor.elements(CpuAccess::Write)?[5] = 0.5;
/// assert_eq!(tensor.elements(CpuAccess::Read)?[5], 0.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, TransparentWrapper)]
#[repr(transparent)]
#[transparent(TensorDyn)]
pub struct Tensor<T> {
    tensor: TensorDyn,
    element: PhantomData<T>,
}

impl<T: Element> Tensor<T> {
    /// A new tensor of zeros in the first memory that `policy` finds.
    ///
    /// # Errors
    /// As for [`TensorDyn::new`].
    pub fn new(
        shape: &Shape,
        policy: &AllocPolicy,
        access: CpuAccess,
    ) -> Result<Self, TensorError> {
        Ok(Self::wrap(TensorDyn::new(shape, T::DTYPE, policy, access)?))
    }

    /// The elements from the first to the last, for what `access` says.
    ///
    /// Of a dense tensor these are its elements in order; rows with padding have the padding
    /// between them, see [`TensorDyn::strides`].
    ///
    /// # Errors
    /// [`MapError::NotElements`] when the elements are not whole steps apart in one memory; else as
    /// for [`TensorDyn::map`].
    pub fn elements(&self, access: CpuAccess) -> Result<Elements<'_, T>, MapError> {
        let layout = self.tensor.strided().ok_or(MapError::NotElements)?;
        if !layout.is_element_aligned() {
            return Err(MapError::NotElements);
        }
        let map = self.tensor.map(access)?;
        let elements = Elements { map, layout, writable: access.writes(), element: PhantomData };
        // Mappings and heap memory are aligned for every element; lent bytes may not be.
        if elements.slice().is_some() { Ok(elements) } else { Err(MapError::NotElements) }
    }

    /// The tensor without its type.
    #[must_use]
    pub fn into_dyn(self) -> TensorDyn {
        self.tensor
    }
}

impl<T> Deref for Tensor<T> {
    type Target = TensorDyn;

    fn deref(&self) -> &TensorDyn {
        &self.tensor
    }
}

/// Mapped elements, until this is dropped.
#[derive(Debug)]
#[must_use = "the elements are reachable only while the guard lives"]
pub struct Elements<'a, T> {
    map: TensorMap<'a>,
    layout: StridedLayout,
    writable: bool,
    element: PhantomData<T>,
}

impl<T: Element> Elements<'_, T> {
    fn slice(&self) -> Option<&[T]> {
        try_cast_slice(self.map.memory(0)?.get(self.layout.bounds())?).ok()
    }

    /// The elements in order, in the longest runs that strides leave: all of a dense tensor at once,
    /// one row of an image after the other where rows are padded. Padding is never shown.
    ///
    /// ```
    /// use tensor_core::{CpuAccess, Shape, Tensor, memory::AllocPolicy};
    /// let shape = Shape::new(&[4, 6]).unwrap();
    /// let tensor = Tensor::<f32>::new(&shape, &AllocPolicy::default(), CpuAccess::ReadWrite)?;
    /// let part = tensor.slice(&[1..3, 2..5])?;
    /// let elements = part.as_f32().unwrap().elements(CpuAccess::Read)?;
    /// assert!(elements.rows().eq([[0.0; 3], [0.0; 3]]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn rows(&self) -> impl Iterator<Item = &[T]> {
        let (elements, first) = (self.slice().unwrap_or_default(), self.layout.bounds().start);
        let rows = self.layout.rows();
        let len = rows.row_bytes().checked_div(size_of::<T>()).unwrap_or_default();
        rows.filter_map(move |offset| {
            let start = offset.checked_sub(first)?.checked_div(size_of::<T>())?;
            elements.get(start..start.checked_add(len)?)
        })
    }

    /// The elements with the tensor's shape and strides.
    #[cfg(feature = "ndarray")]
    #[must_use]
    pub fn view(&self) -> Option<ndarray::ArrayViewD<'_, T>> {
        let view = ndarray::ArrayViewD::from_shape(self.forward(), self).ok()?;
        Some(reversed(view, self.layout.strides()))
    }

    /// The elements with the tensor's shape and strides, for writing; `None` also when they were
    /// mapped for reading, or when two indices lead to one element.
    #[cfg(feature = "ndarray")]
    #[must_use]
    pub fn view_mut(&mut self) -> Option<ndarray::ArrayViewMutD<'_, T>> {
        if !self.writable {
            return None;
        }
        let (forward, strides) = (self.forward(), self.layout.strides().clone());
        let view = ndarray::ArrayViewMutD::from_shape(forward, self).ok()?;
        Some(reversed(view, &strides))
    }

    /// The shape, and steps as if every axis led forward from the lowest element.
    #[cfg(feature = "ndarray")]
    fn forward(&self) -> ndarray::StrideShape<ndarray::IxDyn> {
        use ndarray::{IxDyn, ShapeBuilder};
        let step = |step: &isize| step.unsigned_abs().checked_div(size_of::<T>());
        let steps: Vec<usize> = self.layout.strides().iter().filter_map(step).collect();
        IxDyn(self.layout.shape()).strides(IxDyn(&steps))
    }
}

/// The view with those axes turned round that lead backwards.
#[cfg(feature = "ndarray")]
fn reversed<S: ndarray::RawData>(
    mut view: ndarray::ArrayBase<S, ndarray::IxDyn>,
    strides: &[isize],
) -> ndarray::ArrayBase<S, ndarray::IxDyn> {
    for (axis, step) in strides.iter().enumerate() {
        if *step < 0 {
            view.invert_axis(ndarray::Axis(axis));
        }
    }
    view
}

impl<T: Element> Deref for Elements<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.slice().unwrap_or_default()
    }
}

impl<T: Element> DerefMut for Elements<'_, T> {
    /// # Panics
    /// When the elements were mapped for reading.
    fn deref_mut(&mut self) -> &mut [T] {
        assert!(self.writable, "the elements were mapped for reading; ask for a writing access");
        let bounds = self.layout.bounds();
        let bytes = self.map.memory_mut(0).and_then(|bytes| bytes.get_mut(bounds));
        bytes.and_then(|bytes| bytemuck::try_cast_slice_mut(bytes).ok()).unwrap_or_default()
    }
}

impl TensorDyn {
    /// The tensor as one of `T`, when that is its dtype.
    #[must_use]
    pub fn as_typed<T: Element>(&self) -> Option<&Tensor<T>> {
        (self.dtype() == T::DTYPE).then(|| Tensor::wrap_ref(self))
    }

    /// The tensor as one of `T`.
    ///
    /// # Errors
    /// The tensor itself, when its dtype is another.
    #[expect(clippy::result_large_err, reason = "the error is the tensor, so that none is lost")]
    pub fn into_typed<T: Element>(self) -> Result<Tensor<T>, Self> {
        if self.dtype() == T::DTYPE { Ok(Tensor::wrap(self)) } else { Err(self) }
    }
}

/// The accessor of each dtype, by its name.
macro_rules! accessors {
    ($($name:ident: $element:ty;)*) => {
        impl TensorDyn { $(
            /// The tensor as one of this element type, when that is its dtype.
            #[must_use]
            pub fn $name(&self) -> Option<&Tensor<$element>> {
                self.as_typed()
            }
        )* }
    };
}

accessors! {
    as_u8: u8; as_i8: i8; as_u16: u16; as_i16: i16; as_u32: u32; as_i32: i32; as_u64: u64;
    as_i64: i64; as_f16: f16; as_f32: f32; as_f64: f64;
}
