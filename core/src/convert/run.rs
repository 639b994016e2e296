//! A converter: planned once, run for every frame.

use std::{
    ops::Range,
    sync::{Mutex, PoisonError},
};

use arrayvec::ArrayVec;

use super::{
    ConvertError, ConvertOptions, Destination, MAX_THREADS, RunError, Source,
    band::{Band, bands},
    fast,
    plan::Plan,
    reference,
    target::Target,
    write,
};
use crate::{
    format::MAX_PLANES,
    preprocess::{ContentRegion, Origin, PreprocessSpec},
    shape::Region,
    sys::{
        cpu::{self, Work},
        crew::Crew,
    },
    tensor::{Layout, MappedPlane, TensorDyn},
};

/// One for each thread.
type Each<T> = ArrayVec<T, MAX_THREADS>;

/// Makes a model's input of a frame, again and again.
///
/// See the [module](super) for an example and for the numbers.
#[derive(Debug)]
pub struct Converter {
    plan: Plan,
    /// The rows of each thread.
    rows: Each<Range<usize>>,
    scratch: Each<Scratch>,
    crew: Crew,
}

/// What a thread needs on the way of a row.
#[derive(Debug)]
struct Scratch {
    /// Pixel values.
    pixels: Vec<u8>,
    fast: Option<fast::Scratch>,
}

impl Scratch {
    fn new(plan: &Plan) -> Self {
        let row = plan.content.pixels().width.saturating_mul(plan.colors.outputs);
        Self { pixels: vec![0; row], fast: plan.fast.as_ref().map(fast::Kernel::scratch) }
    }
}

impl Converter {
    /// Plans the conversion of frames like `source`, as `spec` says, into inputs like
    /// `destination`. Everything is allocated here.
    ///
    /// # Errors
    /// [`ConvertError`] for what cannot be done, with the numbers.
    pub fn new(
        source: &Source,
        spec: &PreprocessSpec,
        destination: &Destination,
        options: &ConvertOptions,
    ) -> Result<Self, ConvertError> {
        let plan = Plan::new(source, spec, destination, options)?;
        let crew = crew(options.threads)?;
        let (rows, scratch) = each_thread(&plan, options.threads);
        Ok(Self { plan, rows, scratch, crew })
    }

    /// Plans anew for frames like `source`, into inputs as before. The threads stay, if the options
    /// want as many: what costs more than a plan is theirs.
    ///
    /// # Errors
    /// As [`new`](Self::new), and then all is as before.
    ///
    /// ```
    /// use tensor_core::{PixelFormat, PreprocessSpec};
    /// use tensor_core::convert::{ConvertOptions, Converter, Destination, Source};
    /// let (spec, options) = (PreprocessSpec::default(), ConvertOptions::default().with_threads(2));
    /// let wanted = Destination::new(64, 64).with_dtype(tensor_core::DType::F32);
    /// let source = Source::new(PixelFormat::Nv12, 1280, 720);
    /// let mut converter = Converter::new(&source, &spec, &wanted, &options)?;
    /// converter.replan(&Source { width: 640, ..source }, &spec, &options)?;
    /// assert_eq!(converter.source().width, 640);
    /// # Ok::<(), tensor_core::convert::ConvertError>(())
    /// ```
    pub fn replan(
        &mut self,
        source: &Source,
        spec: &PreprocessSpec,
        options: &ConvertOptions,
    ) -> Result<(), ConvertError> {
        let plan = Plan::new(source, spec, &self.plan.destination, options)?;
        if options.threads != self.rows.len() {
            self.crew = crew(options.threads)?;
        }
        (self.rows, self.scratch) = each_thread(&plan, options.threads);
        self.plan = plan;
        Ok(())
    }

    /// Converts `frame` into `input`. Both may have any strides; neither is allocated or kept.
    ///
    /// # Errors
    /// [`RunError`] when either is not what was planned for, or cannot be mapped.
    pub fn run(&mut self, frame: &TensorDyn, input: &TensorDyn) -> Result<(), RunError> {
        let Source { format, width, height, .. } = self.plan.source;
        let got = match frame.layout() {
            Layout::Image(image) => Some((image.format(), image.width(), image.height())),
            Layout::Batch(_) | Layout::Strided(_) => None,
        };
        if got != Some((format, width, height)) {
            return Err(RunError::Source { format, width, height, got });
        }
        let target = Target::new(input, &self.plan.destination)?;
        if frame.aliases(input) {
            return Err(RunError::InPlace);
        }
        let source = |error| RunError::Map { what: "source", error };
        let destination = |error| RunError::Map { what: "destination", error };
        let read = frame.map_read().map_err(source)?;
        let mut written = input.map_write().map_err(destination)?;
        let planes: ArrayVec<MappedPlane<'_>, MAX_PLANES> = read.planes().collect();
        let bands = bands(&target, written.memories_mut(), &self.rows)?;
        let (plan, planes) = (&self.plan, planes.as_slice());
        let shares = bands.into_iter().zip(&mut self.scratch);
        let shares: ArrayVec<_, MAX_THREADS> = shares
            .map(|(band, scratch)| Mutex::new(Share { plan, planes, band, scratch }))
            .collect();
        self.crew.run(&|number| {
            // Each is locked once.
            let share = shares.get(number).map(Mutex::lock);
            if let Some(mut share) = share.map(|s| s.unwrap_or_else(PoisonError::into_inner)) {
                cpu::vectorized(&mut *share);
            }
        });
        Ok(())
    }

    /// Where the image lies in the input.
    #[must_use]
    pub const fn content_region(&self) -> ContentRegion {
        self.plan.content
    }

    /// The part of the frame that is taken.
    #[must_use]
    pub const fn crop(&self) -> Region {
        self.plan.crop
    }

    /// What is converted.
    #[must_use]
    pub const fn source(&self) -> &Source {
        &self.plan.source
    }

    /// What it is converted into.
    #[must_use]
    pub const fn destination(&self) -> &Destination {
        &self.plan.destination
    }

    /// Where the pixels of the input come from: what leads a box that a model found back to the
    /// frame, and what to say of the tensor by
    /// [`with_origin`](crate::TensorDyn::with_origin).
    #[must_use]
    pub const fn origin(&self) -> Origin {
        let (width, height) = (self.plan.source.width, self.plan.source.height);
        let taken = ContentRegion::new(self.plan.crop, width, height);
        Origin { content: self.plan.content, taken: Some(taken) }
    }

    /// A box that a model found, given as parts of its input, as parts of the whole frame.
    ///
    /// ```
    /// use tensor_core::{PixelFormat, PreprocessSpec, Region};
    /// use tensor_core::convert::{ConvertOptions, Converter, Crop, Destination, Source};
    /// let source = Source::new(PixelFormat::Nv12, 1280, 720);
    /// let half = Crop::Region(Region::new(640, 0, 640, 720));
    /// let options = ConvertOptions::default().with_crop(half);
    /// let mut spec = PreprocessSpec::default();
    /// spec.normalization = tensor_core::Normalization::raw();
    /// let converter = Converter::new(&source, &spec, &Destination::new(640, 640), &options)?;
    /// let content = converter.content_region().normalized();
    /// assert_eq!(converter.to_frame(content), [0.5, 0.0, 1.0, 1.0]);
    /// # Ok::<(), tensor_core::convert::ConvertError>(())
    /// ```
    #[must_use]
    pub fn to_frame(&self, found: [f32; 4]) -> [f32; 4] {
        self.origin().to_frame(found)
    }
}

fn crew(threads: usize) -> Result<Crew, ConvertError> {
    if !(1..=MAX_THREADS).contains(&threads) {
        return Err(ConvertError::Threads { threads });
    }
    Crew::new(threads).map_err(|error| ConvertError::Start { threads, error: error.kind() })
}

/// The rows of each thread, and what it needs on their way.
fn each_thread(plan: &Plan, threads: usize) -> (Each<Range<usize>>, Each<Scratch>) {
    let rows = shares(plan.content.pixels(), plan.destination.height, threads);
    (rows, (0..threads).map(|_| Scratch::new(plan)).collect())
}

/// The rows of a destination of which each thread makes some: as many rows of the image each, and
/// those of padding above and below to the first and the last.
fn shares(content: Region, height: usize, threads: usize) -> Each<Range<usize>> {
    let mut from = 0;
    let share = |number: usize| {
        let part = content.height.saturating_mul(number).checked_div(threads).unwrap_or(0);
        let to = if number == threads { height } else { content.y.saturating_add(part) };
        std::mem::replace(&mut from, to)..to
    };
    (1..=threads).map(share).collect()
}

/// What one thread does of a frame.
struct Share<'a> {
    plan: &'a Plan,
    planes: &'a [MappedPlane<'a>],
    band: Band<'a>,
    scratch: &'a mut Scratch,
}

impl Work for &mut Share<'_> {
    #[inline(always)]
    fn work(self) {
        let Share { plan, planes, band, scratch } = self;
        let content = plan.content.pixels();
        for row in band.rows.clone() {
            let y = row.checked_sub(content.y).filter(|y| *y < content.height);
            if let Some(y) = y {
                match (&plan.fast, &mut scratch.fast) {
                    (Some(fast), Some(own)) => fast.row(planes, y, own, &mut scratch.pixels),
                    _ => reference::row(plan, planes, y, &mut scratch.pixels),
                }
            }
            let pixels = if y.is_some() { scratch.pixels.as_slice() } else { &[] };
            write::row(plan, pixels, band, row);
        }
    }
}
